//! Pods and their node requirements.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{NodeSelector, NodeSelectorTerm, PodSchedulingGate, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::object::{Condition, GATE, Object as _, resource, slim};

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Pod {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) spec: PodSpec,
    #[serde(default)]
    pub(crate) status: PodStatus,
}

/// The spec of a pod or of the pod template in a Job.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PodSpec {
    pub(crate) node_name: Option<String>,
    pub(crate) priority: Option<i64>,
    pub(crate) scheduling_gates: Vec<PodSchedulingGate>,
    pub(crate) node_selector: BTreeMap<String, String>,
    /// The affinity as written in the spec, to be extended by a patch.
    pub(crate) affinity: Option<CompactJson>,
    pub(crate) tolerations: Vec<Toleration>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PodStatus {
    pub(crate) phase: String,
    /// The time at which the node accepted the pod.
    pub(crate) start_time: Option<Time>,
    pub(crate) conditions: Vec<Condition>,
}

/// JSON stored as text. Parsed trees for thousands of pods would need ten times as much memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CompactJson(Box<str>);

impl CompactJson {
    pub(crate) fn of(value: &Value) -> CompactJson {
        CompactJson(value.to_string().into())
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for CompactJson {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<CompactJson, D::Error> {
        Ok(CompactJson::of(&Value::deserialize(input)?))
    }
}

resource!(Pod, NamespaceResourceScope, "", "v1", "pods");

impl Pod {
    /// Returns true if the pod has not finished, even if it is being deleted.
    pub(crate) fn is_active(&self) -> bool {
        !matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Returns true if the pod counts as occupying its node. DaemonSet and static pods do not.
    pub(crate) fn occupies_node(&self) -> bool {
        let kind = self.controller().map(|owner| owner.kind.as_str());
        !matches!(kind, Some("DaemonSet" | "Node"))
    }

    /// Returns the pod's completion index.
    pub(crate) fn rank(&self) -> Option<usize> {
        self.label("batch.kubernetes.io/job-completion-index")?.parse().ok()
    }

    /// Returns the node to which the pod is bound.
    pub(crate) fn node(&self) -> Option<&str> {
        self.spec.node_name.as_deref().filter(|name| !name.is_empty())
    }

    /// Returns the node that the pod's affinity names, if all of its terms name the same node.
    pub(crate) fn target_node(&self) -> Option<String> {
        let terms = self.spec.required()?.node_selector_terms;
        let named = |term: &NodeSelectorTerm| {
            // The patch that confines a pod to a node appends its field to every term.
            let last = term.match_fields.as_ref()?.last()?;
            let is_name = last.key == "metadata.name" && last.operator == "In";
            let [name] = last.values.as_deref().filter(|_| is_name)? else { return None };
            Some(name.clone())
        };
        let first = terms.first().and_then(named)?;
        let same = terms.iter().all(|term| named(term).as_ref() == Some(&first));
        same.then_some(first)
    }

    /// Returns the scheduler's message if the scheduler considers the pod unschedulable.
    pub(crate) fn unschedulable_message(&self) -> Option<&str> {
        let refused = |one: &&Condition| one.kind == "PodScheduled" && one.status == "False";
        let condition = self.status.conditions.iter().find(refused)?;
        (condition.reason == "Unschedulable").then_some(condition.message.as_str())
    }
}

impl PodSpec {
    /// Returns true if the pod has the gate for Kueue's topology-aware scheduling.
    pub(crate) fn uses_topology_scheduling(&self) -> bool {
        self.scheduling_gates.iter().any(|gate| gate.name == "kueue.x-k8s.io/topology")
    }

    /// Returns true if both specs have the same selector, affinity and tolerations.
    pub(crate) fn has_same_requirements(&self, other: &PodSpec) -> bool {
        self.node_selector == other.node_selector
            && self.affinity == other.affinity
            && self.tolerations == other.tolerations
    }

    /// Returns the position of our gate among the scheduling gates.
    pub(crate) fn gate(&self) -> Option<usize> {
        self.scheduling_gates.iter().position(|gate| gate.name == GATE)
    }

    /// Returns the required node affinity. A malformed affinity has no terms, so no node matches
    /// it.
    pub(crate) fn required(&self) -> Option<NodeSelector> {
        let affinity = self.affinity.as_ref()?.value();
        let affinity = affinity.get("nodeAffinity")?;
        let required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")?;
        Some(NodeSelector::deserialize(required).unwrap_or_default())
    }
}
