//! Dispatcher errors. A call that returns an error changes nothing.

use pavior_allocation::{AllocateError, PlacementError, Refusal};
use pavior_kernel::CallerError;
use pavior_mesh::JobId;
use thiserror::Error;

/// The error returned for a job that is already waiting or running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("job {} is already waiting or already holds nodes", .0.0)]
pub struct RepeatedJob(pub JobId);

/// The reason why nodes cannot be granted to a job outside the queue.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GrantError {
    /// The job is already waiting or running.
    #[error(transparent)]
    Repeated(#[from] RepeatedJob),
    /// The strategy refuses the job or fails.
    #[error(transparent)]
    Allocate(#[from] AllocateError),
    /// The job cannot use these nodes.
    #[error(transparent)]
    Placement(#[from] PlacementError),
}

impl GrantError {
    /// Returns the refusal, if the strategy refused the request.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            GrantError::Allocate(error) => error.refusal(),
            GrantError::Repeated(_) | GrantError::Placement(_) => None,
        }
    }
}

/// The reason why a job cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StartError {
    /// The queue index is out of range.
    #[error("queue index {index} is out of range: the queue length is {waiting}")]
    NotWaiting {
        /// The requested index.
        index: usize,
        /// The length of the queue.
        waiting: usize,
    },
    /// The strategy refused the job.
    #[error("job {} was started, but it does not currently fit", .0.0)]
    DoesNotFit(JobId),
    /// The job was assigned nodes that it cannot use.
    #[error("job {} was started on nodes that it cannot use: {error}", job.0)]
    BadPlacement {
        /// The job.
        job: JobId,
        /// The reason why the job cannot use the nodes.
        error: PlacementError,
    },
    /// The job was assigned fewer nodes than it requested.
    #[error("job {} requests {asked} nodes but was started on {given}", job.0)]
    TooFewNodes {
        /// The job.
        job: JobId,
        /// The requested number of nodes.
        asked: u32,
        /// The number of nodes that the job was assigned.
        given: u32,
    },
    /// The job's run would overlap an advance reservation of some of the job's nodes.
    #[error(
        "job {} was started on nodes of reservation {reservation}, which it would overlap",
        job.0
    )]
    Reserved {
        /// The job.
        job: JobId,
        /// The reservation's number.
        reservation: u64,
    },
}

/// An error that prevents a dispatcher from continuing.
#[derive(Clone, Debug, Error)]
pub enum DispatchError {
    /// The strategy or the scheduler failed.
    #[error(transparent)]
    Failed(#[from] CallerError),
    /// The scheduler chose a job that cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A submitted job is already waiting or running.
    #[error(transparent)]
    Repeated(#[from] RepeatedJob),
}
