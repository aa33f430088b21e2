//! `Machine`: a mesh or torus of cluster nodes.

use serde::{Deserialize, Serialize};

use super::object::{GROUP, VERSION, resource, slim};

/// A machine as described by its operator.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Machine {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    pub(crate) spec: MachineSpec,
    #[serde(default)]
    pub(crate) status: MachineStatus,
}

/// The description of a machine. The schema in `manifests/crds.yaml` bounds each field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MachineSpec {
    /// `boxes`, the only kind. Objects written for earlier builds may also say `slices`.
    pub(crate) kind: Option<String>,
    /// The grid in chips, such as `torus:4x4x4`. Empty in objects of another kind.
    #[serde(default)]
    pub(crate) grid: String,
    /// The chips of a node, such as `2x2x1`.
    pub(crate) host: Option<String>,
    #[serde(default)]
    pub(crate) nodes: CoordinateSource,
    /// A resource that one Job pod uses up on its node, so that two Job pods never share a node.
    pub(crate) resource: Option<String>,
    pub(crate) strategy: Option<String>,
    pub(crate) scheduler: Option<String>,
    /// The maximum number of waiting Jobs per namespace in the queue.
    pub(crate) queued_per_namespace: Option<usize>,
    /// The maximum number of nodes per namespace.
    pub(crate) nodes_per_namespace: Option<u32>,
    /// The time that the cluster's scheduler has to start a pod on its node.
    pub(crate) patience_seconds: Option<u64>,
    /// The Kueue AdmissionCheck that the daemon answers.
    pub(crate) admission_check: Option<String>,
    /// The maximum time that a Job may hold quota without a box.
    pub(crate) quota_seconds: Option<u64>,
    /// Shapes in chips whose free boxes are counted.
    #[serde(default)]
    pub(crate) slots: Vec<String>,
    /// Planned maintenance; Jobs that would run into it are not placed.
    #[serde(default)]
    pub(crate) maintenance: Vec<Maintenance>,
}

/// Nodes that are not used during a period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Maintenance {
    /// A box in nodes, such as `2x2@0,0`.
    #[serde(rename = "box")]
    pub(crate) at: Option<String>,
    /// The names of the nodes.
    #[serde(default)]
    pub(crate) nodes: Vec<String>,
    /// The start and end times, such as `2026-12-01T08:00:00Z`.
    pub(crate) from: String,
    pub(crate) to: String,
}

/// The source of a node's coordinates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CoordinateSource {
    /// One label per axis, x first, each with the coordinate as its value.
    #[serde(default)]
    pub(crate) labels: Vec<String>,
    /// A pattern for node names, such as `pod0-{x}-{y}-{z}`.
    pub(crate) pattern: Option<String>,
}

/// The status of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MachineStatus {
    /// The fault, if the machine is not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<String>,
    pub(crate) known: u32,
    pub(crate) missing: u32,
    /// The first unusable nodes, each with the reason.
    #[serde(default)]
    pub(crate) contradictory: Vec<String>,
    pub(crate) free: u32,
    pub(crate) busy: u32,
    pub(crate) unavailable: u32,
    pub(crate) waiting: u32,
    #[serde(default)]
    pub(crate) slots: Vec<SlotCount>,
}

/// The number of boxes of a shape that fit on free nodes at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct SlotCount {
    pub(crate) shape: String,
    pub(crate) free: u32,
    /// An upper bound on that number.
    pub(crate) bound: u32,
}

resource!(Machine, ClusterResourceScope, GROUP, VERSION, "machines");
