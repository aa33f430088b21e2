//! Tests of reconciliation against a stub API server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pavior_cluster::metrics::{registry, text};
use prometheus_client::registry::Registry;
use serde_json::{Value, json};

use super::reconciler::Reconciler;
use super::stub_server::{Reply, Request, StubServer};
use crate::health::Health;
use crate::metrics::Metrics;
use crate::objects::{CheckState, Job, Machine, Object as _, ObjectRef};
use crate::page::Page;
use crate::plan::{Action, CheckAnswer, CheckUpdate};
use crate::read::ClusterWatch;
use crate::write::WriteError;

/// An active replica and the API server that it writes to.
struct Replica {
    server: StubServer,
    reconciler: Reconciler,
    cluster: ClusterWatch,
    registry: Registry,
}

impl Replica {
    async fn start(reply: impl FnMut(&Request) -> Reply + Send + 'static) -> Replica {
        let server = StubServer::start(reply).await;
        let mut registry = registry("pavior_kube");
        let metrics = Metrics::register(&mut registry);
        let health = Arc::<Health>::default();
        let mut reconciler = Reconciler::new(Some(server.writer()), health, metrics, None);
        reconciler.set_leader(true);
        Replica { server, reconciler, cluster: ClusterWatch::default(), registry }
    }

    async fn reconcile(&mut self) {
        self.reconciler.reconcile(&self.cluster).await.unwrap();
    }

    fn add_machine(&mut self, uid: &str, version: u32, more: &Value) {
        let machine = machine("m", uid, version, more);
        self.cluster.world.machines.insert("m".into(), machine);
    }

    fn add_job(&mut self, namespace: &str, name: &str) {
        let shape = json!({ "pavior.dev/shape": "1x1" });
        let metadata =
            json!({ "name": name, "namespace": namespace, "uid": name, "annotations": shape });
        let job = json!({ "metadata": metadata, "spec": {} });
        let job: Job = serde_json::from_value(job).unwrap();
        self.cluster.world.jobs.insert(job.uid(), job);
    }

    fn writes(&self, part: &str) -> usize {
        self.server.requests(part).len()
    }
}

/// Returns a machine with two nodes that do not exist in the cluster.
fn machine(name: &str, uid: &str, version: u32, more: &Value) -> Machine {
    let mut machine = json!({
        "apiVersion": "pavior.dev/v1alpha1", "kind": "Machine",
        "metadata": { "name": name, "uid": uid, "resourceVersion": version.to_string() },
        "spec": { "grid": "mesh:2x1", "nodes": { "pattern": format!("{name}{{x}}-{{y}}") } },
    });
    for (member, value) in more.as_object().unwrap() {
        machine[member] = value.clone();
    }
    serde_json::from_value(machine).unwrap()
}

/// Accepts every write, assigning version 10 to new statuses.
fn accept(request: &Request) -> Reply {
    let is_status = request.path.contains("/machines/");
    let machine = || json!(machine("m", "a", 10, &json!({})));
    Reply::ok(if is_status { machine() } else { request.body.clone() })
}

#[tokio::test]
async fn a_status_that_another_replica_wrote_is_corrected() {
    let mut replica = Replica::start(accept).await;
    replica.add_machine("a", 1, &json!({ "status": { "missing": 2 } }));
    replica.reconcile().await;
    assert_eq!(replica.writes("status"), 0, "it is up to date");
    replica.add_machine("a", 2, &json!({ "status": { "missing": 2, "busy": 8 } }));
    replica.reconcile().await;
    assert_eq!(replica.writes("status"), 1);
    assert_eq!(replica.server.requests("status")[0].body["status"]["busy"], 0);
    // The watch has not delivered this write yet.
    replica.reconcile().await;
    assert_eq!(replica.writes("status"), 1);
    replica.add_machine("a", 11, &json!({ "status": { "missing": 2, "busy": 8 } }));
    replica.reconcile().await;
    assert_eq!(replica.writes("status"), 2);
}

#[tokio::test]
async fn a_recreated_machine_gets_a_status() {
    let mut replica = Replica::start(accept).await;
    for (uid, writes) in [("a", 1), ("b", 2)] {
        replica.add_machine(uid, 1, &json!({}));
        replica.reconcile().await;
        assert_eq!(replica.writes("status"), writes);
    }
}

#[tokio::test]
async fn a_rejected_status_is_reported_and_retried_later() {
    let reject = |_: &Request| Reply::error(403, "cannot patch resource \"machines/status\"");
    let mut replica = Replica::start(reject).await;
    replica.add_machine("a", 1, &json!({}));
    // During an outage, the write is retried soon, and the rejection is not reported.
    replica.reconciler.note_unreadable(&[("placements".into(), "x".into())].into());
    replica.reconcile().await;
    assert_eq!(replica.reconciler.pause(), Duration::from_secs(2));
    replica.reconciler.note_unreadable(&BTreeMap::new());
    for _ in 0..2 {
        replica.reconcile().await;
        let pause = replica.reconciler.pause();
        assert!(pause > Duration::from_secs(2) && pause <= Duration::from_secs(10), "{pause:?}");
    }
    assert_eq!(replica.writes("status"), 2);
    let metrics = text(&replica.registry);
    assert!(metrics.contains("pavior_kube_refused_total{change=\"status\"} 1"), "{metrics}");
}

