//! `Placement`: the nodes of a Job.

use serde::{Deserialize, Serialize};

use super::object::{GROUP, Uid, VERSION, resource, slim};

/// The record of a Job's nodes. It is named after the Job's uid and owned by the Job. A new
/// placement is a proposal; pods are opened only after its confirmation.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Placement {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    pub(crate) spec: PlacementSpec,
    #[serde(default)]
    pub(crate) status: PlacementStatus,
}

/// The immutable part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlacementSpec {
    pub(crate) machine: String,
    pub(crate) job: String,
    pub(crate) job_uid: Uid,
    /// For a set, the uids of its Jobs in rank order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) set: Vec<Uid>,
    /// The shape as written on the Job.
    pub(crate) shape: String,
    /// The box in nodes, such as `4x4x2@0,0,6`.
    #[serde(rename = "box")]
    pub(crate) at: String,
    /// The names of the nodes by rank.
    pub(crate) nodes: Vec<String>,
}

/// The mutable part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct PlacementStatus {
    #[serde(default)]
    pub(crate) confirmed: bool,
}

impl PlacementSpec {
    /// Returns the placement's Jobs, in rank order.
    pub(crate) fn jobs(&self) -> &[Uid] {
        if self.set.is_empty() { std::slice::from_ref(&self.job_uid) } else { &self.set }
    }
}

resource!(Placement, NamespaceResourceScope, GROUP, VERSION, "placements");
