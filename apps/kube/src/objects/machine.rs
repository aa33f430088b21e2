//! `Machine`: a mesh or torus of cluster nodes.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The description of a machine.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, CustomResource, KubeSchema, Deserialize, Serialize,
)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "pavior.dev",
    version = "v1alpha1",
    kind = "Machine",
    doc = "A mesh or torus of nodes of this cluster.",
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
#[x_kube(validation = (
    "(has(self.kind) && self.kind == 'slices') || (has(self.grid) && has(self.nodes))",
    "a machine of kind boxes requires grid and nodes"
))]
pub(crate) struct MachineSpec {
    /// `boxes`, the only kind. An object with `slices`, as in earlier builds, is not used, and its
    /// status has a fault.
    #[schemars(extend("enum" = ["boxes", "slices"]))]
    pub(crate) kind: Option<String>,
    /// The grid in chips, such as `torus:8x8x8` or `mesh:16x16`.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub(crate) grid: String,
    /// The chips of a node, such as `2x2x1` (default: one). A shape must consist of whole nodes.
    /// Boxes are turned only if all sides of a host are equal.
    #[schemars(length(max = 32))]
    pub(crate) host: Option<String>,
    /// The source of a node's coordinates: either labels or the node's name.
    #[serde(default)]
    pub(crate) nodes: CoordinateSource,
    /// A node resource; each pod requests a node's full amount. The daemon adds the default,
    /// `pavior.dev/node`, to the nodes. Any other, such as `google.com/tpu`, must also be passed to
    /// `manifests --resource google.com/tpu --exclusive`.
    #[schemars(length(max = 317))]
    pub(crate) resource: Option<String>,
    /// Any strategy that gives each Job one box of its shape (default `tff`).
    #[schemars(length(max = 128))]
    pub(crate) strategy: Option<String>,
    /// Any scheduler (default `easy`, which keeps promised starts unless `promise=moves` is given).
    #[schemars(length(max = 128))]
    pub(crate) scheduler: Option<String>,
    /// The maximum number of waiting Jobs per namespace in the queue (default 64).
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) queued_per_namespace: Option<usize>,
    /// The maximum number of nodes held by a namespace's Jobs.
    #[schemars(range(min = 1))]
    pub(crate) nodes_per_namespace: Option<u32>,
    /// The time after which a Job is placed again if the cluster's scheduler reports an opened pod
    /// of the Job as unschedulable (default 60).
    #[schemars(range(min = 1, max = 86_400))]
    pub(crate) patience_seconds: Option<u64>,
    /// The Kueue AdmissionCheck that the daemon answers and marks as active. Jobs are then placed
    /// before they are admitted.
    #[schemars(length(max = 253))]
    pub(crate) admission_check: Option<String>,
    /// The time that a Job may hold Kueue quota without a box (default 300).
    #[schemars(range(min = 1, max = 86_400))]
    pub(crate) quota_seconds: Option<u64>,
    /// Shapes in chips for which the status counts free boxes.
    #[serde(default)]
    #[schemars(length(max = 16), inner(length(max = 32)))]
    pub(crate) slots: Vec<String>,
    /// Nodes that are not used during a period: `{box: 4x4x1@0,0,0, from: 2026-12-01T08:00:00Z, to:
    /// 2026-12-01T12:00:00Z}` (a box in nodes, or `nodes: [...]`). Jobs whose time limit extends
    /// into it do not start there; running Jobs are not stopped.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub(crate) maintenance: Vec<Maintenance>,
}

/// The nodes of a period of maintenance, given as a box, as names, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, KubeSchema, Deserialize, Serialize)]
#[x_kube(validation = ("has(self.box) || has(self.nodes)", "maintenance requires a box or nodes"))]
pub(crate) struct Maintenance {
    /// A box in nodes, such as `2x2@0,0`.
    #[serde(rename = "box")]
    #[schemars(length(max = 64))]
    pub(crate) at: Option<String>,
    /// Names of nodes.
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
    /// One label per axis, x first, whose value is the coordinate, starting at 0.
    #[schemars(length(max = 3), inner(length(max = 317)))]
    pub(crate) labels: Vec<String>,
    /// In place of labels, a pattern of node names, such as `pod0-{x}-{y}-{z}`.
    #[schemars(length(max = 253))]
    pub(crate) pattern: Option<String>,
}

/// The status of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct MachineStatus {
    /// The fault, if the machine is not used.
    // Without a fault it is written as null, because a merge patch leaves absent members unchanged.
    pub(crate) fault: Option<String>,
    /// The number of nodes that the cluster has.
    pub(crate) known: u32,
    /// The number of nodes that the cluster lacks.
    pub(crate) missing: u32,
    /// The first unusable nodes, each with the reason.
    pub(crate) contradictory: Vec<String>,
    /// The number of free nodes.
    pub(crate) free: u32,
    /// The number of busy nodes.
    pub(crate) busy: u32,
    /// The number of known nodes that are unavailable.
    pub(crate) unavailable: u32,
    /// The number of waiting Jobs.
    pub(crate) waiting: u32,
    /// The free boxes of each shape in the machine's slots.
    pub(crate) slots: Vec<SlotCount>,
}

/// The number of boxes of a shape that fit on free nodes at once.
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
