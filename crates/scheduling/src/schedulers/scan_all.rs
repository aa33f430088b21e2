//! ScanAll: the oldest job that fits starts.
//!
//! If the head does not fit, the others are tried in order of arrival, and the first one that fits
//! starts. A job that fits therefore never waits. A large job starves if smaller jobs keep arriving
//! and the nodes it needs are never all free at once. A decision takes O(q) time for q waiting
//! jobs, with one query per distinct request in each state of the machine.
//!
//! Source: the scheduler in Choo, Yoo & Youn, IEEE TPDS 11(5), 2000. It is also known as
//! "aggressive out-of-order" or "first-fit queue".

use pavior_allocation::Machine;
use pavior_kernel::Time;

use crate::shared::refused::Refused;
use crate::{
    BuildScheduler, Entry, MachineView, Queue, Running, Scheduler, SchedulerKind, Standing, Start,
};

pub(crate) static ENTRY: Entry = Entry {
    name: "scan-all",
    title: "Scan all: the oldest job that fits",
    source: "Choo, Yoo & Youn 2000",
    options: &[],
    variants: &[""],
    does: SchedulerKind { build: BuildScheduler::Function(|_| Box::new(ScanAll::default())) },
};

#[derive(Default)]
struct ScanAll {
    refused: Refused,
}

impl Scheduler for ScanAll {
    fn next(
        &mut self,
        _: Time,
        queue: &Queue,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        self.refused.first_fit(queue, usize::MAX, view)
    }

    fn standing(&self, _: Time, queue: &Queue, _: &Machine) -> Option<Standing> {
        Some(Standing::free(queue))
    }
}
