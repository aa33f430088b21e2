//! Errors that a machine returns for invalid input. The machine is unchanged after an error.

use pavior_kernel::{BadName, CallerError};
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, OccupancyError};
use thiserror::Error;

use crate::{Placement, Refusal, Unsupported};

/// The reason that a machine cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    /// The strategy's name or options are invalid.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The strategy does not work on the machine.
    #[error("{strategy} does not work on {machine}: {reason}")]
    Unsupported {
        /// The strategy's canonical name.
        strategy: String,
        /// The machine.
        machine: Grid,
        /// The reason.
        reason: Unsupported,
    },
    /// The caller's code, which creates the strategy or is the strategy, failed.
    #[error(transparent)]
    Failed(#[from] CallerError),
}

impl From<std::convert::Infallible> for BuildError {
    fn from(never: std::convert::Infallible) -> BuildError {
        match never {}
    }
}

/// The reason that a job was not granted any nodes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AllocateError {
    /// The request was refused.
    #[error("{}", .0.meaning())]
    Refused(#[from] Refusal),
    /// The job already holds nodes.
    #[error("job {} already holds nodes", .0.0)]
    RepeatedJob(JobId),
    /// The strategy failed, or proposed nodes that cannot be granted ([`BadProposal`]).
    #[error(transparent)]
    Failed(CallerError),
}

impl AllocateError {
    /// Returns the reason, if the request was refused.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            AllocateError::Refused(refusal) => Some(*refusal),
            AllocateError::RepeatedJob(_) | AllocateError::Failed(_) => None,
        }
    }
}

/// A proposal that cannot be granted. Making one violates the strategy's contract.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadProposal {
    /// The nodes do not exist, are not free, or are proposed twice.
    #[error("the strategy proposed nodes that cannot be granted: {fault}")]
    Placement {
        /// The proposed nodes.
        proposal: Placement,
        /// The reason that they cannot be granted.
        fault: PlacementError,
    },
    /// The proposal has fewer nodes than requested.
    #[error("the strategy proposed {} nodes, but {requested} were requested", .proposal.nodes())]
    TooFew {
        /// The proposed nodes.
        proposal: Placement,
        /// The number of requested nodes.
        requested: u32,
    },
}

/// The reason that a placement cannot be granted, taken or released.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlacementError {
    /// The placement has no boxes.
    #[error("a placement must have at least one box")]
    Empty,
    /// A box is not on the machine: it extends past the end of an axis, or has a side of 0.
    #[error("{0:?} is not on the machine")]
    Outside(Cuboid),
    /// A box contains a node that is not free.
    #[error("{0:?} is not free")]
    NotFree(Cuboid),
    /// A box shares nodes with an earlier box in the same placement.
    #[error("{0:?} overlaps another box in the placement")]
    Overlapping(Cuboid),
    /// A box to be released contains a node that is free.
    #[error("{0:?} contains a free node")]
    NotTaken(Cuboid),
    /// The job already holds nodes.
    #[error("job {} already holds nodes", .0.0)]
    RepeatedJob(JobId),
}

impl From<OccupancyError> for PlacementError {
    fn from(error: OccupancyError) -> PlacementError {
        match error {
            OccupancyError::Outside(part) => PlacementError::Outside(part),
            OccupancyError::NotFree(part) => PlacementError::NotFree(part),
            OccupancyError::NotTaken(part) => PlacementError::NotTaken(part),
            OccupancyError::OtherGrid => PlacementError::Empty,
        }
    }
}

/// The error for a job that holds no nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("job {} holds no nodes", .0.0)]
pub struct UnknownJob(pub JobId);

/// The reason that a job cannot be moved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RelocateError {
    /// The job holds no nodes.
    #[error(transparent)]
    Unknown(#[from] UnknownJob),
    /// The job cannot be moved to these nodes.
    #[error(transparent)]
    Placement(#[from] PlacementError),
}

/// The error for a node that is not on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("node {} is not on the machine", .0.0)]
pub struct UnknownNode(pub NodeId);
