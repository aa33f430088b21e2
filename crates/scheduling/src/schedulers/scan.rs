//! Scan, which serves one size class at a time until no job in that class is waiting.
//!
//! Classes are powers of two: class k contains the jobs with 2^k to 2^(k+1) - 1 nodes. Only the
//! oldest job in the current class may start. When no job in the class is waiting, the scheduler
//! moves on to the next class up (or down) that has a waiting job, wrapping around after the last
//! class. Jobs of similar size thus follow each other, and the nodes freed by one job fit the next:
//!
//! ```text
//!   class 0: a e      up: a e, then b, then c d f, then class 0 again
//!   class 1: b
//!   class 2: c d f
//! ```
//!
//! A class starves the others if its own jobs arrive faster than they are served. A decision takes
//! one query and O(q) time for q waiting jobs.
//!
//! Source: Krueger, Lai & Dixit-Radiya, "Job scheduling is more important than processor allocation
//! for hypercube computers", IEEE TPDS 5(5), 1994. In a hypercube, the classes are the dimensions;
//! powers of two are the analogue on a mesh. Two points are our interpretation: a blocked job
//! blocks all others, and a job can join its class while the class is being served.

use pavior_allocation::Machine;
use pavior_kernel::{OptionSpec, Time, Values};
use pavior_workload::Job;

use crate::{
    BuildScheduler, Entry, MachineView, Queue, Running, Scheduler, SchedulerKind, Standing, Start,
};

pub(crate) static ENTRY: Entry = Entry {
    name: "scan",
    title: "Scan: one size class at a time",
    source: "Krueger, Lai & Dixit-Radiya 1994",
    options: &[OptionSpec {
        key: "order",
        values: Values::OneOf(&["up", "down"]),
        default: "up",
        meaning: "the size class to serve next: the next larger or the next smaller one",
        bare: true,
    }],
    variants: &["", "down"],
    does: SchedulerKind {
        build: BuildScheduler::Function(|options| {
            Box::new(Scan { up: options.get("order") == "up", class: None })
        }),
    },
};

const CLASSES: u32 = 32;

struct Scan {
    up: bool,
    /// The current class, or `None` before any job has started.
    class: Option<u32>,
}

fn class_of(job: &Job) -> u32 {
    job.request.nodes.max(1).ilog2()
}

impl Scan {
    /// Returns the number of classes from the current class to the given one, in serving order.
    fn distance(&self, class: u32) -> u32 {
        let first = if self.up { 0 } else { CLASSES - 1 };
        let hand = self.class.unwrap_or(first);
        if self.up {
            (class + CLASSES - hand) % CLASSES
        } else {
            (hand + CLASSES - class) % CLASSES
        }
    }

    /// Returns the next job to serve and its index.
    fn first<'q>(&self, queue: &'q Queue) -> Option<(usize, &'q Job)> {
        let jobs = queue.iter().enumerate();
        jobs.min_by_key(|&(index, job)| (self.distance(class_of(job)), index))
    }
}

impl Scheduler for Scan {
    fn next(
        &mut self,
        _: Time,
        queue: &Queue,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let (index, job) = self.first(queue)?;
        self.class = Some(class_of(job));
        view.can_start(job).ok().map(|()| Start::at(index))
    }

    fn standing(&self, _: Time, queue: &Queue, _: &Machine) -> Option<Standing> {
        Some(Standing::strict(queue, self.first(queue)?.1.id))
    }
}
