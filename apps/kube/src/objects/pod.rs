//! Pods, and what they demand of nodes.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::job::Condition;
use super::{GATE, Known as _, Taint, resource, slim};

/// A pod.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Pod {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    #[serde(default)]
    pub(crate) spec: PodSpec,
    #[serde(default)]
    pub(crate) status: PodStatus,
}

/// What a pod, or the template of a Job's pods, demands.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PodSpec {
    pub(crate) node_name: Option<String>,
    pub(crate) priority: Option<i64>,
    #[serde(default)]
    pub(crate) scheduling_gates: Vec<Gate>,
    #[serde(default)]
    pub(crate) node_selector: BTreeMap<String, String>,
    /// As it is written: a patch adds to it.
    pub(crate) affinity: Option<Compact>,
    #[serde(default)]
    pub(crate) tolerations: Vec<Toleration>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Gate {
    name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Toleration {
    pub(crate) key: Option<String>,
    pub(crate) operator: Option<String>,
    pub(crate) value: Option<String>,
    pub(crate) effect: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PodStatus {
    #[serde(default)]
    pub(crate) phase: String,
    /// When its node took it.
    pub(crate) start_time: Option<Time>,
    #[serde(default)]
    pub(crate) conditions: Vec<Condition>,
}

/// The part of an affinity that nodes must satisfy: one of the terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Affinity {
    #[serde(default)]
    pub(crate) node_selector_terms: Vec<Term>,
}

/// A term: all of it must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Term {
    #[serde(default)]
    pub(crate) match_expressions: Vec<Expression>,
    #[serde(default)]
    pub(crate) match_fields: Vec<Expression>,
}

/// A demand on a label, or on the name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Expression {
    pub(crate) key: String,
    pub(crate) operator: String,
    #[serde(default)]
    pub(crate) values: Vec<String>,
}

/// A value of JSON as text. The trees of thousands of pods take ten times the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compact(Box<str>);

impl Compact {
    pub(crate) fn of(value: &Value) -> Compact {
        Compact(value.to_string().into())
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Compact {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Compact, D::Error> {
        Ok(Compact::of(&Value::deserialize(input)?))
    }
}

resource!(Pod, NamespaceResourceScope, "", "v1", "pods");

impl Pod {
    /// Whether it may still run: it is not over, though it may be going.
    pub(crate) fn lives(&self) -> bool {
        !matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Which of its gates is ours.
    pub(crate) fn gate(&self) -> Option<usize> {
        self.spec.gate()
    }

    /// The index that its Job gave it.
    pub(crate) fn rank(&self) -> Option<usize> {
        self.label("batch.kubernetes.io/job-completion-index")?.parse().ok()
    }

    /// The node that it runs on.
    pub(crate) fn node(&self) -> Option<&str> {
        self.spec.node_name.as_deref().filter(|name| !name.is_empty())
    }

    /// The node that it was opened for: every term of its affinity names this one.
    pub(crate) fn meant_for(&self) -> Option<String> {
        let terms = self.spec.required()?.node_selector_terms;
        let named = |term: &Term| match term.match_fields.last() {
            Some(Expression { key, operator, values })
                if key == "metadata.name" && operator == "In" && values.len() == 1 =>
            {
                Some(values[0].clone())
            }
            _ => None,
        };
        let first = terms.first().and_then(named)?;
        let same = terms.iter().all(|term| named(term).as_ref() == Some(&first));
        same.then_some(first)
    }

    /// What the scheduler says of why it does not start it.
    pub(crate) fn refusal(&self) -> Option<&str> {
        let refused = |one: &&Condition| one.kind == "PodScheduled" && one.status == "False";
        let condition = self.status.conditions.iter().find(refused)?;
        (condition.reason == "Unschedulable").then_some(condition.message.as_str())
    }
}

impl PodSpec {
    /// Whether Kueue's topology-aware scheduling is to open it, too.
    pub(crate) fn is_kueues(&self) -> bool {
        self.scheduling_gates.iter().any(|gate| gate.name == "kueue.x-k8s.io/topology")
    }

    /// Whether another one has the same selector, affinity and tolerations.
    pub(crate) fn demands_the_same(&self, other: &PodSpec) -> bool {
        self.node_selector == other.node_selector
            && self.affinity == other.affinity
            && self.tolerations == other.tolerations
    }

    /// Which of its gates is ours.
    pub(crate) fn gate(&self) -> Option<usize> {
        self.scheduling_gates.iter().position(|gate| gate.name == GATE)
    }

    /// The part of the affinity that nodes must satisfy. What cannot be read is as if it had no
    /// term: no node satisfies it.
    pub(crate) fn required(&self) -> Option<Affinity> {
        let affinity = self.affinity.as_ref()?.value();
        let affinity = affinity.get("nodeAffinity")?;
        let required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")?;
        Some(Affinity::deserialize(required).unwrap_or_default())
    }
}

impl Toleration {
    /// Whether it makes a taint harmless.
    pub(crate) fn covers(&self, taint: &Taint) -> bool {
        let effect = self.effect.as_deref().unwrap_or_default();
        let key = self.key.as_deref().unwrap_or_default();
        let exists = self.operator.as_deref() == Some("Exists");
        let value = self.value.as_deref().unwrap_or_default();
        (effect.is_empty() || effect == taint.effect)
            && ((key.is_empty() && exists) || key == taint.key)
            && (exists || value == taint.value)
    }
}
