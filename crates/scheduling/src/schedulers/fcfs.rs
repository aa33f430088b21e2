//! First Come First Served: only the oldest job may start.
//!
//! Jobs start in order of arrival. A job that does not fit blocks all the jobs behind it. A
//! decision takes O(1) time and one query.

use pavior_allocation::Machine;
use pavior_kernel::Time;

use crate::{
    BuildScheduler, Entry, MachineView, Queue, Running, Scheduler, SchedulerKind, Standing, Start,
};

pub(crate) static ENTRY: Entry = Entry {
    name: "fcfs",
    title: "First come, first served",
    source: "",
    options: &[],
    variants: &[""],
    does: SchedulerKind { build: BuildScheduler::Function(|_| Box::new(Fcfs)) },
};

struct Fcfs;

impl Scheduler for Fcfs {
    fn next(
        &mut self,
        _: Time,
        queue: &Queue,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        view.can_start(queue.get(0)?).ok().map(|()| Start::at(0))
    }

    fn standing(&self, _: Time, queue: &Queue, _: &Machine) -> Option<Standing> {
        Some(Standing::strict(queue, queue.get(0)?.id))
    }
}
