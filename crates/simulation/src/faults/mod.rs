//! Component failures and repairs, and their effects on jobs.

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

/// The point from which a job resumes after a failure. The job releases its nodes and returns to
/// the queue, at the position determined by its original arrival time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// The job restarts from the beginning.
    Scratch,
    /// The job resumes from its last checkpoint. Contains the run time between checkpoints.
    Checkpoint(Time),
}

/// The spare components in a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spares {
    /// The number of cubes to hold in reserve, provided that enough other cubes are whole.
    pub cubes: u32,
    /// The number of switches that can replace failed ones.
    pub switches: u32,
}

/// Component failures to apply during a run.
///
/// ```
/// # mod pavior { pub use pavior_simulation as simulation; pub use pavior_workload as workload; }
/// use pavior::simulation::{Failing, Inputs, Restart, Setup};
/// use pavior::workload::{Failures, Synthetic, SyntheticJobs, TimeUnit};
/// let grid = "mesh:8x8".parse()?;
/// let jobs = SyntheticJobs::new(&Synthetic::at_load(0.5), &grid, 1, 0)?.take(50);
/// // Each node fails after 100 units of time on average.
/// let classes = "chip:mttf=100:mttr=1".parse()?;
/// let events = Failures::new(&grid, &classes, TimeUnit::TIME_UNIT, 1, 0)?;
/// let inputs = Inputs::from(jobs).with_failures(Failing::new(events, Restart::Scratch));
/// let run = Setup::new(grid, "tff", "fcfs")?.simulation(inputs);
/// assert_eq!(run.measure(&["completed"])?.run()?.value("completed"), Some(50.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Failing {
    /// Failures and repairs, in order of time.
    pub events: Box<dyn Iterator<Item = FailureEvent> + Send>,
    /// The point from which jobs resume after a failure.
    pub restart: Restart,
    /// The spare components.
    pub spares: Spares,
}

impl Failing {
    /// Creates failures on a machine without spares.
    pub fn new(
        events: impl Iterator<Item = FailureEvent> + Send + 'static,
        restart: Restart,
    ) -> Failing {
        Failing { events: Box::new(events), restart, spares: Spares::default() }
    }
}

/// The reason why failures or spares are invalid for a machine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadFailing {
    /// An event refers to a component that does not exist in the machine.
    #[error("the machine has no {0}")]
    Unknown(Component),
    /// Spare cubes on a machine without cubes, or so many that no cube is left in use.
    #[error("{spares} spare cubes are too many for a machine with {cubes} cubes")]
    Spares {
        /// The number of cubes in the machine, or 0 if it is not made of cubes.
        cubes: u32,
        /// The number of spare cubes.
        spares: u32,
    },
}

/// Future failures and repairs, and the components that are currently down.
pub(crate) struct Faults {
    events: Peekable<Box<dyn Iterator<Item = FailureEvent> + Send>>,
    restart: Restart,
    outages: Outages,
    /// The empty, healthy machine with its spares out of use, or `None` if there are no spares.
    spared: Option<Machine>,
}

impl Faults {
    /// Creates the fault state and takes the machine's spares out of use. The machine must be
    /// empty. Events dated before the start of the run take effect when it starts.
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

    /// Returns true if a request could be granted on the empty, healthy machine without its spares.
    pub(crate) fn leaves_room_for(&mut self, request: &Request) -> bool {
        self.spared.as_mut().is_none_or(|machine| machine.probe(request).is_ok())
    }

    pub(crate) fn next_time(&mut self) -> Option<Time> {
        self.events.peek().map(|event| event.at)
    }

    /// Returns the effects of the next event at `now`, or `None` if no more events occur then.
    pub(crate) fn at(&mut self, now: Time) -> Result<Option<Vec<Effect>>, BadFailing> {
        let Some(event) = self.events.next_if(|event| event.at == now) else { return Ok(None) };
        self.outages.apply(event.component, event.change).map(Some)
    }

    /// Returns a job reduced to the work that remains after running for `elapsed`.
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
