//! The `Placement` object, which contains a Job's nodes.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::object::{Object as _, Uid};

/// An immutable list of a Job's nodes. A new placement is a proposal, and pods are opened only
/// after it has been confirmed.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, CustomResource, KubeSchema, Deserialize, Serialize,
)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "pavior.dev",
    version = "v1alpha1",
    kind = "Placement",
    namespaced,
    doc = "The nodes of a Job. The Placement is named after the Job's UID.",
    derive = "Default",
    status = "PlacementStatus",
    printcolumn(name = "Job", type_ = "string", json_path = ".spec.job"),
    printcolumn(name = "Machine", type_ = "string", json_path = ".spec.machine"),
    printcolumn(name = "Box", type_ = "string", json_path = ".spec.box"),
    printcolumn(name = "Confirmed", type_ = "boolean", json_path = ".status.confirmed"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[expect(clippy::duplicated_attributes, reason = "columns of the same type")]
#[x_kube(validation = ("self == oldSelf", "placements are immutable"))]
pub(crate) struct PlacementSpec {
    /// The machine's name.
    #[schemars(length(max = 253))]
    pub(crate) machine: String,
    /// The Job's name.
    #[schemars(length(max = 253))]
    pub(crate) job: String,
    /// The Job's uid.
    #[schemars(length(max = 64))]
    pub(crate) job_uid: Uid,
    /// The uids, in rank order, of the Jobs in a set that shares one box.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 65_536), inner(length(max = 64)))]
    pub(crate) set: Vec<Uid>,
    /// The shape as written on the Job.
    #[schemars(length(max = 32))]
    pub(crate) shape: String,
    /// The box in nodes, such as `4x4x2@0,0,6`.
    #[serde(rename = "box")]
    #[schemars(length(max = 64))]
    pub(crate) at: String,
    /// The node names in rank order.
    #[schemars(length(min = 1, max = 1_048_576))]
    pub(crate) nodes: Vec<String>,
}

/// A placement's status.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct PlacementStatus {
    /// True if pods may be opened.
    pub(crate) confirmed: bool,
}

impl Placement {
    pub(crate) fn is_confirmed(&self) -> bool {
        self.status.as_ref().is_some_and(|status| status.confirmed)
    }

    /// Returns the start times of a confirmed placement's Jobs, in seconds since 1970.
    pub(crate) fn start_times(&self) -> impl Iterator<Item = (Uid, i64)> {
        let jobs = self.spec.jobs().iter().filter(|_| self.is_confirmed());
        jobs.map(|job| (job.clone(), self.created()))
    }
}

impl PlacementSpec {
    /// Returns the placement's Jobs, in rank order.
    pub(crate) fn jobs(&self) -> &[Uid] {
        if self.set.is_empty() { std::slice::from_ref(&self.job_uid) } else { &self.set }
    }
}
