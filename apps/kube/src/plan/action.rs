//! Changes to the cluster. Each contains a uid, and a version if the contents matter; the API
//! server rejects it if the object has changed.

use serde_json::Value;

use crate::objects::{ObjectRef, PlacementSpec};

/// Objects whose absence must be verified before a deletion, because watches may lag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// Placements with these names.
    Placements(Vec<ObjectRef>),
    Job(ObjectRef),
}

/// A change to one object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Creates a Job's placement, as a proposal.
    Propose { job: ObjectRef, placement: PlacementSpec },
    /// Confirms a proposal.
    Confirm { placement: ObjectRef },
    /// Deletes a placement.
    Withdraw { placement: ObjectRef, why: String, absent: Option<Absence> },
    /// Opens a gated pod with a JSON patch.
    Open { pod: ObjectRef, patch: Value },
    /// Updates our check on a Workload. `again_s` is the retry delay. Any `record`
    /// must still exist.
    Check {
        workload: ObjectRef,
        at: usize,
        check: String,
        state: &'static str,
        message: String,
        again_s: Option<u64>,
        record: Option<ObjectRef>,
    },
    /// Marks an AdmissionCheck as active.
    Activate { check: ObjectRef },
    /// Deletes an open pod that has no placement or is bound for another node.
    Remove { pod: ObjectRef, why: String, absent: Option<Absence> },
    /// Adds the exclusive resource to a node's status.
    Offer { node: ObjectRef, resource: String },
}

impl Action {
    /// Returns the kind of change, as used in logs and metrics.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Action::Propose { .. } => "propose",
            Action::Confirm { .. } => "confirm",
            Action::Withdraw { .. } => "withdraw",
            Action::Open { .. } => "open",
            Action::Remove { .. } => "remove",
            Action::Offer { .. } => "offer",
            Action::Check { .. } => "check",
            Action::Activate { .. } => "activate",
        }
    }

    /// Returns the object to change, or the Job for a proposal.
    pub(crate) fn object(&self) -> &ObjectRef {
        match self {
            Action::Propose { job: seen, .. }
            | Action::Confirm { placement: seen }
            | Action::Withdraw { placement: seen, .. }
            | Action::Open { pod: seen, .. }
            | Action::Remove { pod: seen, .. }
            | Action::Offer { node: seen, .. }
            | Action::Check { workload: seen, .. }
            | Action::Activate { check: seen } => seen,
        }
    }
}
