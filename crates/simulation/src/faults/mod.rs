//! Components that fail and are repaired, and what becomes of the jobs on them.

mod outages;

use std::iter::Peekable;

use pavior_allocation::Machine;
use pavior_kernel::Time;
use pavior_mesh::Request;
use pavior_workload::{Component, FailureEvent, Job, Service};
use thiserror::Error;

use crate::RunError;
pub(crate) use outages::Effect;
use outages::Outages;

/// What becomes of a job that is hit by a failure: it gives up its nodes and waits again at the
/// place in the queue that its arrival gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// It begins anew.
    Scratch,
    /// It goes on from the last multiple of this much run time.
    Checkpoint(Time),
}

/// What stands by for what fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spares {
    /// Cubes that are kept out of use while enough others are whole.
    pub cubes: u32,
    /// Switches that take over from failed ones.
    pub switches: u32,
}

/// Failures of components in a run.
pub struct Failing {
    /// Failures and repairs in the order of time.
    pub events: Box<dyn Iterator<Item = FailureEvent> + Send>,
    /// What becomes of jobs that are hit.
    pub restart: Restart,
    /// What stands by.
    pub spares: Spares,
}

impl Failing {
    /// Failures without spares.
    pub fn new(
        events: impl Iterator<Item = FailureEvent> + Send + 'static,
        restart: Restart,
    ) -> Failing {
        Failing { events: Box::new(events), restart, spares: Spares::default() }
    }
}

/// Failures or spares that the machine cannot have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadFailing {
    /// An event names a component that the machine does not have.
    #[error("the machine has no {0}")]
    Unknown(Component),
    /// There are spare cubes on a machine without cubes, or no cube is left in use.
    #[error("of {cubes} cubes, {spares} cannot be spares")]
    Spares {
        /// The cubes of the machine, 0 if it is not made of cubes.
        cubes: u32,
        /// The spares.
        spares: u32,
    },
}

/// Failures and repairs to come, in the order of time.
pub(crate) struct Faults {
    events: Peekable<Box<dyn Iterator<Item = FailureEvent> + Send>>,
    restart: Restart,
    outages: Outages,
    /// The machine without jobs or failures, its spares out of use; none if it has no spares.
    spared: Option<Machine>,
}

impl Faults {
    /// What happened to components before a run begins has happened when it begins.
    /// Spares go out of use on the machine, which is empty.
    pub(crate) fn new(
        failing: Failing,
        begin: Time,
        machine: &mut Machine,
    ) -> Result<Faults, RunError> {
        let Failing { events, restart, spares } = failing;
        let outages = Outages::new(*machine.grid(), spares)?;
        for node in outages.spare_nodes() {
            machine.fail(node)?;
        }
        let spared = (spares.cubes > 0).then(|| machine.clone());
        let events = events.map(move |event| FailureEvent { at: event.at.max(begin), ..event });
        let events: Box<dyn Iterator<Item = FailureEvent> + Send> = Box::new(events);
        Ok(Faults { events: events.peekable(), restart, outages, spared })
    }

    /// Whether a request could be granted beside the spares, if nothing had failed and no job ran.
    pub(crate) fn leaves_room_for(&mut self, request: &Request) -> bool {
        self.spared.as_mut().is_none_or(|machine| machine.probe(request).is_ok())
    }

    pub(crate) fn next_time(&mut self) -> Option<Time> {
        self.events.peek().map(|event| event.at)
    }

    /// What the next event of an instant does. Events come in the order of time, repairs first.
    pub(crate) fn at(&mut self, now: Time) -> Result<Option<Vec<Effect>>, BadFailing> {
        let Some(event) = self.events.next_if(|event| event.at == now) else { return Ok(None) };
        self.outages.apply(event.component, event.change).map(Some)
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
