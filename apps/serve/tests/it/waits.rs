//! Tests the reasons why requests are waiting, in replies about the queue and a request, and in
//! explanations.

use serde_json::{Value, json};

use crate::client::{Client, has};
use crate::server::{Server, Setup, fresh};

fn waits_for(client: &mut Client, id: &Value) -> Value {
    let queue = client.get("/v1/queue").json();
    let all = queue["waiting"].as_array().unwrap();
    let one = all.iter().find(|one| one["id"] == *id).expect("the request is waiting");
    // All routes give the same reason.
    let alone = client.get(&format!("/v1/leases/{id}")).json();
    assert_eq!(alone["waits_for"], one["waits_for"]);
    let explained = client.post("/v1/explain", json!({ "waiting": id })).json();
    assert_eq!(explained["waits_for"], one["waits_for"]);
    one["waits_for"].clone()
}

/// Makes a request that may wait, and returns its number.
fn ask(client: &mut Client, mut body: Value) -> Value {
    body["wait"] = true.into();
    client.lease(body)["id"].clone()
}

#[test]
fn easy_names_the_reservation_and_its_end() {
    let (server, _) = fresh(|setup| {
        setup.strategy = "gabl".into();
        setup.scheduler = Some("easy".into());
    });
    let mut client = server.client();
    ask(&mut client, json!({ "shape": [8, 4], "job": "runs", "estimate_s": 3600 }));
    let head = ask(&mut client, json!({ "shape": [8, 8], "job": 17, "estimate_s": 30 * 60 }));
    let behind = ask(&mut client, json!({ "shape": [2, 2], "estimate_s": 2 * 3600 }));
    let reason = waits_for(&mut client, &head);
    has(&reason, &json!({ "kind": "nodes", "needed": 64, "free": 32 }));
    assert!(
        reason["sentence"].as_str().unwrap().starts_with("It needs 64 nodes, but only 32 are free")
    );
    let planned = reason["planned"].clone();
    assert!(planned.is_string(), "the head has a reservation: {reason}");

    let reason = waits_for(&mut client, &behind);
    assert_eq!(reason["kind"], "reservation");
    assert_eq!(reason["by"], json!({ "id": head, "job": 17 }));
    assert_eq!(reason["from"], planned);
    assert!(reason["until"].as_str().unwrap() > planned.as_str().unwrap());
    let sentence = reason["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("It fits, but would not end before job 17 starts"), "{sentence}");
}

#[test]
fn a_machine_keeps_its_scheduler_while_requests_are_waiting() {
    let (mut server, setup) = fresh(|setup| setup.scheduler = Some("fcfs".into()));
    let mut client = server.client();
    client.lease(json!({ "shape": [8, 8] }));
    ask(&mut client, json!({ "shape": [1, 1] }));
    server.kill();
    let log = Server::refused(&Setup { scheduler: None, ..setup });
    assert!(log.contains("requests are waiting for machine"), "{log}");
}

#[test]
fn starts_are_planned_again_after_an_immediate_lease_and_a_restart() {
    for scheduler in ["easy", "easy:count", "conservative"] {
        let (mut server, setup) = fresh(|setup| setup.scheduler = Some(scheduler.into()));
        let mut client = server.client();
        ask(&mut client, json!({ "shape": [8, 4], "estimate_s": 600 }));
        let head = ask(&mut client, json!({ "shape": [8, 8], "estimate_s": 60 }));
        let before = waits_for(&mut client, &head)["planned"].clone();
        // This lease bypasses the queue and delays the head.
        let passes = client.lease(json!({ "shape": [2, 2], "estimate_s": 3600 }));
        assert!(passes["start"].is_string(), "{scheduler}: {passes}");
        let after = waits_for(&mut client, &head)["planned"].clone();
        assert!(after.as_str() > before.as_str(), "{scheduler}: {before}, then {after}");
        server.restart(&setup);
        let mut client = server.client();
        assert_eq!(waits_for(&mut client, &head)["planned"], after, "{scheduler}");
    }
}

#[test]
fn a_strict_order_names_the_first_request() {
    let (server, _) = fresh(|setup| setup.scheduler = Some("fcfs".into()));
    let mut client = server.client();
    ask(&mut client, json!({ "shape": [8, 4] }));
    let head = ask(&mut client, json!({ "shape": [8, 8], "job": "large" }));
    let behind = ask(&mut client, json!({ "shape": [2, 2] }));
    assert_eq!(waits_for(&mut client, &head)["kind"], "nodes");
    let reason = waits_for(&mut client, &behind);
    assert_eq!((&reason["kind"], &reason["by"]["job"]), (&json!("turn"), &json!("large")));
    // The sentence does not promise a grant, although the request would fit.
    assert_eq!(reason["sentence"], "It is waiting its turn: under `fcfs`, job large starts first.");
}

#[test]
fn a_missing_place_is_reported_when_enough_nodes_are_free() {
    let (server, _) = fresh(|setup| setup.scheduler = Some("easy".into()));
    let mut client = server.client();
    let hold = r#"{"parts":[{"base":[3,0],"sides":[1,8]}]}"#;
    assert_eq!(client.post("/v1/hold", hold).status, 201);
    let waiting = ask(&mut client, json!({ "shape": [5, 5] }));
    let reason = waits_for(&mut client, &waiting);
    has(&reason, &json!({ "kind": "place", "needed": 25, "free": 56 }));
    let explained = client.post("/v1/explain", json!({ "waiting": waiting })).json();
    assert_eq!(explained["diagnosis"]["missing"], "place");
    let diagnosis = &explained["diagnosis"];
    let why: Vec<&str> =
        diagnosis["why"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(why[0].ends_with("cannot place it on them."), "{why:?}");
    assert!(why[1].starts_with("Blocked on 5x5 at 0,0 by lease 1 (8 nodes)."), "{why:?}");
    assert!(why[2].starts_with("Sooner: moving lease 1 from 1x8 at 3,0 to "), "{why:?}");
    // The blockers and the moves belong to the same place.
    assert_eq!(diagnosis["blocked"]["base"], json!([0, 0]));
    assert_eq!(diagnosis["blocked"]["moves"][0]["job"], diagnosis["blocked"]["jobs"][0]["lease"]);
}

/// Checks that only the diagnosis is omitted.
#[test]
fn a_refusal_omits_its_diagnosis_on_request() {
    let (server, _) = fresh(|_| {});
    let mut client = server.client();
    client.post("/v1/leases", r#"{"shape":[8,8]}"#);
    let body = r#"{"nodes":1}"#;
    let mut asked = |query: &str, key: &str| {
        let reply = client.keyed(&format!("/v1/leases{query}"), body, key);
        assert_eq!(reply.status, 409);
        reply.json()
    };
    let full = asked("", "a");
    assert_eq!(full["diagnosis"]["missing"], "nodes");
    assert_eq!(asked("?diagnosis=full", "b"), full);
    let short = asked("?diagnosis=none", "c");
    assert_eq!(short["diagnosis"], Value::Null);
    assert_eq!(short["reason"], full["reason"]);
    assert_eq!(asked("?diagnosis=none", "c"), short);
    assert_eq!(client.post("/v1/leases?diagnosis=some", body).status, 400);
}

/// Checks that a strategy that grants by count reports missing nodes but no box.
#[test]
fn a_strategy_by_count_reports_missing_nodes_and_no_box() {
    let (server, _) = fresh(|setup| {
        setup.strategy = "paging".into();
        setup.scheduler = Some("conservative".into());
    });
    let mut client = server.client();
    ask(&mut client, json!({ "nodes": 40, "estimate_s": 3600 }));
    let refused = client.post("/v1/leases", r#"{"shape":[6,6]}"#).json();
    let diagnosis = &refused["diagnosis"];
    assert_eq!((&diagnosis["missing"], &diagnosis["needed"]), (&json!("nodes"), &json!(36)));
    for of_boxes in ["fits", "nearest", "largest_free", "blocked"] {
        assert_eq!(diagnosis[of_boxes], Value::Null, "{of_boxes}");
    }
    let head = ask(&mut client, json!({ "shape": [6, 6], "job": "h", "estimate_s": 3600 }));
    let reason = waits_for(&mut client, &head);
    has(&reason, &json!({ "kind": "nodes", "needed": 36, "free": 24 }));
    // This request ends before the first one is planned to start.
    let behind = ask(&mut client, json!({ "nodes": 24, "estimate_s": 20 * 60 }));
    assert_eq!(client.get(&format!("/v1/leases/{behind}")).json()["state"], "held");
    let long = ask(&mut client, json!({ "nodes": 64, "estimate_s": 3600 }));
    assert!(waits_for(&mut client, &long)["planned"].is_string(), "no planned start");
}

#[test]
fn the_reservation_of_another_request_is_named() {
    let (server, _) = fresh(|setup| setup.scheduler = Some("conservative".into()));
    let mut client = server.client();
    ask(&mut client, json!({ "shape": [8, 4], "estimate_s": 3600 }));
    let first = ask(&mut client, json!({ "shape": [8, 8], "job": "all", "estimate_s": 3600 }));
    let long = ask(&mut client, json!({ "shape": [2, 2], "estimate_s": 3 * 3600 }));
    let reason = waits_for(&mut client, &long);
    assert_eq!((&reason["kind"], &reason["by"]["id"]), (&json!("reservation"), &first));
    assert!(reason["planned"].as_str().unwrap() >= reason["until"].as_str().unwrap(), "{reason}");
}

#[test]
fn reasons_do_not_identify_other_tenants() {
    let (server, _) = fresh(|setup| {
        setup.give_tokens(&["a", "b"]);
        setup.scheduler = Some("easy".into());
    });
    let [mut root, mut a, mut b] =
        ["root-secret", "a-secret", "b-secret"].map(|one| server.of(one));
    ask(&mut a, json!({ "shape": [8, 4], "estimate_s": 3600 }));
    let secret = json!({ "shape": [8, 8], "job": "secret", "estimate_s": 3600 });
    let head = ask(&mut a, secret);
    let behind = ask(&mut b, json!({ "shape": [2, 2], "estimate_s": 5 * 3600 }));
    let reason = waits_for(&mut b, &behind);
    has(&reason, &json!({ "kind": "reservation", "by": { "id": null, "job": null } }));
    assert!(reason["from"].is_string() && reason["until"].is_string());
    let text = reason.to_string();
    assert!(text.contains("another tenant's job") && !text.contains("secret"), "{text}");
    assert_eq!(b.post("/v1/explain", json!({ "waiting": head })).status, 404);
    assert_eq!(waits_for(&mut root, &behind)["by"]["job"], "secret");
}

/// Checks that the scheduler plans again at startup, because plans are not recorded.
#[test]
fn reasons_are_the_same_after_a_restart() {
    let (mut server, setup) = fresh(|setup| setup.scheduler = Some("easy".into()));
    let mut client = server.client();
    ask(&mut client, json!({ "shape": [8, 4], "estimate_s": 3600 }));
    let head = ask(&mut client, json!({ "shape": [8, 8], "estimate_s": 3600 }));
    let behind = ask(&mut client, json!({ "shape": [2, 2], "estimate_s": 5 * 3600 }));
    server.restart(&setup);
    let mut client = server.client();
    assert_eq!(waits_for(&mut client, &head)["kind"], "nodes");
    let reason = waits_for(&mut client, &behind);
    assert_eq!((&reason["kind"], &reason["by"]["id"]), (&json!("reservation"), &head));
}
