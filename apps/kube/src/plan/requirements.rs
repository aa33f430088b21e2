//! A Job's node requirements as the cluster's scheduler interprets them: selector, affinity and
//! taints. A node that the scheduler would reject is not a candidate.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use k8s_openapi::api::core::v1::{
    NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Taint, Toleration,
};

use crate::objects::{Job, Node, Object as _, PodSpec, Quota};

#[derive(Clone, Debug)]
pub(crate) struct NodeRequirements<'a> {
    template: &'a PodSpec,
    /// The Kueue flavors from which the pods will get labels and tolerations.
    flavors: Option<&'a Quota>,
    /// The template's affinity, parsed only once because parsing it for every node would be too
    /// slow.
    affinity: Option<NodeSelector>,
}

impl PartialEq for NodeRequirements<'_> {
    fn eq(&self, other: &NodeRequirements<'_>) -> bool {
        self.template.has_same_requirements(other.template)
            && self.flavor_requirements() == other.flavor_requirements()
    }
}

impl Eq for NodeRequirements<'_> {}

impl Hash for NodeRequirements<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.template.node_selector.hash(state);
        self.template.affinity.hash(state);
        self.flavors.map(|quota| &quota.selector).hash(state);
        for toleration in &self.template.tolerations {
            (&toleration.key, &toleration.value).hash(state);
        }
    }
}

impl<'a> NodeRequirements<'a> {
    pub(crate) fn of(template: &'a PodSpec) -> NodeRequirements<'a> {
        NodeRequirements { template, flavors: None, affinity: template.required() }
    }

    /// Returns the requirements that a Job's pods will have.
    pub(crate) fn of_job(job: &'a Job) -> NodeRequirements<'a> {
        let flavors = job.quota.as_ref();
        NodeRequirements { flavors, ..NodeRequirements::of(&job.spec.template.spec) }
    }

    /// Returns the distinct requirements of several Jobs, all of which must be satisfied.
    pub(crate) fn distinct(jobs: &[&'a Job]) -> Vec<NodeRequirements<'a>> {
        let mut all = Vec::new();
        for job in jobs {
            let own = NodeRequirements::of_job(job);
            if !all.contains(&own) {
                all.push(own);
            }
        }
        all
    }

    fn flavor_requirements(&self) -> Option<(&BTreeMap<String, String>, &[Toleration])> {
        self.flavors.map(|quota| (&quota.selector, &quota.tolerations[..]))
    }

    /// Returns true if the Job's pods may start on a node.
    pub(crate) fn allows(&self, node: &Node) -> bool {
        self.matches_labels(node) && self.tolerates(node)
    }

    /// Returns true if nothing but temporary taints keeps the pods off a node.
    pub(crate) fn could_allow(&self, node: &Node) -> bool {
        self.matches_labels(node) && self.tolerates_all(node, |taint| !is_temporary(taint))
    }

    /// Returns true if a node's labels and name match the requirements.
    fn matches_labels(&self, node: &Node) -> bool {
        let matches = |all: &NodeSelector| {
            all.node_selector_terms.iter().any(|term| matches_term(term, node))
        };
        node.is_selected(&self.template.node_selector)
            && self.flavors.is_none_or(|quota| node.is_selected(&quota.selector))
            && self.affinity.as_ref().is_none_or(matches)
    }

    /// Returns true if the pods tolerate all of a node's taints.
    pub(crate) fn tolerates(&self, node: &Node) -> bool {
        self.tolerates_all(node, |_| true)
    }

    /// Returns true if the pods tolerate each of a node's taints for which `counts` returns true.
    fn tolerates_all(&self, node: &Node, counts: impl Fn(&Taint) -> bool) -> bool {
        let excludes = |taint: &Taint| matches!(&*taint.effect, "NoSchedule" | "NoExecute");
        let of_flavors = || self.flavors.iter().flat_map(|quota| &quota.tolerations);
        let tolerations = || self.template.tolerations.iter().chain(of_flavors());
        let mut taints = node.spec.taints.iter().filter(|taint| excludes(taint) && counts(taint));
        taints.all(|taint| tolerations().any(|one| covers(one, taint)))
    }
}

/// Returns true if a node matches a term. As in the scheduler, a term without expressions matches
/// no node.
fn matches_term(term: &NodeSelectorTerm, node: &Node) -> bool {
    let labels = term.match_expressions.iter().flatten();
    let labels = labels.map(|one| holds(one, node.label(&one.key)));
    let fields = term.match_fields.iter().flatten().map(|one| {
        let value = (one.key == "metadata.name").then(|| node.name());
        holds(one, value)
    });
    let mut all = labels.chain(fields).peekable();
    all.peek().is_some() && all.all(|holds| holds)
}

/// Returns true if a label's value (`None` if the label is missing) satisfies a requirement.
fn holds(requirement: &NodeSelectorRequirement, value: Option<&str>) -> bool {
    let values = requirement.values.as_deref().unwrap_or_default();
    let is_listed = value.is_some_and(|value| values.iter().any(|one| one == value));
    let number = |text: &str| text.parse::<i64>().ok();
    let bound = values.first().and_then(|bound| number(bound));
    let compared = value.and_then(number).zip(bound);
    match requirement.operator.as_str() {
        "In" => is_listed,
        "NotIn" => !is_listed,
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compared.is_some_and(|(value, bound)| value > bound),
        "Lt" => compared.is_some_and(|(value, bound)| value < bound),
        _ => false,
    }
}

/// Returns true if a toleration matches a taint.
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

/// Returns true if a taint reflects a node condition and may therefore disappear on its own.
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
        NodeRequirements::of(&template).allows(&serde_json::from_value(node).unwrap())
    }

    /// Returns an affinity with these terms.
    fn affinity(terms: &Value) -> Value {
        let required = json!({ "nodeSelectorTerms": terms });
        let node = json!({ "requiredDuringSchedulingIgnoredDuringExecution": required });
        json!({ "affinity": { "nodeAffinity": node } })
    }

    #[test]
    fn selectors_and_terms_match_as_in_the_scheduler() {
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
            let requirement = json!({ "key": key, "operator": operator, "values": values });
            let one = affinity(&json!([{ "matchExpressions": [requirement] }]));
            assert_eq!(allowed(one, node()), holds, "{operator} {key}");
        }
        // One matching term is enough; a term without expressions matches nothing.
        let name = |name: &str| {
            let requirement = json!({ "key": "metadata.name", "operator": "In", "values": [name] });
            json!({ "matchFields": [requirement] })
        };
        assert!(allowed(affinity(&json!([name("n0"), name("n1")])), node()));
        assert!(!allowed(affinity(&json!([name("n0"), {}])), node()));
        // A malformed affinity matches no node.
        assert!(!allowed(affinity(&json!("n1")), node()));
    }

    #[test]
    fn untolerated_taints_exclude_nodes() {
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
