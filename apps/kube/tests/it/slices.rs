//! Slices of cubes, on a real control plane. The definition of Slices stands in for GKE's, and
//! their controller is simulated here: no cluster of GKE is to be had.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use crate::cluster::{Cluster, JOBS, User, job, release};
use crate::page::{ask, free_address, state};
use crate::story::complete;

const SLICES: &str = "/apis/accelerator.gke.io/v1beta1/slices";
const STATE: &str = "cloud.google.com/gke-tpu-partition-4x4x4-state";
const OF_SLICE: &str = "cloud.google.com/gke-tpu-slice";

fn definition() -> Value {
    let spec = json!({
        "type": "object", "required": ["type", "topology", "partitionIds"],
        "x-kubernetes-validations": [{ "rule": "self == oldSelf", "message": "immutable" }],
        "properties": {
            "type": { "type": "string", "enum": ["tpu7x"] },
            "topology": { "type": "string", "pattern": "^[0-9]+x[0-9]+x[0-9]+$" },
            "partitionIds": { "type": "array", "minItems": 1, "items": { "type": "string" } },
        },
    });
    let status = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let schema = json!({
        "openAPIV3Schema": { "type": "object", "properties": { "spec": spec, "status": status } },
    });
    let version = json!({
        "name": "v1beta1", "served": true, "storage": true, "schema": schema,
        "subresources": { "status": {} },
    });
    let names = json!({
        "kind": "Slice", "listKind": "SliceList", "plural": "slices", "singular": "slice",
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "slices.accelerator.gke.io" },
        "spec": {
            "group": "accelerator.gke.io", "scope": "Cluster", "names": names,
            "versions": [version],
        },
    })
}

/// Nodes that are whole cubes, in blocks.
fn add_cubes(cluster: &Cluster, blocks: usize, cubes: usize) {
    for block in 0..blocks {
        for cube in 0..cubes {
            let name = format!("b{block}-c{cube}");
            cluster.add_node(&name);
            let labels = json!({
                "cloud.google.com/gke-tpu-partition-4x4x4-id": name, STATE: "HEALTHY",
                "cloud.google.com/gce-topology-block": format!("block{block}"),
            });
            cluster.patch(
                &format!("/api/v1/nodes/{name}"),
                &json!({ "metadata": { "labels": labels } }),
            );
            let one = json!({ "pavior.dev/node": "1" });
            let status = json!({ "status": { "capacity": one, "allocatable": one } });
            cluster.patch(&format!("/api/v1/nodes/{name}/status"), &status);
        }
    }
}

/// The controller: Slices are usable the second time that it looks.
#[derive(Default)]
struct Controller {
    counts: BTreeMap<String, usize>,
}

impl Controller {
    fn step(&mut self, cluster: &Cluster) {
        let Ok(all) = cluster.ask(User::Admin, "GET", SLICES, &Value::Null) else { return };
        let all = all["items"].as_array().unwrap();
        let mut used = HashSet::new();
        for slice in all {
            for id in slice["spec"]["partitionIds"].as_array().unwrap() {
                assert!(used.insert(id.as_str().unwrap()), "a cube is in two Slices: {all:?}");
            }
        }
        for slice in all {
            self.look(cluster, slice);
        }
    }

    fn look(&mut self, cluster: &Cluster, slice: &Value) {
        let name = slice["metadata"]["name"].as_str().unwrap();
        let path = format!("{SLICES}/{name}");
        let finalizers = |names: Value| json!({ "metadata": { "finalizers": names } });
        if slice["metadata"]["deletionTimestamp"].is_string() {
            Self::label(cluster, slice, &Value::Null);
            let _ = cluster.ask(User::Admin, "PATCH", &path, &finalizers(json!([])));
            return;
        }
        match slice["status"]["conditions"][0]["reason"].as_str() {
            None => {
                let mine = finalizers(json!(["accelerator.gke.io/slice-finalizer"]));
                let _ = cluster.ask(User::Admin, "PATCH", &path, &mine);
                self.say(cluster, name, "ACTIVATING");
            }
            Some("ACTIVATING") => {
                Self::label(cluster, slice, &json!(name));
                self.say(cluster, name, "ACTIVE");
            }
            Some("ACTIVE") if !Self::is_well(cluster, slice) => self.say(cluster, name, "FAILED"),
            Some(_) => {}
        }
    }

    fn say(&mut self, cluster: &Cluster, name: &str, reason: &str) {
        let ready = json!({
            "type": "Ready", "status": if reason == "ACTIVE" { "True" } else { "False" },
            "reason": reason, "message": "", "lastTransitionTime": "2026-01-11T23:45:38Z",
        });
        let status = json!({ "status": { "conditions": [ready] } });
        let path = format!("{SLICES}/{name}/status");
        if cluster.ask(User::Admin, "PATCH", &path, &status).is_ok() {
            *self.counts.entry(reason.to_string()).or_default() += 1;
        }
    }

    fn label(cluster: &Cluster, slice: &Value, value: &Value) {
        for id in slice["spec"]["partitionIds"].as_array().unwrap() {
            let labels = json!({ "metadata": { "labels": { OF_SLICE: value } } });
            let path = format!("/api/v1/nodes/{}", id.as_str().unwrap());
            let _ = cluster.ask(User::Admin, "PATCH", &path, &labels);
        }
    }

    fn is_well(cluster: &Cluster, slice: &Value) -> bool {
        slice["spec"]["partitionIds"].as_array().unwrap().iter().all(|id| {
            let path = format!("/api/v1/nodes/{}", id.as_str().unwrap());
            let node = cluster.ask(User::Admin, "GET", &path, &Value::Null);
            node.map_or(true, |node| node["metadata"]["labels"][STATE] == "HEALTHY")
        })
    }
}

