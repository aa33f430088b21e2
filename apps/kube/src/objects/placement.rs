//! `Placement`: the record of which nodes a Job has.

use serde::{Deserialize, Serialize};

use super::{GROUP, Uid, VERSION, resource, slim};

/// The record of a Job's nodes. It has the name of the Job's uid, and is the Job's: it goes with
/// it. Its creation is a proposal; nothing is opened before it is confirmed.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Placement {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    pub(crate) spec: PlacementSpec,
    #[serde(default)]
    pub(crate) status: PlacementStatus,
}

/// What is never changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlacementSpec {
    pub(crate) machine: String,
    pub(crate) job: String,
    pub(crate) job_uid: Uid,
    /// Of a set: the uids of its Jobs in the order of their ranks, the first one, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) set: Vec<Uid>,
    /// As the Job asks for it.
    pub(crate) shape: String,
    /// Where it lies, such as `4x4x2@0,0,6`, in nodes.
    #[serde(rename = "box")]
    pub(crate) at: String,
    /// The nodes by rank.
    pub(crate) nodes: Vec<String>,
}

/// What becomes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct PlacementStatus {
    #[serde(default)]
    pub(crate) confirmed: bool,
}

impl PlacementSpec {
    /// The Jobs that have the nodes, in the order of their ranks.
    pub(crate) fn jobs(&self) -> &[Uid] {
        if self.set.is_empty() { std::slice::from_ref(&self.job_uid) } else { &self.set }
    }
}

resource!(Placement, NamespaceResourceScope, GROUP, VERSION, "placements");
