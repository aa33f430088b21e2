//! JSON patches that open pods. A patch fails if the pod was replaced or its gates have changed.

use serde_json::{Value, json};

use crate::objects::{CompactJson, GATE, Object as _, Pod};

/// The member that contains the required part of a node affinity.
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
/// The path of the required node affinity within a pod.
const REQUIRED_PATH: &str =
    "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";

/// Annotations for the program in the pod, as names (without `pavior.dev/`) and values.
pub(crate) type Annotations = [(&'static str, String); 3];

/// Returns the patch that opens a gated pod for a node, or `None` if the pod is not gated. With
/// `matchFields`, the scheduler examines a single node; with a selector, it would examine all
/// nodes. The pod keeps its requirements, because the node name is added to each term.
pub(crate) fn open(pod: &Pod, node: &str, annotations: &Annotations) -> Option<Value> {
    remove_gate(pod, &[confine(pod, node), annotate(pod, annotations)].concat())
}

/// Returns the patch that applies changes and then removes the gate, or `None` for an ungated pod.
pub(crate) fn remove_gate(pod: &Pod, changes: &[Value]) -> Option<Value> {
    let gate = format!("/spec/schedulingGates/{}", pod.spec.gate()?);
    let uid = json!({ "op": "test", "path": "/metadata/uid", "value": pod.uid().0 });
    let name = json!({ "op": "test", "path": format!("{gate}/name"), "value": GATE });
    let removal = json!({ "op": "remove", "path": gate });
    Some(Value::Array([&[uid, name], changes, &[removal]].concat()))
}

/// Returns the patch operations that confine a pod to a node.
fn confine(pod: &Pod, node: &str) -> Vec<Value> {
    let field = json!({ "key": "metadata.name", "operator": "In", "values": [node] });
    let new = json!({ "nodeSelectorTerms": [{ "matchFields": [field] }] });
    let new_affinity = json!({ REQUIRED: new });
    let add = |path: &str, value: &Value| json!({ "op": "add", "path": path, "value": value });
    let affinity = pod.spec.affinity.as_ref().map(CompactJson::value);
    let Some(affinity) = affinity.as_ref().filter(|one| one.is_object()) else {
        return vec![add("/spec/affinity", &json!({ "nodeAffinity": new_affinity }))];
    };
    let Some(node_affinity) = affinity.get("nodeAffinity").filter(|one| one.is_object()) else {
        return vec![add("/spec/affinity/nodeAffinity", &new_affinity)];
    };
    let terms = node_affinity
        .get(REQUIRED)
        .and_then(|required| required.get("nodeSelectorTerms"))
        .and_then(Value::as_array);
    let Some(terms) = terms.filter(|terms| !terms.is_empty()) else {
        return vec![add(REQUIRED_PATH, &new)];
    };
    let patches = terms.iter().enumerate().map(|(at, term)| {
        let path = format!("{REQUIRED_PATH}/nodeSelectorTerms/{at}/matchFields");
        if term.get("matchFields").is_some_and(Value::is_array) {
            add(&format!("{path}/-"), &field)
        } else {
            add(&path, &json!([field]))
        }
    });
    patches.collect()
}

/// Returns the patch operations that annotate a pod. A patch can add only to an existing map, which
/// every pod of an Indexed Job has. A pod without annotations is left unchanged.
fn annotate(pod: &Pod, annotations: &Annotations) -> Vec<Value> {
    if pod.metadata.annotations.is_none() {
        return Vec::new();
    }
    let path = |name: &str| format!("/metadata/annotations/pavior.dev~1{name}");
    annotations
        .iter()
        .map(|(name, value)| json!({ "op": "add", "path": path(name), "value": value }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(affinity: &Value) -> Pod {
        let gates = json!([{ "name": "other" }, { "name": GATE }]);
        let spec = json!({ "schedulingGates": gates, "affinity": affinity });
        let rank = json!({ "batch.kubernetes.io/job-completion-index": "3" });
        let metadata = json!({ "uid": "u1", "name": "p", "labels": rank, "annotations": rank });
        serde_json::from_value(json!({ "metadata": metadata, "spec": spec })).unwrap()
    }

    fn opened(pod: &Pod) -> Option<Value> {
        open(pod, "n7", &["box", "coordinates", "neighbours"].map(|name| (name, String::new())))
    }

    fn paths(affinity: &Value) -> Vec<String> {
        let patch = opened(&pod(affinity)).unwrap();
        let steps = patch.as_array().unwrap().iter();
        let place = |step: &Value| step["path"].as_str().unwrap().to_string();
        steps.filter(|step| step["op"] == "add").map(place).collect()
    }

    #[test]
    fn the_patch_tests_uid_and_gate_and_removes_the_gate_last() {
        let patch = opened(&pod(&Value::Null)).unwrap();
        assert_eq!(patch[0]["path"], "/metadata/uid");
        assert_eq!(patch[1]["path"], "/spec/schedulingGates/1/name");
        let last = patch.as_array().unwrap().last().unwrap();
        assert_eq!(*last, json!({ "op": "remove", "path": "/spec/schedulingGates/1" }));
    }

    #[test]
    fn existing_requirements_are_kept() {
        let terms =
            |terms: Value| json!({ "nodeAffinity": { REQUIRED: { "nodeSelectorTerms": terms } } });
        assert_eq!(paths(&Value::Null)[0], "/spec/affinity");
        assert_eq!(paths(&json!({ "podAffinity": {} }))[0], "/spec/affinity/nodeAffinity");
        let soft = json!({ "nodeAffinity": { "preferred": [] } });
        assert_eq!(paths(&soft)[0], REQUIRED_PATH);
        let both = terms(json!([{ "matchExpressions": [] }, { "matchFields": [] }]));
        let found = paths(&both);
        assert!(found[0].ends_with("nodeSelectorTerms/0/matchFields"), "{found:?}");
        assert!(found[1].ends_with("nodeSelectorTerms/1/matchFields/-"), "{found:?}");
    }

    #[test]
    fn a_pod_with_a_rank_but_without_annotations_is_opened_without_them() {
        let mut pod = pod(&Value::Null);
        let annotations =
            |pod: &Pod| opened(pod).unwrap().to_string().matches("pavior.dev~1").count();
        assert_eq!(annotations(&pod), 3);
        pod.metadata.annotations = None;
        assert_eq!(annotations(&pod), 0);
    }

    #[test]
    fn a_pod_without_our_gate_is_not_opened() {
        let mut open_pod = pod(&Value::Null);
        open_pod.spec.scheduling_gates.clear();
        assert!(opened(&open_pod).is_none());
    }
}
