//! Nodes that fail and are repaired, and what becomes of the jobs on them.

use std::iter::Peekable;

use pavior_kernel::Time;
use pavior_workload::{Job, NodeEvent, Service};

/// What becomes of a job one of whose nodes fails: it gives up its nodes and waits again at the
/// place in the queue that its arrival gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// It begins anew.
    Scratch,
    /// It goes on from the last multiple of this much run time.
    Checkpoint(Time),
}

/// Failures and repairs to come, in the order of time.
pub(crate) struct Faults {
    events: Peekable<Box<dyn Iterator<Item = NodeEvent> + Send>>,
    restart: Restart,
}

impl Faults {
    /// What happened to nodes before a run begins has happened when it begins.
    pub(crate) fn new(
        events: Box<dyn Iterator<Item = NodeEvent> + Send>,
        restart: Restart,
        begin: Time,
    ) -> Self {
        let events = events.map(move |event| NodeEvent { at: event.at.max(begin), ..event });
        let events: Box<dyn Iterator<Item = NodeEvent> + Send> = Box::new(events);
        Faults { events: events.peekable(), restart }
    }

    pub(crate) fn next_time(&mut self) -> Option<Time> {
        self.events.peek().map(|event| event.at)
    }

    /// The next event of an instant. Events come in the order of time, repairs first.
    pub(crate) fn at(&mut self, now: Time) -> Option<NodeEvent> {
        self.events.next_if(|event| event.at == now)
    }

    /// What is left to do of a job that ran for `elapsed`.
    pub(crate) fn rest_of(&self, mut job: Job, elapsed: Time) -> Job {
        let saved = match self.restart {
            Restart::Scratch => Time::ZERO,
            Restart::Checkpoint(interval) => Time(elapsed.0 / interval.0 * interval.0),
        };
        if let Service::Run(run) = job.service {
            job.service = Service::Run(run.since(saved));
            job.estimate = job.estimate.since(saved);
        }
        job
    }
}
