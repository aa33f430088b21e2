//! Tests of whether a slice could be placed, which are made whenever the machine has changed.

use pavior_mesh::Request;

use super::Simulation;
use crate::Fact;

/// The slice that is watched, and the last answers.
pub(super) struct SliceWatch {
    slice: Option<Request>,
    /// The machine's counters of changes and of health changes when the last question was asked.
    asked: Option<(u64, u64)>,
    alone: bool,
}

impl SliceWatch {
    pub(super) fn new(slice: Option<Request>) -> SliceWatch {
        SliceWatch { slice, asked: None, alone: false }
    }
}

impl Simulation<'_, '_, '_> {
    /// Tells observers whether the slice could be placed, if the machine has changed. Forks of the
    /// machine are asked, so that the answers do not influence the run.
    pub(super) fn watch_slice(&mut self) {
        let Some(slice) = self.slice.slice else { return };
        let machine = self.dispatcher.machine();
        let (state, health) = (machine.state(), machine.health());
        if self.slice.asked == Some((state, health)) {
            return;
        }
        if self.slice.asked.is_none_or(|(_, before)| before != health) {
            self.slice.alone = machine.fork_empty().find(&slice).is_ok();
        }
        self.slice.asked = Some((state, health));
        let (alone, beside) = (self.slice.alone, machine.fork().find(&slice).is_ok());
        self.observers.tell(&Fact::Slice { alone, beside });
    }
}
