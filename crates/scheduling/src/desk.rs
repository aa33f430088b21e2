//! Where a scheduler asks whether a job could start now.

use pavior_allocation::{Machine, Refusal};
use pavior_mesh::Request;

/// A question and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Free nodes of the machine at the time.
    pub free: u32,
    /// Why it could not, if it could not.
    pub refusal: Option<Refusal>,
}

/// Who keeps count of attempts, and may time them.
pub trait Witness {
    /// An attempt begins.
    fn begins(&mut self) {}
    /// It has ended.
    fn ended(&mut self, attempt: Attempt);
}

/// The only way from a scheduler to the machine that counts: every question asked here is an
/// attempt in the metrics. Forks of the machine, for plans, are free.
pub struct Desk<'a> {
    machine: &'a mut Machine,
    witness: &'a mut dyn Witness,
}

impl<'a> Desk<'a> {
    /// A desk before a machine.
    pub fn new(machine: &'a mut Machine, witness: &'a mut dyn Witness) -> Desk<'a> {
        Desk { machine, witness }
    }

    /// Whether a request could start now.
    ///
    /// # Errors
    /// If not, with the reason.
    pub fn can_start(&mut self, request: &Request) -> Result<(), Refusal> {
        self.witness.begins();
        let answer = self.machine.probe(request).map(drop);
        let free = self.machine.free().count();
        self.witness.ended(Attempt { free, refusal: answer.err() });
        answer
    }

    /// The machine, to look at and to fork.
    pub fn machine(&self) -> &Machine {
        self.machine
    }
}
