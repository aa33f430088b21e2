//! Changes to the cluster. Each change identifies an object by its uid and, if the contents matter,
//! its version. The API server rejects a change if the object no longer matches.

use serde_json::Value;

use crate::objects::{CheckState, ObjectRef, PlacementSpec};

/// Objects whose absence must be verified before a deletion, because watches may lag behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// Placements with these names.
    Placements(Vec<ObjectRef>),
    Job(ObjectRef),
}

/// A new state for our check on a Workload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CheckUpdate {
    pub(crate) workload: ObjectRef,
    /// Our check's position among the Workload's checks. The check's name is in `check`.
    pub(crate) index: usize,
    pub(crate) check: String,
    pub(crate) answer: CheckAnswer,
    /// A placement that must still exist when the update is written.
    pub(crate) placement: Option<ObjectRef>,
}

/// A check's state and message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckAnswer {
    pub(crate) state: CheckState,
    pub(crate) message: String,
    /// The delay before Kueue retries, in seconds.
    pub(crate) retry_delay_s: Option<u64>,
}

impl CheckAnswer {
    pub(super) fn new(state: CheckState, message: impl Into<String>) -> CheckAnswer {
        CheckAnswer { state, message: message.into(), retry_delay_s: None }
    }
}

/// A change to a single object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Creates a Job's placement as a proposal.
    Propose { job: ObjectRef, placement: PlacementSpec },
    /// Confirms a proposal.
    Confirm { placement: ObjectRef },
    /// Deletes a placement.
    Withdraw { placement: ObjectRef, why: String, absent: Option<Absence> },
    /// Opens a gated pod with a JSON patch.
    Open { pod: ObjectRef, patch: Value },
    /// Updates our check on a Workload.
    Check(CheckUpdate),
    /// Marks an AdmissionCheck as active.
    Activate { check: ObjectRef },
    /// Deletes an open pod that has no placement or targets the wrong node.
    Remove { pod: ObjectRef, why: String, absent: Option<Absence> },
    /// Adds our exclusive resource to a node's status.
    Offer { node: ObjectRef },
}

impl Action {
    /// Returns the name of this kind of change for logs and metrics.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Action::Propose { .. } => "propose",
            Action::Confirm { .. } => "confirm",
            Action::Withdraw { .. } => "withdraw",
            Action::Open { .. } => "open",
            Action::Remove { .. } => "remove",
            Action::Offer { .. } => "offer",
            Action::Check(_) => "check",
            Action::Activate { .. } => "activate",
        }
    }

    /// Returns the new placement, if the action proposes one.
    pub(crate) fn into_proposal(self) -> Option<PlacementSpec> {
        match self {
            Action::Propose { placement, .. } => Some(placement),
            _ => None,
        }
    }

    /// Returns the object to change. For a proposal, this is the Job.
    pub(crate) fn object(&self) -> &ObjectRef {
        match self {
            Action::Propose { job: object, .. }
            | Action::Confirm { placement: object }
            | Action::Withdraw { placement: object, .. }
            | Action::Open { pod: object, .. }
            | Action::Remove { pod: object, .. }
            | Action::Offer { node: object }
            | Action::Check(CheckUpdate { workload: object, .. })
            | Action::Activate { check: object } => object,
        }
    }
}
