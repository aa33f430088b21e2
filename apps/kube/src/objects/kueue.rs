//! Kueue objects that concern quota and admission checks.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Toleration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::object::{Condition, Object as _, ObjectRef, Uid, resource, slim};

/// The controller name that identifies our admission checks.
pub(crate) const CONTROLLER: &str = "pavior.dev/placement";
/// The label that names a Job's Kueue queue.
pub(crate) const QUEUE: &str = "kueue.x-k8s.io/queue-name";
/// The label that contains the uid of a Workload's Job.
const JOB: &str = "kueue.x-k8s.io/job-uid";

/// A Workload, which is Kueue's view of a Job.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Workload {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) spec: WorkloadSpec,
    #[serde(default)]
    pub(crate) status: WorkloadStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct WorkloadSpec {
    pub(crate) active: Option<bool>,
    pub(crate) priority: Option<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct WorkloadStatus {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) admission: Option<Admission>,
    pub(crate) admission_checks: Vec<AdmissionCheckState>,
    /// Pods that have ended and therefore no longer need quota.
    pub(crate) reclaimable_pods: Vec<ReclaimablePod>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct ReclaimablePod {
    #[serde(default)]
    pub(crate) count: u32,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Admission {
    pub(crate) cluster_queue: String,
    pub(crate) pod_set_assignments: Vec<PodSetAssignment>,
}

/// The quota assigned to a set of pods.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PodSetAssignment {
    /// Flavors by resource.
    pub(crate) flavors: BTreeMap<String, String>,
    pub(crate) count: Option<u32>,
    #[serde(rename = "topologyAssignment")]
    pub(crate) topology: Option<IgnoredAny>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct AdmissionCheckState {
    pub(crate) name: String,
    pub(crate) state: CheckState,
    #[serde(default)]
    pub(crate) message: String,
}

/// The states of an admission check, as Kueue defines them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
pub(crate) enum CheckState {
    #[default]
    Pending,
    Ready,
    Retry,
    Rejected,
    #[serde(other)]
    Unknown,
}

impl CheckState {
    /// Returns Kueue's name for the state, or a description if the state is unknown.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CheckState::Pending => "Pending",
            CheckState::Ready => "Ready",
            CheckState::Retry => "Retry",
            CheckState::Rejected => "Rejected",
            CheckState::Unknown => "in an unknown state",
        }
    }
}

/// A check that must pass before Workloads are admitted.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct AdmissionCheck {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) spec: CheckSpec,
    #[serde(default)]
    pub(crate) status: CheckStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct CheckSpec {
    pub(crate) controller_name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct CheckStatus {
    #[serde(default)]
    pub(crate) conditions: Vec<Condition>,
}

/// A flavor, which represents one kind of node.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct ResourceFlavor {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) spec: FlavorSpec,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct FlavorSpec {
    pub(crate) node_labels: BTreeMap<String, String>,
    pub(crate) tolerations: Vec<Toleration>,
}

/// The quota held by a Job that gets its box before being admitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Quota {
    pub(crate) workload: ObjectRef,
    /// Our check. `index` is its position among the Workload's checks.
    pub(crate) check: AdmissionCheckState,
    pub(crate) index: usize,
    pub(crate) priority: i64,
    /// True if quota is reserved and is not being revoked.
    pub(crate) reserved: bool,
    /// The number of admitted pods, including those that have ended.
    pub(crate) pods: Option<u32>,
    /// True if Kueue chooses the nodes.
    pub(crate) topology: bool,
    /// The node labels that the flavors require.
    pub(crate) selector: BTreeMap<String, String>,
    pub(crate) tolerations: Vec<Toleration>,
}

resource!(Workload, NamespaceResourceScope, "kueue.x-k8s.io", "v1beta2", "workloads");
resource!(AdmissionCheck, ClusterResourceScope, "kueue.x-k8s.io", "v1beta2", "admissionchecks");
resource!(ResourceFlavor, ClusterResourceScope, "kueue.x-k8s.io", "v1beta2", "resourceflavors");

impl Workload {
    /// Returns the uid of the Workload's controller, or of the Job in its label if it has none.
    /// Kueue sets both, but users can put any uid into a label.
    pub(crate) fn job(&self) -> Option<Uid> {
        self.owner_id().or_else(|| self.label(JOB)).map(|uid| Uid(uid.to_string()))
    }

    /// Returns true if quota is reserved and is not being revoked.
    pub(crate) fn is_reserved(&self) -> bool {
        let holds = |kind| Condition::holds(&self.status.conditions, kind);
        self.spec.active != Some(false)
            && holds("QuotaReserved")
            && !holds("Evicted")
            && !holds("Finished")
    }
}

impl AdmissionCheck {
    pub(crate) fn is_ours(&self) -> bool {
        self.spec.controller_name == CONTROLLER
    }

    pub(crate) fn is_active(&self) -> bool {
        Condition::holds(&self.status.conditions, "Active")
    }
}
