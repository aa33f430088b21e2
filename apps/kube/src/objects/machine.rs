//! The `Machine` object, which describes a mesh or torus of cluster nodes.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A machine's description.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, CustomResource, JsonSchema, Deserialize, Serialize,
)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "pavior.dev",
    version = "v1alpha1",
    kind = "Machine",
    doc = "A mesh or torus of nodes in this cluster.",
    derive = "Default",
    status = "MachineStatus",
    printcolumn(name = "Grid", type_ = "string", json_path = ".spec.grid"),
    printcolumn(name = "Known", type_ = "integer", json_path = ".status.known"),
    printcolumn(name = "Missing", type_ = "integer", json_path = ".status.missing"),
    printcolumn(name = "Free", type_ = "integer", json_path = ".status.free"),
    printcolumn(name = "Busy", type_ = "integer", json_path = ".status.busy"),
    printcolumn(name = "Waiting", type_ = "integer", json_path = ".status.waiting"),
    printcolumn(name = "Fault", type_ = "string", json_path = ".status.fault")
)]
#[expect(clippy::duplicated_attributes, reason = "columns of the same type")]
pub(crate) struct MachineSpec {
    /// The grid in chips, such as `torus:8x8x8` or `mesh:16x16`.
    #[schemars(length(max = 64))]
    pub(crate) grid: String,
    /// A node's shape in chips, such as `2x2x1` (default: one chip). A Job's shape must consist of
    /// whole nodes. Boxes are rotated only if all of a node's sides are equal.
    #[schemars(length(max = 32))]
    pub(crate) host: Option<String>,
    /// The source of the nodes' coordinates: either labels or node names.
    pub(crate) nodes: CoordinateSource,
    /// The node resource that pods request. Each pod requests the full amount on its node. The
    /// daemon adds the default resource, `pavior.dev/node`, to the nodes. Any other resource, such
    /// as `google.com/tpu`, must also be passed to
    /// `manifests --resource google.com/tpu --exclusive`.
    #[schemars(length(max = 317))]
    pub(crate) resource: Option<String>,
    /// Any strategy that gives each Job a single box of its shape (default `tff`).
    #[schemars(length(max = 128))]
    pub(crate) strategy: Option<String>,
    /// Any scheduler. The default, `easy`, keeps promised starts unless you set `promise=moves`.
    #[schemars(length(max = 128))]
    pub(crate) scheduler: Option<String>,
    /// The maximum number of queued Jobs per namespace (default 64).
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) queued_per_namespace: Option<usize>,
    /// The maximum number of nodes that a namespace's Jobs may hold.
    #[schemars(range(min = 1))]
    pub(crate) nodes_per_namespace: Option<u32>,
    /// The time after which the daemon places a Job again if the cluster's scheduler reports an
    /// opened pod as unschedulable (default 60 s).
    #[schemars(range(min = 1, max = 86_400))]
    pub(crate) patience_seconds: Option<u64>,
    /// The Kueue AdmissionCheck that the daemon handles and marks as active. Jobs then get their
    /// boxes before Kueue admits them.
    #[schemars(length(max = 253))]
    pub(crate) admission_check: Option<String>,
    /// The maximum time that a Job may hold Kueue quota without a box (default 300 s).
    #[schemars(range(min = 1, max = 86_400))]
    pub(crate) quota_seconds: Option<u64>,
    /// The shapes, in chips, for which the Machine's status counts free boxes.
    #[serde(default)]
    #[schemars(length(max = 16), inner(length(max = 32)))]
    pub(crate) slots: Vec<String>,
    /// Maintenance periods, such as `{box: 4x4x1@0,0,0, from: 2026-12-01T08:00:00Z, to:
    /// 2026-12-01T12:00:00Z}`, each with a box (in nodes), `nodes: [...]`, or both. Jobs whose time
    /// limit extends into a period do not start on its nodes. Running Jobs are not stopped.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub(crate) maintenance: Vec<Maintenance>,
}

/// A maintenance period, with its nodes given as a box, by name, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, KubeSchema, Deserialize, Serialize)]
#[x_kube(validation = ("has(self.box) || has(self.nodes)", "maintenance requires a box or nodes"))]
pub(crate) struct Maintenance {
    /// A box in nodes, such as `2x2@0,0`.
    #[serde(rename = "box")]
    #[schemars(length(max = 64))]
    pub(crate) at: Option<String>,
    /// The names of nodes.
    #[serde(default)]
    #[schemars(length(max = 4096), inner(length(max = 253)))]
    pub(crate) nodes: Vec<String>,
    /// The start time, such as `2026-12-01T08:00:00Z`.
    #[schemars(extend("format" = "date-time"))]
    pub(crate) from: String,
    /// The end time.
    #[schemars(extend("format" = "date-time"))]
    pub(crate) to: String,
}

/// The source of a node's coordinates.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct CoordinateSource {
    /// One label per axis, x first. The value is the node's coordinate on that axis, starting at 0.
    #[schemars(length(max = 3), inner(length(max = 317)))]
    pub(crate) labels: Vec<String>,
    /// A pattern for node names, such as `pod0-{x}-{y}-{z}`, to use instead of labels.
    #[schemars(length(max = 253))]
    pub(crate) pattern: Option<String>,
}

/// A machine's status.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct MachineStatus {
    /// The reason why the machine is not used.
    // `None` is written as null, because a merge patch does not change absent members.
    pub(crate) fault: Option<String>,
    /// The number of coordinates that belong to exactly one node in the cluster.
    pub(crate) known: u32,
    /// The number of coordinates that belong to no node, or to more than one.
    pub(crate) missing: u32,
    /// The first few unusable nodes, with the reasons.
    pub(crate) contradictory: Vec<String>,
    /// The number of free nodes.
    pub(crate) free: u32,
    /// The number of busy nodes.
    pub(crate) busy: u32,
    /// The number of known nodes that are unavailable.
    pub(crate) unavailable: u32,
    /// The number of waiting Jobs.
    pub(crate) waiting: u32,
    /// The number of free boxes for each shape in the spec's `slots`.
    pub(crate) slots: Vec<SlotCount>,
}

/// The number of boxes of a shape that fit on the free nodes at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct SlotCount {
    /// The shape in chips.
    pub(crate) shape: String,
    /// The number of boxes found.
    pub(crate) free: u32,
    /// An upper bound on that number.
    pub(crate) bound: u32,
}