/// A cube of a Slice that is active.
fn active_cube(cluster: &Cluster) -> Option<String> {
    let all = cluster.get(SLICES);
    let mut active = all["items"].as_array()?.iter();
    let one = active.find(|one| one["status"]["conditions"][0]["reason"] == "ACTIVE")?;
    one["spec"]["partitionIds"][0].as_str().map(str::to_string)
}

/// The page of an empty machine of two blocks of four cubes, with a spare each.
fn the_page_knows_cubes(cluster: &Cluster, page: &str) {
    cluster.until("the page shows the cubes", || state(page)["machine"] == "mesh:4x2");
    let slots = ask(page, "/v1/slots?shape=4x4x8").1;
    let slots: Value = serde_json::from_str(&slots).unwrap();
    assert_eq!((&slots["slots"], &slots["proven"]), (&json!(2), &json!(true)), "{slots}");
    assert!(ask(page, "/v1/slots?shape=2x2x1").1.contains("not made of cubes"));
    let explained = crate::cluster::ask(
        page,
        "POST",
        "/v1/explain",
        &json!({ "shape": [4, 4, 16] }).to_string(),
    );
    assert!(explained.1.contains("no block has 4 cubes beside 1 spares"), "{}", explained.1);
    let metrics = ask(page, "/metrics").1;
    for line in
        ["pavior_kube_nodes_free{machine=\"tpus\"} 8", "pavior_kube_slots{shape=\"4x4x8\"} 2"]
    {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}

/// Who has cubes, and why others wait; who only looks sees cubes, too.
fn the_page_knows_jobs(cluster: &Cluster, page: &str, looks: &str) {
    cluster.until("the page shows who has cubes, and why others wait", || {
        let state = state(page);
        let has = state["leases"][0]["job"].as_str().unwrap_or_default();
        let waits = state["waiting"][0]["id"].as_str().unwrap_or_default();
        ask(page, &format!("/v1/why/{has}")).1.contains("holds the cubes b")
            && ask(page, &format!("/v1/why/{waits}")).1.contains("cubes of one block")
    });
    let seen = || state(looks)["leases"][0]["job"].is_string();
    cluster.until("who only looks sees cubes, too", seen);
}

#[test]
fn jobs_get_slices_and_others_when_a_cube_fails() {
    let Some(mut cluster) = Cluster::start("slices", release(), [1, 1, 1]) else { return };
    let admin = User::Admin;
    let kinds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    cluster.good(admin, "POST", kinds, &definition());
    cluster.until("Slices are known", || cluster.ask(admin, "GET", SLICES, &Value::Null).is_ok());
    add_cubes(&cluster, 2, 4);
    let machine = json!({
        "apiVersion": "pavior.dev/v1alpha1", "kind": "Machine", "metadata": { "name": "tpus" },
        "spec": { "kind": "slices", "host": "4x4x4", "spares": 1, "slots": ["4x4x8"] },
    });
    let machines = "/apis/pavior.dev/v1alpha1/machines";
    cluster.good(admin, "POST", machines, &machine);
    cluster.start_copy("always");
    let page = free_address();
    cluster.start_copy_as("pavior", "always", &[&page]);
    the_page_knows_cubes(&cluster, &page);
    let looks = free_address();
    cluster.grant("pavior-observe", "Group", "observers");
    cluster.start_copy_as("observer", "observe", &[&looks]);
    for number in 0..8 {
        let (shape, pods) = if number % 2 == 0 { ("8x4x4", 2) } else { ("4x4x4", 1) };
        let mut one = job(&format!("job{number}"), shape, 3);
        one["spec"]["completions"] = json!(pods);
        one["spec"]["parallelism"] = json!(pods);
        cluster.good(User::Alice, "POST", JOBS, &one);
    }
    // No Slice is usable yet, so no Job ends meanwhile.
    the_page_knows_jobs(&cluster, &page, &looks);
    let mut controller = Controller::default();
    let mut broken = None;
    cluster.until("a Slice is active", || {
        controller.step(&cluster);
        broken = active_cube(&cluster);
        broken.is_some()
    });
    cluster.label(&broken.unwrap(), STATE, "UNHEALTHY");
    cluster.until("another is made", || {
        controller.step(&cluster);
        controller.counts.contains_key("FAILED")
    });
    cluster.end_copy(0);
    cluster.start_copy("always");
    cluster.kill("kube-apiserver");
    cluster.until("all are complete", || {
        controller.step(&cluster);
        complete(&cluster) == 8
    });
    cluster.until("no Slice and no record is left", || {
        controller.step(&cluster);
        let placements = cluster.get("/apis/pavior.dev/v1alpha1/placements");
        cluster.get(SLICES)["items"] == json!([]) && placements["items"] == json!([])
    });
    let noted = cluster.get(JOBS);
    let failed = |one: &&Value| one["metadata"]["annotations"]["pavior.dev/failed"].is_string();
    assert!(noted["items"].as_array().unwrap().iter().any(|one| failed(&one)), "{noted}");
    cluster.until("the machine says what is free", || {
        cluster.get(machines)["items"][0]["status"]["free"] == 7
    });
    eprintln!("Slices: {:?}", controller.counts);
    // The daemon alone says that a Slice failed.
    let forged = json!({ "metadata": { "annotations": { "pavior.dev/failed": "1 1 x" } } });
    let path = format!("{JOBS}/job1");
    let (code, message) = cluster.ask(User::Alice, "PATCH", &path, &forged).unwrap_err();
    assert!(code == 422 && message.contains("by pavior kube alone"), "{message}");
}
