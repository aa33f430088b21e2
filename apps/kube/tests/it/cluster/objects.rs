//! Objects of the API and their paths.

use serde_json::{Value, json};

use super::mutates;

pub(crate) const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";
pub(crate) const PLACEMENTS: &str = "/apis/pavior.dev/v1alpha1/namespaces/default/placements";

/// The difference between a Job's time limit and its run time, in seconds.
const SLACK_S: u32 = 4;

/// Returns a Job as a user would write it, with only a shape.
pub(crate) fn job(name: &str, shape: &str, run_s: u32) -> Value {
    let nodes: u64 = shape.split('x').map(|side| side.parse::<u64>().unwrap()).product();
    let container = json!({ "name": "main", "image": "toy" });
    let annotations = json!({
        "pavior.dev/shape": shape, "pavior.dev/seconds": (run_s + SLACK_S).to_string(),
    });
    // On clusters that support such policies, a policy adds the gate and the resource instead.
    let mut spec = json!({ "restartPolicy": "Never", "containers": [container] });
    if !mutates() {
        spec["schedulingGates"] = json!([{ "name": "pavior.dev/placement" }]);
        spec["tolerations"] = json!([{ "key": "pavior.dev/machine", "operator": "Exists" }]);
        spec["containers"][0]["resources"] = json!({ "limits": { "pavior.dev/node": "1" } });
    }
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": name, "annotations": annotations },
        "spec": {
            "completions": nodes, "parallelism": nodes, "completionMode": "Indexed",
            "backoffLimit": 1000,
            "template": {
                "metadata": { "annotations": { "toy/seconds": run_s.to_string() } },
                "spec": spec,
            },
        },
    })
}

/// Changes a Job's number of pods.
pub(crate) fn set_pods(job: &mut Value, pods: u32) {
    job["spec"]["completions"] = json!(pods);
    job["spec"]["parallelism"] = json!(pods);
}

/// Returns the API path for creating an object.
pub(super) fn creation_path(object: &Value) -> String {
    let version = object["apiVersion"].as_str().unwrap();
    let root = if version.contains('/') { "/apis" } else { "/api" };
    let namespace = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("namespaces/{namespace}/"),
        None => String::new(),
    };
    let kind = object["kind"].as_str().unwrap().to_lowercase();
    let plural = match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{kind}s"),
    };
    format!("{root}/{version}/{namespace}{plural}")
}
