//! What is to be changed in the cluster. Each change is refused by the API server if the object is
//! not the one that was seen: it names a uid, and where the contents matter a version.

use serde_json::Value;

use crate::objects::{Known, PlacementSpec, Uid};

/// An object that was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Seen {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: Uid,
    pub(crate) version: String,
}

impl Seen {
    pub(crate) fn of(object: &impl Known) -> Seen {
        Seen {
            namespace: object.namespace().to_string(),
            name: object.name().to_string(),
            uid: object.uid(),
            version: object.meta().resource_version.clone().unwrap_or_default(),
        }
    }
}

/// What an act is not carried out for if it is there: its watch may be late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unless {
    /// A record with one of these names.
    Record(Vec<Seen>),
    /// This Job.
    Job(Seen),
}

/// A change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    /// Makes the record of a Job's nodes: a proposal.
    Propose { job: Seen, placement: PlacementSpec },
    /// Confirms a proposal.
    Confirm { placement: Seen },
    /// Deletes a record; why.
    Withdraw { placement: Seen, why: String, unless: Option<Unless> },
    /// Opens a gated pod, by a JSON patch.
    Open { pod: Seen, patch: Value },
    /// Tells Kueue how its check of a Workload stands, and after how many seconds quota is asked
    /// for again that is given back. If it is for a record, that must still be there.
    Check {
        workload: Seen,
        at: usize,
        check: String,
        state: &'static str,
        message: String,
        again_s: Option<u64>,
        record: Option<Seen>,
    },
    /// Tells Kueue that a check is looked after.
    Activate { check: Seen },
    /// Deletes a pod that is open for other nodes than its record says, or without a record; why.
    Remove { pod: Seen, why: String, unless: Option<Unless> },
    /// Adds the exclusive resource to the status of a node.
    Offer { node: Seen, resource: String },
}

impl Act {
    /// What is changed, in one word.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Act::Propose { .. } => "propose",
            Act::Confirm { .. } => "confirm",
            Act::Withdraw { .. } => "withdraw",
            Act::Open { .. } => "open",
            Act::Remove { .. } => "remove",
            Act::Offer { .. } => "offer",
            Act::Check { .. } => "check",
            Act::Activate { .. } => "activate",
        }
    }

    /// The object that is changed or, of a proposal, whose record is made.
    pub(crate) fn object(&self) -> &Seen {
        match self {
            Act::Propose { job: seen, .. }
            | Act::Confirm { placement: seen }
            | Act::Withdraw { placement: seen, .. }
            | Act::Open { pod: seen, .. }
            | Act::Remove { pod: seen, .. }
            | Act::Offer { node: seen, .. }
            | Act::Check { workload: seen, .. }
            | Act::Activate { check: seen } => seen,
        }
    }
}
