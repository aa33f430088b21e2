//! Where a scheduler asks whether a job could start now.

use pavior_allocation::{Fork, Machine, Placement, Refusal};
use pavior_kernel::Time;
use pavior_mesh::Request;
use pavior_workload::Job;

use crate::Prediction;

/// A question and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Nodes free at the time, to whom the question was put: the machine, or a fork of it in which
    /// reservations are taken.
    pub free: u32,
    /// Why it could not, if it could not.
    pub refusal: Option<Refusal>,
}

/// Who keeps count of attempts, and may time them.
pub trait AttemptObserver {
    /// An attempt begins.
    fn begins(&mut self) {}
    /// It has ended.
    fn ended(&mut self, attempt: Attempt);
}

/// Keeps no count.
impl AttemptObserver for () {
    fn ended(&mut self, _: Attempt) {}
}

/// The only way from a scheduler to the machine that counts: every question asked here is an
/// attempt in the metrics. Forks of the machine, for plans, are free.
pub struct MachineView<'a> {
    machine: &'a mut Machine,
    observer: &'a mut dyn AttemptObserver,
    prediction: Option<&'a mut dyn Prediction>,
}

impl<'a> MachineView<'a> {
    /// A view of a machine.
    pub fn new(machine: &'a mut Machine, observer: &'a mut dyn AttemptObserver) -> MachineView<'a> {
        MachineView { machine, observer, prediction: None }
    }

    /// The same view with a prediction of how long jobs take on given nodes.
    #[must_use]
    pub fn with_prediction(self, prediction: &'a mut dyn Prediction) -> MachineView<'a> {
        MachineView { prediction: Some(prediction), ..self }
    }

    /// How much longer a job is predicted to take on some nodes than in the box that it asks for.
    /// In that box it takes as long as it is estimated to run. Never less than zero, and zero
    /// without a prediction.
    pub fn added_time(&mut self, job: &Job, placement: &Placement) -> Time {
        let growth = self.prediction.as_mut().map_or(1.0, |known| known.growth(job, placement));
        // Of infinity and numbers out of range a conversion makes the nearest time, of NaN zero.
        Time((job.estimate.ticks() * (growth - 1.0)).round() as u64)
    }

    /// Whether a request could start now.
    ///
    /// # Errors
    /// If not, with the reason.
    pub fn can_start(&mut self, request: &Request) -> Result<(), Refusal> {
        self.place(request).map(drop)
    }

    /// Where the strategy would put a request now.
    ///
    /// # Errors
    /// If nowhere, with the reason.
    pub fn place(&mut self, request: &Request) -> Result<Placement, Refusal> {
        self.observer.begins();
        let answer = self.machine.probe(request);
        let free = self.machine.free().count();
        self.observer.ended(Attempt { free, refusal: answer.as_ref().err().copied() });
        answer
    }

    /// Where a request could start now on nodes that a plan leaves free: `fork` is the machine as
    /// it is, with reservations taken.
    ///
    /// # Errors
    /// If nowhere, with the reason.
    pub fn can_start_on(
        &mut self,
        fork: &mut Fork,
        request: &Request,
    ) -> Result<Placement, Refusal> {
        self.can_start_by(fork, |fork| fork.find(request))
    }

    /// As [`MachineView::can_start_on`], with the fork asked in another way.
    pub(crate) fn can_start_by(
        &mut self,
        fork: &mut Fork,
        ask: impl FnOnce(&mut Fork) -> Result<Placement, Refusal>,
    ) -> Result<Placement, Refusal> {
        self.observer.begins();
        let answer = ask(fork);
        let attempt =
            Attempt { free: fork.free().count(), refusal: answer.as_ref().err().copied() };
        self.observer.ended(attempt);
        answer
    }

    /// Notes a question to a plan that leaves so many nodes free, too few for what was asked.
    pub(crate) fn refuse_by_count(&mut self, free: u32) {
        self.observer.begins();
        self.observer.ended(Attempt { free, refusal: Some(Refusal::TooFewFreeNodes) });
    }

    /// The machine, to look at and to fork.
    pub fn machine(&self) -> &Machine {
        self.machine
    }
}
