//! Checks after each change to the machine whether a slice could be placed.

use pavior_mesh::Request;

use super::Simulation;
use crate::Fact;

/// The slice to check for, and the result of the last check.
pub(super) struct SliceWatch {
    slice: Option<Request>,
    /// The values of the machine's state and health counters at the last check.
    asked: Option<(u64, u64)>,
    alone: bool,
}

impl SliceWatch {
    pub(super) fn new(slice: Option<Request>) -> SliceWatch {
        SliceWatch { slice, asked: None, alone: false }
    }
}

impl Simulation<'_, '_, '_> {
    /// Reports whether the slice could be placed, if the machine has changed. The check uses forks
    /// of the machine, so it does not affect the run.
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
