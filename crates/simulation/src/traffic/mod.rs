//! Jobs that wait for their messages: what they send, and when it has arrived.

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

/// What observers want to be told of messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Each delivery.
    pub(crate) deliveries: bool,
    /// The routes of each job that starts.
    pub(crate) routes: bool,
}

/// The messages of all running jobs.
pub(crate) enum Traffic {
    Messages(Box<Messages>),
    Estimate(Box<Estimate>),
}

impl Traffic {
    /// A network without jobs.
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

    /// Goes on to `until`, or to the end of jobs before it, or to the first deliveries if an
    /// observer listens to them. Jobs whose last message was delivered are added to `finished`, in
    /// the order of jobs. Returns the instant that has come, if there is one.
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

    /// A job starts. Says whether it has messages to wait for.
    pub(crate) fn start(&mut self, now: Time, job: &Job, placement: &Placement) -> bool {
        match self {
            Traffic::Messages(messages) => messages.start(now, job, placement),
            Traffic::Estimate(estimate) => estimate.start(now, job, placement),
        }
    }

    /// The routes of the job that started last, if they are to be told of and it sends anything.
    pub(crate) fn routes(&self) -> Option<&IterationRoutes> {
        match self {
            Traffic::Messages(messages) => messages.routes(),
            Traffic::Estimate(estimate) => estimate.routes(),
        }
    }

    /// What was delivered at the present instant, if each delivery is to be told of.
    pub(crate) fn deliveries(&self) -> &[Delivery] {
        match self {
            Traffic::Messages(messages) => messages.deliveries(),
            Traffic::Estimate(_) => &[],
        }
    }

    /// Creates what jobs can send now.
    pub(crate) fn create(&mut self, now: Time) {
        if let Traffic::Messages(messages) = self {
            messages.create(now);
        }
    }

    /// What has been delivered up to now since [`count_anew`](Traffic::count_anew); none if no
    /// message is simulated.
    pub(crate) fn totals(&mut self, now: Time) -> Option<&MessageTotals> {
        match self {
            Traffic::Messages(messages) => Some(messages.totals(now)),
            Traffic::Estimate(_) => None,
        }
    }

    /// Counts from now on.
    pub(crate) fn count_anew(&mut self, now: Time) {
        if let Traffic::Messages(messages) = self {
            messages.count_anew(now);
        }
    }
}
