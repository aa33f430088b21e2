//! Scan: one size class after the other, each served until none of it waits.
//!
//! Classes are powers of two: class k holds the jobs of 2^k to 2^(k+1) - 1 nodes. The oldest job of
//! the present class starts, or none. When no job of the class waits, the next class up (or down)
//! with a job is served. After the last class comes the first again. Jobs of like size follow one
//! another, so that what one gives back fits the next:
//!
//! ```text
//!   class 0: a e      up: a e, then b, then c d f, then class 0 again
//!   class 1: b
//!   class 2: c d f
//! ```
//!
//! A class starves the others while its own jobs keep coming faster than they are served. O(q) for
//! q waiting jobs, and one question, a decision.
//!
//! Source: Krueger, Lai & Dixit-Radiya, "Job scheduling is more important than processor allocation
//! for hypercube computers", IEEE TPDS 5(5), 1994. A hypercube's classes are its dimensions; the
//! powers of two are their like on a mesh. That a blocked job blocks all, and that a job which
//! arrives joins its class at once even while it is served, is our reading.

use pavior_allocation::Machine;
use pavior_kernel::{OptionSpec, Time, Values};
use pavior_workload::Job;

use crate::{
    BuildScheduler, Entry, MachineView, Queue, Running, Scheduler, SchedulerKind, Standing, Start,
};

pub(crate) static ENTRY: Entry = Entry {
    name: "scan",
    title: "Scan: size class after size class",
    source: "Krueger, Lai & Dixit-Radiya 1994",
    options: &[OptionSpec {
        key: "order",
        values: Values::OneOf(&["up", "down"]),
        default: "up",
        meaning: "which class comes after a class: the next larger or the next smaller",
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
    /// The class at hand; none before the first job.
    class: Option<u32>,
}

fn class_of(job: &Job) -> u32 {
    job.request.nodes.max(1).ilog2()
}

impl Scan {
    /// How many classes a class comes after the one at hand.
    fn distance(&self, class: u32) -> u32 {
        let first = if self.up { 0 } else { CLASSES - 1 };
        let hand = self.class.unwrap_or(first);
        if self.up {
            (class + CLASSES - hand) % CLASSES
        } else {
            (hand + CLASSES - class) % CLASSES
        }
    }

    /// The job at hand, and its place.
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