#[tokio::test]
async fn a_namespace_that_rejects_events_does_not_delay_others() {
    let reply = |request: &Request| {
        let is_full = request.path.contains("/namespaces/full/");
        if is_full { Reply::error(403, "exceeded quota") } else { accept(request) }
    };
    let mut replica = Replica::start(reply).await;
    (10..26).for_each(|job| replica.add_job("full", &format!("job{job}")));
    replica.add_job("team", "job26");
    for _ in 0..2 {
        replica.reconcile().await;
    }
    assert_eq!(replica.writes("/namespaces/team/events"), 1);
    assert_eq!(replica.writes("/namespaces/full/events"), 1);
    let pause = replica.reconciler.pause();
    assert!(pause > Duration::from_secs(20), "the namespace is tried again later: {pause:?}");
    let metrics = text(&replica.registry);
    assert!(metrics.contains("pavior_kube_refused_total{change=\"event\"} 1"), "{metrics}");
}

#[tokio::test]
async fn a_reconciliation_publishes_few_events_and_none_twice() {
    let mut replica = Replica::start(accept).await;
    (10..50).for_each(|job| replica.add_job("team", &format!("job{job}")));
    for events in [16, 32, 40, 40] {
        replica.reconcile().await;
        assert_eq!(replica.writes("events"), events);
        let pause = replica.reconciler.pause();
        assert_eq!(pause <= Duration::from_secs(2), events < 40, "{pause:?}");
    }
    // A reason that changes too soon is published once the interval has passed.
    let machines = ["m", "other"].map(|name| (name.into(), machine(name, name, 1, &json!({}))));
    replica.cluster.world.machines.extend(machines);
    replica.reconcile().await;
    assert_eq!(replica.writes("events"), 40);
    let pause = replica.reconciler.pause();
    assert!(pause > Duration::from_secs(20) && pause <= Duration::from_secs(30), "{pause:?}");
}

#[tokio::test]
async fn a_machine_with_many_events_does_not_delay_others() {
    let mut replica = Replica::start(accept).await;
    replica.add_machine("a", 1, &json!({}));
    (10..50).for_each(|job| replica.add_job("team", &format!("job{job}")));
    replica.add_job("stray", "stray");
    let stray = replica.cluster.world.jobs.values_mut().find(|job| job.name() == "stray").unwrap();
    let annotations = stray.metadata.annotations.as_mut().unwrap();
    annotations.insert("pavior.dev/machine".into(), "other".into());
    replica.reconcile().await;
    assert_eq!(replica.writes("/namespaces/team/events"), 16);
    assert_eq!(replica.writes("/namespaces/stray/events"), 1);
}

#[tokio::test]
async fn an_idle_replica_plans_again_in_case_maintenance_ends() {
    let mut replica = Replica::start(accept).await;
    replica.reconcile().await;
    assert!(replica.reconciler.pause() <= Duration::from_mins(1));
}

#[tokio::test]
async fn metrics_omit_faulty_and_deleted_machines() {
    let mut replica = Replica::start(accept).await;
    let free = "pavior_kube_nodes_free{machine=\"m\"}";
    let is_shown = |replica: &Replica| text(&replica.registry).contains(free);
    for uid in ["a", "b"] {
        replica.add_machine(uid, 1, &json!({}));
        replica.reconcile().await;
        assert!(is_shown(&replica));
        if uid == "a" {
            replica.add_machine(uid, 2, &json!({ "spec": { "grid": "mesh:0x1", "nodes": {} } }));
        } else {
            replica.cluster.world.machines.clear();
        }
        replica.reconcile().await;
        assert!(!is_shown(&replica));
    }
}

#[tokio::test]
async fn the_page_shows_the_first_valid_machine() {
    let mut registry = registry("pavior_kube");
    let metrics = Metrics::register(&mut registry);
    let page = Page::new("127.0.0.1:0".into(), None, registry);
    let mut reconciler = Reconciler::new(None, Arc::default(), metrics, Some(page));
    let mut cluster = ClusterWatch::default();
    let invalid = machine("a", "a", 1, &json!({ "spec": { "grid": "mesh:0x1", "nodes": {} } }));
    let valid = machine("b", "b", 1, &json!({}));
    cluster.world.machines.extend([("a".into(), invalid), ("b".into(), valid)]);
    reconciler.reconcile(&cluster).await.unwrap();
    let page = reconciler.page.unwrap();
    assert!(page.board.is_some() && page.accepts("b") && !page.accepts("a"));
}

#[tokio::test]
async fn a_check_whose_placement_was_deleted_is_answered_at_once() {
    let mut replica = Replica::start(accept).await;
    let check = |state, placement: Option<&str>| {
        let named = |name: &str| ObjectRef { name: name.into(), ..ObjectRef::default() };
        let placement = placement.map(named);
        let answer = CheckAnswer { state, message: String::new(), retry_delay_s: None };
        let (workload, check) = (ObjectRef::default(), "place".to_string());
        Action::Check(CheckUpdate { workload, index: 0, check, answer, placement })
    };
    let ready = check(CheckState::Ready, Some("old"));
    replica.reconciler.settle("m", &ready, Err(WriteError::Conflict), 0);
    let later = [check(CheckState::Retry, None), check(CheckState::Ready, Some("new"))];
    let all = [&later[..], &[ready]].concat();
    assert_eq!(replica.reconciler.skip_recent(all), later);
}
