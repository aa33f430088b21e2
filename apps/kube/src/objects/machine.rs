//! `Machine`: a mesh or torus of nodes of the cluster.

use serde::{Deserialize, Serialize};

use super::{GROUP, VERSION, resource, slim};

/// A machine, as its operator describes it.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Machine {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    pub(crate) spec: MachineSpec,
    #[serde(default)]
    pub(crate) status: MachineStatus,
}

/// What a machine is. The schema in `manifests/crds.yaml` bounds each field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MachineSpec {
    /// `boxes`, the only kind. Objects for earlier builds may say `slices`.
    pub(crate) kind: Option<String>,
    /// Such as `torus:4x4x4`, in chips. Empty in an object of another kind.
    #[serde(default)]
    pub(crate) grid: String,
    /// The chips of a node, such as `2x2x1`.
    pub(crate) host: Option<String>,
    #[serde(default)]
    pub(crate) nodes: Naming,
    /// Of which each node has one: two pods of Jobs never share a node.
    pub(crate) resource: Option<String>,
    pub(crate) strategy: Option<String>,
    pub(crate) scheduler: Option<String>,
    /// The most waiting Jobs of a namespace that are looked at.
    pub(crate) queued_per_namespace: Option<usize>,
    /// The most nodes that Jobs of a namespace hold.
    pub(crate) nodes_per_namespace: Option<u32>,
    /// How long the scheduler of the cluster may take to start a pod on the node that was chosen.
    pub(crate) patience_seconds: Option<u64>,
    /// The AdmissionCheck of Kueue with which Jobs are placed before they are admitted.
    pub(crate) admission_check: Option<String>,
    /// How long a Job may hold quota without a place.
    pub(crate) quota_seconds: Option<u64>,
    /// Shapes in chips of which the free boxes are counted.
    #[serde(default)]
    pub(crate) slots: Vec<String>,
}

/// How the place of a node is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Naming {
    /// A label for each axis, x first, each with a coordinate.
    #[serde(default)]
    pub(crate) labels: Vec<String>,
    /// A pattern of names, such as `pod0-{x}-{y}-{z}`.
    pub(crate) pattern: Option<String>,
}

/// What is told of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MachineStatus {
    /// Why the machine is not used, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<String>,
    pub(crate) known: u32,
    pub(crate) missing: u32,
    /// Nodes that are not used, each with why; the first of them.
    #[serde(default)]
    pub(crate) contradictory: Vec<String>,
    pub(crate) free: u32,
    pub(crate) busy: u32,
    pub(crate) unavailable: u32,
    pub(crate) waiting: u32,
    #[serde(default)]
    pub(crate) slots: Vec<SlotCount>,
}

/// How many boxes of a shape fit side by side on the free nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct SlotCount {
    pub(crate) shape: String,
    pub(crate) free: u32,
    /// No more than this many fit.
    pub(crate) bound: u32,
}

resource!(Machine, ClusterResourceScope, GROUP, VERSION, "machines");
