//! Adaptive bypass: the longer the queue, the more jobs may bypass its head.
//!
//! With q waiting jobs, the oldest `1 + floor(factor * q)` are tried in order of arrival, and the
//! first one that fits starts. When the queue is short, this is the same as FCFS; under load, it
//! resembles ScanAll. There is no limit on how often a job can be bypassed, so a large job can
//! starve if the load keeps the queue long. A decision takes O(q) time, with one query per distinct
//! request in each state of the machine.
//!
//! Source: Ababneh, Bani-Mohammad & Ould-Khaoua, "An adaptive job scheduling scheme for
//! mesh-connected multicomputers", J. Supercomputing 53(1), 2010. We did not have access to the
//! paper's load function. The linear function with factor 0.5 is ours, and we omitted the paper's
//! optional priority for large jobs.

use pavior_allocation::Machine;
use pavior_kernel::{OptionSpec, Time, Values};

use crate::shared::refused::Refused;
use crate::{
    BuildScheduler, Entry, MachineView, Queue, Running, Scheduler, SchedulerKind, Standing, Start,
};

pub(crate) static ENTRY: Entry = Entry {
    name: "bypass",
    title: "Adaptive bypass",
    source: "Ababneh, Bani-Mohammad & Ould-Khaoua 2010",
    options: &[OptionSpec {
        key: "factor",
        values: Values::Number(0.0, 1.0),
        default: "0.5",
        meaning: "the share of waiting jobs that may bypass the head of the queue",
        bare: true,
    }],
    variants: &["", "0.1", "1"],
    does: SchedulerKind {
        build: BuildScheduler::Function(|options| {
            Box::new(Bypass { factor: options.number("factor"), refused: Refused::default() })
        }),
    },
};

struct Bypass {
    factor: f64,
    refused: Refused,
}

impl Bypass {
    /// Returns the number of waiting jobs to try, counting from the oldest.
    fn open(&self, queue: &Queue) -> usize {
        1 + (self.factor * queue.len() as f64).floor() as usize
    }
}

impl Scheduler for Bypass {
    fn next(
        &mut self,
        _: Time,
        queue: &Queue,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        self.refused.first_fit(queue, self.open(queue), view)
    }

    fn standing(&self, _: Time, queue: &Queue, _: &Machine) -> Option<Standing> {
        Some(Standing::among_oldest(queue, self.open(queue), None))
    }
}
