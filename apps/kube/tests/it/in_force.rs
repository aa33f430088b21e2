//! Checks that the policies are in force by sending objects that they must reject.

use serde_json::{Value, json};

use crate::cluster::objects::{JOBS, PLACEMENTS, PODS, job};
use crate::cluster::{Cluster, User};

/// Returns true if every policy is in force. The policies take effect separately, each of them some
/// time after its creation.
pub(crate) fn hold(cluster: &Cluster) -> bool {
    let tried = |user, path: &str, object: &Value| {
        cluster.ask(user, "POST", &format!("{path}?dryRun=All"), object)
    };
    let refused = |user, path, object: &Value, word: &str| {
        tried(user, path, object).is_err_and(|refusal| refusal.is_invalid(word))
    };
    let bound = pod("bad", &json!({ "nodeName": "n0-0-0" }));
    let gated = |made: Value| made["spec"]["template"]["spec"]["schedulingGates"].is_array();
    refused(User::Alice, JOBS, &job("bad", "0x4", 1), "is not a valid shape")
        && refused(User::Alice, PODS, &bound, "must not set nodeName")
        && refused(User::Admin, PLACEMENTS, &placement("bad"), "only pavior kube may")
        && tried(User::Alice, JOBS, &job("good", "1x1x1", 1)).is_ok_and(gated)
}

/// Returns a pod without an owner and with additional members in its spec.
pub(crate) fn pod(name: &str, more: &Value) -> Value {
    let container = json!({ "name": "main", "image": "toy" });
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name },
        "spec": { "containers": [container], "restartPolicy": "Never" },
    });
    for (key, value) in more.as_object().unwrap() {
        pod["spec"][key] = value.clone();
    }
    pod
}

/// Returns a placement like the ones that the daemon creates.
pub(crate) fn placement(name: &str) -> Value {
    json!({
        "apiVersion": "pavior.dev/v1alpha1", "kind": "Placement", "metadata": { "name": name },
        "spec": { "machine": "pod", "job": "good", "jobUid": "x", "shape": "1x1x1", "box": "x",
                  "nodes": ["n0-0-0"] },
    })
}
