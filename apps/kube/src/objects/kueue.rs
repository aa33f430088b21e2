//! Objects of Kueue: quota that a Job has, and what is asked of us before it is admitted.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::job::Condition;
use super::pod::Toleration;
use super::{Known as _, Uid, resource, slim};

/// Who we are to Kueue.
pub(crate) const CONTROLLER: &str = "pavior.dev/placement";
/// The label of a Workload with the uid of its Job.
const JOB: &str = "kueue.x-k8s.io/job-uid";

/// What Kueue knows of a Job.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Workload {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
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
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkloadStatus {
    #[serde(default)]
    pub(crate) conditions: Vec<Condition>,
    pub(crate) admission: Option<Admission>,
    #[serde(default)]
    pub(crate) admission_checks: Vec<CheckState>,
    /// The pods that have ended, and need no quota any more.
    #[serde(default)]
    pub(crate) reclaimable_pods: Vec<Reclaimed>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Reclaimed {
    #[serde(default)]
    pub(crate) count: u32,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Admission {
    #[serde(default)]
    pub(crate) pod_set_assignments: Vec<Assignment>,
}

/// What the pods of a Job get.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Assignment {
    /// By resource.
    #[serde(default)]
    pub(crate) flavors: BTreeMap<String, String>,
    pub(crate) count: Option<u32>,
    #[serde(rename = "topologyAssignment")]
    pub(crate) topology: Option<IgnoredAny>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct CheckState {
    pub(crate) name: String,
    pub(crate) state: String,
    #[serde(default)]
    pub(crate) message: String,
}

/// What is to be done before Workloads are admitted, and by whom.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct AdmissionCheck {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    #[serde(default)]
    pub(crate) spec: CheckSpec,
    #[serde(default)]
    pub(crate) status: CheckStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckSpec {
    #[serde(default)]
    pub(crate) controller_name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct CheckStatus {
    #[serde(default)]
    pub(crate) conditions: Vec<Condition>,
}

/// Nodes of one sort.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct ResourceFlavor {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    #[serde(default)]
    pub(crate) spec: FlavorSpec,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlavorSpec {
    #[serde(default)]
    pub(crate) node_labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) tolerations: Vec<Toleration>,
}

resource!(Workload, NamespaceResourceScope, "kueue.x-k8s.io", "v1beta2", "workloads");
resource!(AdmissionCheck, ClusterResourceScope, "kueue.x-k8s.io", "v1beta2", "admissionchecks");
resource!(ResourceFlavor, ClusterResourceScope, "kueue.x-k8s.io", "v1beta2", "resourceflavors");

impl Workload {
    /// The Job that it is of.
    pub(crate) fn job(&self) -> Option<Uid> {
        self.label(JOB).map(|uid| Uid(uid.to_string()))
    }

    /// Whether it has quota and keeps it.
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
