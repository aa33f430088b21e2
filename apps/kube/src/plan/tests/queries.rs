//! Tests for the commands that read a cluster once.

use serde_json::json;

use super::kueue::Kueue;
use super::model::Model;
use super::small::settle;
use crate::query::{Cluster, Entry, JobState};

/// Reads the model's cluster 10,000 seconds after the Unix epoch.
fn read(model: Model) -> Cluster {
    Cluster::new(model.world, 10_000)
}

fn why(cluster: &Cluster, name: &str) -> Entry {
    cluster.why("default", name, 2).unwrap()
}

#[test]
fn jobs_that_the_daemon_would_place_next_fit() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    model.add_job("train", "4x2", &json!({}));
    model.add_job_of("set", 1, "4x1", 2);
    model.add_job_of("set", 0, "4x1", 2);
    model.add_waiting_job("large", "4x4");
    model.add_job("another", "1x1", &json!({}));
    let cluster = read(model);
    let all = cluster.queue();
    let states: Vec<_> = all.iter().map(|entry| (entry.name.as_str(), entry.state)).collect();
    let (fits, waits, new) = (JobState::Fits, JobState::Waits, JobState::New);
    let expected =
        [("train", fits), ("set-0", fits), ("set-1", fits), ("large", waits), ("another", new)];
    assert_eq!(states, expected);
    let reason = "Its box 4x2 at 0,0 is free, and the daemon will place it next.";
    assert_eq!(why(&cluster, "train").why.as_deref(), Some(reason));
}

#[test]
fn suspended_jobs_that_hold_quota_are_in_the_queue() {
    let mut model = Model::new("mesh:4x4", &json!({ "admissionCheck": "place" }));
    let mut kueue = Kueue::new(&mut model, 64, json!({}));
    let first = model.add_job("first", "4x2", &json!({}));
    model.limit(&first, 600);
    settle(&mut model);
    let older = Kueue::submit(&mut model, "older", "4x4", 0);
    model.limit(&older, 600);
    kueue.step(&mut model, 0);
    Kueue::submit(&mut model, "idle", "1x1", 0);
    model.add_waiting_job("behind", "4x2");
    let cluster = read(model);
    let states = ["older", "behind", "idle"].map(|name| why(&cluster, name).state);
    assert_eq!(states, [JobState::Waits, JobState::Waits, JobState::Suspended]);
    assert!(why(&cluster, "older").starts < why(&cluster, "behind").starts);
}

#[test]
fn jobs_on_a_faulty_machine_never_start() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    model.add_job("a", "4x4", &json!({}));
    let idle = model.add_job("idle", "4x4", &json!({}));
    model.suspend(&idle, true);
    model.make_pods();
    model.world.machines.get_mut("m").unwrap().spec.grid = "mesh:0".into();
    let cluster = read(model);
    let (faulty, idle) = (why(&cluster, "a"), why(&cluster, "idle"));
    assert_eq!((faulty.state, idle.state), (JobState::Never, JobState::Suspended));
    let reason = faulty.why.unwrap();
    assert!(reason.starts_with("Machine m: grid: `mesh:0`") && idle.why.is_none(), "{reason}");
}

#[test]
fn jobs_wait_if_the_account_cannot_read_kueue_objects() {
    let mut model = Model::new("mesh:4x4", &json!({ "admissionCheck": "place" }));
    model.world.kueue.fault = Some("cannot list resourceflavors: forbidden".into());
    model.add_waiting_job("a", "4x4");
    let entry = why(&read(model), "a");
    let reason = "Machine m: admissionCheck: cannot list resourceflavors: forbidden";
    assert_eq!((entry.state, entry.why.as_deref()), (JobState::Waits, Some(reason)));
}
