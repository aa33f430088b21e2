//! Messages that jobs wait for, either simulated or estimated.

mod claims;
mod course;
mod estimate;
mod forecast;
mod histories;
mod holds;
mod iterations;
mod layouts;
mod messages;
mod network_setup;

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Grid, JobId};
use pavior_network::{BadSettings, Deadlock, Delivery, IterationRoutes, MessageTotals};
use pavior_workload::Job;

use estimate::Estimate;
pub(crate) use forecast::Forecast;
pub use histories::Histories;
use messages::Messages;
pub use network_setup::{Contention, NetworkSetup};

/// The kinds of message data that observers want.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// True if observers want deliveries.
    pub(crate) deliveries: bool,
    /// True if observers want the routes of jobs that start.
    pub(crate) routes: bool,
}

/// The messages sent by all running jobs.
pub(crate) enum Traffic {
    Messages(Box<Messages>),
    Estimate(Box<Estimate>),
}

impl Traffic {
    /// Creates a network without any jobs.
    pub(crate) fn new(
        setup: &NetworkSetup,
        grid: Grid,
        seed: u64,
        replication: u64,
        seen: Seen,
    ) -> Result<Traffic, BadSettings> {
        Ok(match setup.contention {
            Contention::Simulated => {
                Traffic::Messages(Box::new(Messages::new(setup, grid, seed, replication, seen)?))
            }
            Contention::Estimated => {
                Traffic::Estimate(Box::new(Estimate::new(setup, grid, seed, replication, seen)?))
            }
        })
    }

    /// Advances to `until`, or only to the first time at which a job ends. If an observer wants
    /// deliveries, also stops when a message is delivered. Adds to `finished`, in id order, the
    /// jobs whose last message was delivered. Returns the new time, or `None` if nothing is left to
    /// do.
    pub(crate) fn advance(
        &mut self,
        until: Option<Time>,
        finished: &mut Vec<JobId>,
    ) -> Result<Option<Time>, Deadlock> {
        match self {
            Traffic::Messages(messages) => messages.advance(until, finished),
            Traffic::Estimate(estimate) => estimate.advance(until, finished),
        }
    }

    /// Starts a job. Returns true if the job has messages to wait for.
    pub(crate) fn start(&mut self, now: Time, job: &Job, placement: &Placement) -> bool {
        match self {
            Traffic::Messages(messages) => messages.start(now, job, placement),
            Traffic::Estimate(estimate) => estimate.start(now, job, placement),
        }
    }

    /// Returns the routes of the most recently started job, if it sends messages and observers want
    /// routes.
    pub(crate) fn routes(&self) -> Option<&IterationRoutes> {
        match self {
            Traffic::Messages(messages) => messages.routes(),
            Traffic::Estimate(estimate) => estimate.routes(),
        }
    }

    /// Returns the deliveries at the current time, if observers want them.
    pub(crate) fn deliveries(&self) -> &[Delivery] {
        match self {
            Traffic::Messages(messages) => messages.deliveries(),
            Traffic::Estimate(_) => &[],
        }
    }

    /// Creates the messages that jobs can send now.
    pub(crate) fn create(&mut self, now: Time) {
        if let Traffic::Messages(messages) = self {
            messages.create(now);
        }
    }

    /// Returns the totals of messages delivered since [`count_anew`](Traffic::count_anew), or
    /// `None` if messages are not simulated.
    pub(crate) fn totals(&mut self, now: Time) -> Option<&MessageTotals> {
        match self {
            Traffic::Messages(messages) => Some(messages.totals(now)),
            Traffic::Estimate(_) => None,
        }
    }

    /// Restarts the totals.
    pub(crate) fn count_anew(&mut self, now: Time) {
        if let Traffic::Messages(messages) = self {
            messages.count_anew(now);
        }
    }
}
