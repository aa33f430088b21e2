//! What a dispatcher answers to a caller whose data it cannot accept. Nothing has changed then.

use pavior_allocation::{AllocateError, PlacementError, Refusal};
use pavior_kernel::CallerError;
use pavior_mesh::JobId;
use thiserror::Error;

/// A job that waits or runs already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("job {} waits or holds nodes already", .0.0)]
pub struct RepeatedJob(pub JobId);

/// Why a job that has not waited gets no nodes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GrantError {
    /// It waits or runs already.
    #[error(transparent)]
    Repeated(#[from] RepeatedJob),
    /// The strategy refuses it or fails.
    #[error(transparent)]
    Allocate(#[from] AllocateError),
    /// It cannot have the given nodes.
    #[error(transparent)]
    Placement(#[from] PlacementError),
}

impl GrantError {
    /// Returns the reason, if the request was refused.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            GrantError::Allocate(error) => error.refusal(),
            GrantError::Repeated(_) | GrantError::Placement(_) => None,
        }
    }
}

/// A start that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StartError {
    /// The queue has no such place.
    #[error("place {index} of a queue of {waiting} was started; the first is place 0")]
    NotWaiting {
        /// The place.
        index: usize,
        /// The length of the queue.
        waiting: usize,
    },
    /// The strategy refuses it.
    #[error("job {} was started, but it does not fit now", .0.0)]
    DoesNotFit(JobId),
    /// It was given nodes that it cannot have.
    #[error("job {} was started on nodes that it cannot have: {error}", job.0)]
    BadPlacement {
        /// The job.
        job: JobId,
        /// Why it cannot have them.
        error: PlacementError,
    },
    /// It was given fewer nodes than it asks for.
    #[error("job {} asks for {asked} nodes and was started on {given}", job.0)]
    TooFewNodes {
        /// The job.
        job: JobId,
        /// The nodes that it asks for.
        asked: u32,
        /// Those that it was given.
        given: u32,
    },
    /// It was given nodes that are reserved before it is said to end.
    #[error("job {} was started on nodes of reservation {reservation} and reaches into it", job.0)]
    Reserved {
        /// The job.
        job: JobId,
        /// The number of the reservation.
        reservation: u64,
    },
}

/// Why a dispatcher could not run on.
#[derive(Clone, Debug, Error)]
pub enum DispatchError {
    /// The strategy or the scheduler has failed.
    #[error(transparent)]
    Failed(#[from] CallerError),
    /// The scheduler named a job that cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A job was submitted that waits or runs already.
    #[error(transparent)]
    Repeated(#[from] RepeatedJob),
}
