//! Node requirements of a Job, as the cluster's scheduler sees them: selector, affinity and taints.
//! A node that the scheduler would reject is not a candidate.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Taint, Toleration,
};

use crate::objects::{Job, Node, Object as _, PodSpec, Quota};

/// The node requirements of a Job.
#[derive(Clone, Debug)]
pub(crate) struct Demands<'a> {
    template: &'a PodSpec,
    /// The Kueue flavors whose labels the pods will get.
    flavors: Option<&'a Quota>,
    required: Option<NodeSelector>,
}

impl<'a> Demands<'a> {
    pub(crate) fn of(template: &'a PodSpec) -> Demands<'a> {
        Demands { template, flavors: None, required: template.required() }
    }

    /// Returns the requirements that a Job's pods will have.
    pub(crate) fn of_job(job: &'a Job) -> Demands<'a> {
        Demands { flavors: job.quota.as_ref(), ..Demands::of(&job.spec.template.spec) }
    }

    /// Returns the distinct requirements of several Jobs; all of these must be satisfied.
    pub(crate) fn of_all(jobs: &[&'a Job]) -> Vec<Demands<'a>> {
        let mut all: Vec<Demands<'_>> = Vec::new();
        for job in jobs {
            let own = Demands::of_job(job);
            if !all.iter().any(|known| known.are(&own)) {
                all.push(own);
            }
        }
        all
    }

    /// Returns true if two requirements are equal.
    pub(crate) fn are(&self, other: &Demands<'_>) -> bool {
        self.template.demands_the_same(other.template) && self.given() == other.given()
    }

    /// Returns the labels and tolerations of the flavors.
    fn given(&self) -> Option<(&BTreeMap<String, String>, &[Toleration])> {
        self.flavors.map(|quota| (&quota.selector, &quota.tolerations[..]))
    }

    /// Returns true if pods of the Job may start on a node.
    pub(crate) fn allow(&self, node: &Node) -> bool {
        self.match_labels(node) && self.tolerate(node)
    }

    /// Returns true if pods of the Job could start on a node under some conditions of that node.
    pub(crate) fn may_allow(&self, node: &Node) -> bool {
        self.match_labels(node) && self.tolerate_all(node, |taint| !is_temporary(taint))
    }

    /// Returns true if a node's labels and name match.
    fn match_labels(&self, node: &Node) -> bool {
        let affine =
            |all: &NodeSelector| all.node_selector_terms.iter().any(|term| allows(term, node));
        node.is_selected(&self.template.node_selector)
            && self.flavors.is_none_or(|quota| node.is_selected(&quota.selector))
            && self.required.as_ref().is_none_or(affine)
    }

    /// Returns true if the pods tolerate all taints of a node.
    pub(crate) fn tolerate(&self, node: &Node) -> bool {
        self.tolerate_all(node, |_| true)
    }

    /// Returns true if the pods tolerate all taints of a node for which `counts` is true.
    fn tolerate_all(&self, node: &Node, counts: impl Fn(&Taint) -> bool) -> bool {
        let keeps = ["NoSchedule", "NoExecute"];
        let hard = node
            .spec
            .taints
            .iter()
            .filter(|taint| keeps.contains(&&*taint.effect) && counts(taint));
        let of_flavors = || self.flavors.iter().flat_map(|quota| &quota.tolerations);
        let tolerations = || self.template.tolerations.iter().chain(of_flavors());
        hard.into_iter().all(|taint| tolerations().any(|one| covers(one, taint)))
    }
}

/// Returns true if a node matches a term. A term without expressions matches none, as in the
/// scheduler.
fn allows(term: &NodeSelectorTerm, node: &Node) -> bool {
    let labels = term.match_expressions.iter().flatten();
    let labels = labels.map(|demand| holds(demand, node.label(&demand.key)));
    let fields = term.match_fields.iter().flatten().map(|demand| {
        let value = (demand.key == "metadata.name").then(|| node.name());
        holds(demand, value)
    });
    let mut all = labels.chain(fields).peekable();
    all.peek().is_some() && all.all(|holds| holds)
}

fn holds(demand: &NodeSelectorRequirement, value: Option<&str>) -> bool {
    let values = demand.values.as_deref().unwrap_or_default();
    let is_one = value.is_some_and(|value| values.iter().any(|one| one == value));
    let number = |text: &str| text.parse::<i64>().ok();
    let bound = values.first().and_then(|bound| number(bound));
    let compared = value.and_then(number).zip(bound);
    match demand.operator.as_str() {
        "In" => is_one,
        "NotIn" => !is_one,
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compared.is_some_and(|(value, bound)| value > bound),
        "Lt" => compared.is_some_and(|(value, bound)| value < bound),
        _ => false,
    }
}

/// Returns true if a pod with this toleration tolerates a taint.
fn covers(toleration: &Toleration, taint: &Taint) -> bool {
    let effect = toleration.effect.as_deref().unwrap_or_default();
    let key = toleration.key.as_deref().unwrap_or_default();
    let exists = toleration.operator.as_deref() == Some("Exists");
    let [value, own] =
        [&toleration.value, &taint.value].map(|value| value.as_deref().unwrap_or_default());
    (effect.is_empty() || effect == taint.effect)
        && ((key.is_empty() && exists) || key == taint.key)
        && (exists || value == own)
}

/// Returns true if a taint reflects a condition of the node, and so may disappear on its own.
fn is_temporary(taint: &Taint) -> bool {
    let prefixes = ["node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"];
    prefixes.iter().any(|prefix| taint.key.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn allowed(template: Value, node: Value) -> bool {
        let mut node = node;
        node["metadata"]["name"] = json!("n1");
        let template: PodSpec = serde_json::from_value(template).unwrap();
        Demands::of(&template).allow(&serde_json::from_value(node).unwrap())
    }

    /// Returns an affinity with these terms.
    fn affinity(terms: &Value) -> Value {
        let required = json!({ "nodeSelectorTerms": terms });
        let node = json!({ "requiredDuringSchedulingIgnoredDuringExecution": required });
        json!({ "affinity": { "nodeAffinity": node } })
    }

    #[test]
    fn selectors_and_terms_are_the_schedulers() {
        let node = || json!({ "metadata": { "labels": { "pool": "a", "level": "7" } } });
        assert!(allowed(json!({}), node()));
        assert!(allowed(json!({ "nodeSelector": { "pool": "a" } }), node()));
        assert!(!allowed(json!({ "nodeSelector": { "pool": "b" } }), node()));
        for (operator, key, values, holds) in [
            ("In", "pool", json!(["a", "b"]), true),
            ("NotIn", "pool", json!(["a"]), false),
            ("NotIn", "none", json!(["a"]), true),
            ("Exists", "pool", json!([]), true),
            ("DoesNotExist", "pool", json!([]), false),
            ("Gt", "level", json!(["6"]), true),
            ("Lt", "level", json!(["7"]), false),
            ("Like", "pool", json!(["a"]), false),
        ] {
            let demand = json!({ "key": key, "operator": operator, "values": values });
            let one = affinity(&json!([{ "matchExpressions": [demand] }]));
            assert_eq!(allowed(one, node()), holds, "{operator} {key}");
        }
        // One matching term is enough; a term without expressions matches nothing.
        let name = |name: &str| {
            let demand = json!({ "key": "metadata.name", "operator": "In", "values": [name] });
            json!({ "matchFields": [demand] })
        };
        assert!(allowed(affinity(&json!([name("n0"), name("n1")])), node()));
        assert!(!allowed(affinity(&json!([name("n0"), {}])), node()));
        // A malformed affinity matches no node.
        assert!(!allowed(affinity(&json!("n1")), node()));
    }

    #[test]
    fn taints_keep_away_who_does_not_tolerate_them() {
        let taint = json!({ "key": "tpu", "value": "yes", "effect": "NoSchedule" });
        let node = || json!({ "metadata": {}, "spec": { "taints": [taint] } });
        assert!(!allowed(json!({}), node()));
        for (toleration, covers) in [
            (json!({ "operator": "Exists" }), true),
            (json!({ "key": "tpu", "operator": "Exists" }), true),
            (json!({ "key": "tpu", "value": "yes" }), true),
            (json!({ "key": "tpu", "value": "no" }), false),
            (json!({ "key": "gpu", "operator": "Exists" }), false),
            (json!({ "key": "tpu", "value": "yes", "effect": "NoExecute" }), false),
        ] {
            let template = json!({ "tolerations": [toleration] });
            assert_eq!(allowed(template, node()), covers, "{toleration}");
        }
        let soft = json!({ "key": "tpu", "effect": "PreferNoSchedule" });
        assert!(allowed(json!({}), json!({ "metadata": {}, "spec": { "taints": [soft] } })));
    }
}
