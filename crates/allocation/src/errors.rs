//! What a machine answers to a caller whose data it cannot accept. Nothing has changed then.

use pavior_kernel::{BadName, CallerError};
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, OccupancyError};
use thiserror::Error;

use crate::{Placement, Refusal, Unsupported};

/// Why a machine cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    /// The strategy's name or options cannot be read.
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
    /// The closure that makes the strategy has failed.
    #[error(transparent)]
    Failed(#[from] CallerError),
}

impl From<std::convert::Infallible> for BuildError {
    fn from(never: std::convert::Infallible) -> BuildError {
        match never {}
    }
}

/// Why a job was granted nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AllocateError {
    /// The request is refused.
    #[error("{}", .0.meaning())]
    Refused(#[from] Refusal),
    /// The job holds nodes already.
    #[error("job {} holds nodes already", .0.0)]
    RepeatedJob(JobId),
    /// The strategy has failed, or proposed nodes that cannot be granted ([`BadProposal`]).
    #[error(transparent)]
    Failed(CallerError),
}

impl AllocateError {
    /// The reason, if the request was refused.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            AllocateError::Refused(refusal) => Some(*refusal),
            AllocateError::RepeatedJob(_) | AllocateError::Failed(_) => None,
        }
    }
}

/// A strategy proposed nodes that cannot be granted: it breaks its contract.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadProposal {
    /// The nodes are not there, not free, or proposed twice.
    #[error("the strategy proposed what cannot be granted: {fault}")]
    Placement {
        /// The nodes proposed.
        proposal: Placement,
        /// Why they cannot be granted.
        fault: PlacementError,
    },
    /// They are fewer than were asked for.
    #[error("the strategy proposed {} nodes where {requested} were asked for", .proposal.nodes())]
    TooFew {
        /// The nodes proposed.
        proposal: Placement,
        /// The nodes asked for.
        requested: u32,
    },
}

/// Why a placement cannot be granted, taken or given back.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlacementError {
    /// It has no boxes.
    #[error("a placement has at least one box")]
    Empty,
    /// A box does not lie on the machine: beyond its end, or with a side of 0.
    #[error("{0:?} does not lie on the machine")]
    Outside(Cuboid),
    /// A box holds a node that is not free.
    #[error("{0:?} is not free")]
    NotFree(Cuboid),
    /// A box shares nodes with an earlier one of the same placement.
    #[error("{0:?} overlaps another box of the placement")]
    Overlapping(Cuboid),
    /// A box that is to be given back holds a node that is free.
    #[error("{0:?} is not taken")]
    NotTaken(Cuboid),
    /// The job holds nodes already.
    #[error("job {} holds nodes already", .0.0)]
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

/// A job that holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("job {} holds no nodes", .0.0)]
pub struct UnknownJob(pub JobId);

/// Why a job cannot be moved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RelocateError {
    /// It holds nothing.
    #[error(transparent)]
    Unknown(#[from] UnknownJob),
    /// It cannot have the nodes.
    #[error(transparent)]
    Placement(#[from] PlacementError),
}

/// A node that the machine does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("node {} lies outside the machine", .0.0)]
pub struct UnknownNode(pub NodeId);
