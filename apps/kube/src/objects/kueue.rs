//! Kueue objects for quota and admission checks.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Toleration;
use pavior::text::shown;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::object::{Condition, Object as _, ObjectRef, Uid, resource, slim};

/// Our controller name in admission checks.
pub(crate) const CONTROLLER: &str = "pavior.dev/placement";
/// The label that names a Job's Kueue queue.
pub(crate) const QUEUE: &str = "kueue.x-k8s.io/queue-name";
/// The label with the uid of a Workload's Job.
const JOB: &str = "kueue.x-k8s.io/job-uid";

/// A Workload, Kueue's view of a Job.
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
    pub(crate) admission_checks: Vec<AdmissionCheckState>,
    /// Pods that have ended and no longer need quota.
    #[serde(default)]
    pub(crate) reclaimable_pods: Vec<ReclaimablePod>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct ReclaimablePod {
    #[serde(default)]
    pub(crate) count: u32,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Admission {
    #[serde(default)]
    pub(crate) cluster_queue: String,
    #[serde(default)]
    pub(crate) pod_set_assignments: Vec<PodSetAssignment>,
}

/// The quota assigned to a set of pods.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PodSetAssignment {
    /// The flavors by resource.
    #[serde(default)]
    pub(crate) flavors: BTreeMap<String, String>,
    pub(crate) count: Option<u32>,
    #[serde(rename = "topologyAssignment")]
    pub(crate) topology: Option<IgnoredAny>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct AdmissionCheckState {
    pub(crate) name: String,
    pub(crate) state: String,
    #[serde(default)]
    pub(crate) message: String,
}

/// A check that must pass before Workloads are admitted.
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

/// A flavor, which represents one kind of node.
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

/// The quota of a Job that gets its box before admission.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Quota {
    pub(crate) workload: ObjectRef,
    /// The position of our check among the Workload's checks. Its name, state and message follow.
    pub(crate) at: usize,
    pub(crate) check: String,
    pub(crate) state: String,
    pub(crate) message: String,
    pub(crate) priority: i64,
    /// True if quota is reserved and not being revoked.
    pub(crate) reserved: bool,
    /// The number of admitted pods, including those that have ended.
    pub(crate) pods: Option<u32>,
    /// True if Kueue chooses the nodes.
    pub(crate) topology: bool,
    /// Node labels required by the flavors.
    pub(crate) selector: BTreeMap<String, String>,
    pub(crate) tolerations: Vec<Toleration>,
}

resource!(Workload, NamespaceResourceScope, "kueue.x-k8s.io", "v1beta2", "workloads");
resource!(AdmissionCheck, ClusterResourceScope, "kueue.x-k8s.io", "v1beta2", "admissionchecks");
resource!(ResourceFlavor, ClusterResourceScope, "kueue.x-k8s.io", "v1beta2", "resourceflavors");

impl Workload {
    pub(crate) fn job(&self) -> Option<Uid> {
        self.label(JOB).map(|uid| Uid(uid.to_string()))
    }

    /// Describes the Job's state in Kueue, in bounded text without control characters.
    pub(crate) fn words(&self) -> String {
        let one = |kind: &str| self.status.conditions.iter().find(|one| one.kind == kind);
        let now = |kind: &str| one(kind).filter(|one| one.status == "True");
        let why = |one: Option<&Condition>| {
            one.map_or(String::new(), |one| {
                format!(" ({}: {})", shown(&one.reason), shown(&one.message))
            })
        };
        let evicted = now("Evicted");
        let queue = self.status.admission.as_ref().map_or("", |one| one.cluster_queue.as_str());
        let mut checks = self.status.admission_checks.iter().filter(|one| one.state != "Ready");
        let check = checks.next().map_or(String::new(), |one| {
            format!(" Check {} is {}: {}", shown(&one.name), shown(&one.state), shown(&one.message))
        });
        match (evicted.is_some(), now("QuotaReserved").is_some()) {
            _ if self.spec.active == Some(false) => {
                format!("Kueue has deactivated it{}.", why(evicted))
            }
            _ if now("Finished").is_some() => "Kueue considers it finished.".to_string(),
            (true, true) => format!("Kueue is evicting it{}.", why(evicted)),
            _ if now("Admitted").is_some() => format!("Kueue has admitted it to {}.", shown(queue)),
            (false, true) => format!("Kueue has reserved quota in {} for it.{check}", shown(queue)),
            (true, false) => format!(
                "Kueue has evicted it{}. It is waiting for quota{}.",
                why(evicted),
                why(one("QuotaReserved"))
            ),
            (false, false) => {
                format!("It is waiting for Kueue quota{}.", why(one("QuotaReserved")))
            }
        }
    }

    /// Returns true if quota is reserved and not being revoked.
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
        json!({ "type": kind, "status": status, "reason": reason, "message": message })
    }

    #[test]
    fn what_kueue_does_is_said_in_bounded_lines() {
        let words = |active: bool, conditions: &[&Value]| {
            let check = json!({ "name": "place", "state": "Pending", "message": "no box." });
            let admission = json!({ "clusterQueue": "all" });
            let status = json!({
                "conditions": conditions, "admission": admission, "admissionChecks": [check],
            });
            let workload =
                json!({ "metadata": {}, "spec": { "active": active }, "status": status });
            serde_json::from_value::<Workload>(workload).unwrap().words()
        };
        let pending = &condition("QuotaReserved", "False", "Pending", "no quota\u{1b}[2J");
        let reserved = &condition("QuotaReserved", "True", "QuotaReserved", "");
        let admitted = &condition("Admitted", "True", "Admitted", "");
        let evicted = &condition("Evicted", "True", "Preempted", "by another");
        let long = "x".repeat(100_000);
        let long = &condition("QuotaReserved", "False", &long, &long);
        assert_eq!(words(true, &[]), "It is waiting for Kueue quota.");
        let text = "It is waiting for Kueue quota (Pending: no quota\\u{1b}[2J).";
        assert_eq!(words(true, &[pending]), text);
        let text = "Kueue has reserved quota in all for it. Check place is Pending: no box.";
        assert_eq!(words(true, &[reserved]), text);
        assert_eq!(words(true, &[reserved, admitted]), "Kueue has admitted it to all.");
        let text = "Kueue is evicting it (Preempted: by another).";
        assert_eq!(words(true, &[reserved, admitted, evicted]), text);
        assert!(words(true, &[pending, evicted]).starts_with("Kueue has evicted it (Preempted: "));
        let text = "Kueue has deactivated it (Preempted: by another).";
        assert_eq!(words(false, &[evicted]), text);
        assert!(words(true, &[long]).len() < 700);
    }
}
