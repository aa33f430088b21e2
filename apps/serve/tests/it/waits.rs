//! Tests the reported reasons for waiting: in the queue, for a single request and in explanations.

use serde_json::{Value, json};

use crate::client::{Client, has};
use crate::server::{fresh, served_by, shared};

/// Returns the reason why a request is waiting, after checking that all routes agree.
fn reason_on_all_routes(client: &mut Client, id: &Value) -> Value {
    let queue = client.get("/v1/queue").json();
    let all = queue["waiting"].as_array().unwrap();
    let one = all.iter().find(|one| one["id"] == *id).expect("the request is waiting");
    let alone = client.get(&format!("/v1/leases/{id}")).json();
    assert_eq!(alone["waits_for"], one["waits_for"]);
    let explained = client.post("/v1/explain", json!({ "waiting": id })).json();
    assert_eq!(explained["waits_for"], one["waits_for"]);
    one["waits_for"].clone()
}

/// Sends a request that may wait, and returns its id.
fn ask(client: &mut Client, mut body: Value) -> Value {
    body["wait"] = true.into();
    client.lease(body)["id"].clone()
}

#[test]
fn easy_names_the_reservation_and_its_end() {
    let (_server, mut client) = served_by("easy", |setup| setup.strategy = "gabl".into());
    ask(&mut client, json!({ "shape": [8, 4], "job": "runs", "estimate_s": 3600 }));
    let head = ask(&mut client, json!({ "shape": [8, 8], "job": 17, "estimate_s": 30 * 60 }));
    let behind = ask(&mut client, json!({ "shape": [2, 2], "estimate_s": 2 * 3600 }));
    let reason = reason_on_all_routes(&mut client, &head);
    has(&reason, &json!({ "kind": "nodes", "needed": 64, "free": 32 }));
    assert!(
        reason["sentence"].as_str().unwrap().starts_with("It needs 64 nodes, but only 32 are free")
    );
    let planned = reason["planned"].clone();
    assert!(planned.is_string(), "the head has a reservation: {reason}");

    let reason = reason_on_all_routes(&mut client, &behind);
    assert_eq!(reason["kind"], "reservation");
    assert_eq!(reason["by"], json!({ "id": head, "job": 17 }));
    assert_eq!(reason["from"], planned);
    assert!(reason["until"].as_str().unwrap() > planned.as_str().unwrap());
    let sentence = reason["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("It fits, but would not end before job 17 starts"), "{sentence}");
}

#[test]
fn starts_are_planned_again_after_an_immediate_lease_and_a_restart() {
    for scheduler in ["easy", "easy:count", "conservative"] {
        let (mut server, setup) = fresh(|setup| setup.scheduler = Some(scheduler.into()));
        let mut client = server.client();
        ask(&mut client, json!({ "shape": [8, 4], "estimate_s": 600 }));
        let head = ask(&mut client, json!({ "shape": [8, 8], "estimate_s": 60 }));
        let planned = |client: &mut Client| {
            let reason = reason_on_all_routes(client, &head);
            reason["planned"].as_str().expect("the head has a planned start").to_string()
        };
        let before = planned(&mut client);
        // This lease bypasses the queue and delays the first waiting request.
        let passes = client.lease(json!({ "shape": [2, 2], "estimate_s": 3600 }));
        assert!(passes["start"].is_string(), "{scheduler}: {passes}");
        let after = planned(&mut client);
        assert!(after > before, "{scheduler}: {before}, then {after}");
        server.restart(&setup);
        assert_eq!(planned(&mut server.client()), after, "{scheduler}");
    }
}

#[test]
fn a_strict_order_names_the_first_request() {
    let (_server, mut client) = served_by("fcfs", |_| {});
    ask(&mut client, json!({ "shape": [8, 4] }));
    let head = ask(&mut client, json!({ "shape": [8, 8], "job": "large" }));
    let behind = ask(&mut client, json!({ "shape": [2, 2] }));
    assert_eq!(reason_on_all_routes(&mut client, &head)["kind"], "nodes");
    let reason = reason_on_all_routes(&mut client, &behind);
    assert_eq!((&reason["kind"], &reason["by"]["job"]), (&json!("turn"), &json!("large")));
    // The sentence does not promise a grant, even though the request would fit.
    assert_eq!(reason["sentence"], "It is waiting its turn: under `fcfs`, job large starts first.");
}

#[test]
fn a_missing_place_is_reported_when_enough_nodes_are_free() {
    let (_server, mut client) = served_by("easy", |_| {});
    let hold = json!({ "parts": [{ "base": [3, 0], "sides": [1, 8] }] });
    assert_eq!(client.post("/v1/hold", hold).status, 201);
    let waiting = ask(&mut client, json!({ "shape": [5, 5] }));
    let reason = reason_on_all_routes(&mut client, &waiting);
    has(&reason, &json!({ "kind": "place", "needed": 25, "free": 56 }));
    let explained = client.post("/v1/explain", json!({ "waiting": waiting })).json();
    assert_eq!(explained["diagnosis"]["missing"], "place");
    let diagnosis = &explained["diagnosis"];
    let why: Vec<&str> =
        diagnosis["why"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(why[0].ends_with("cannot place it on them."), "{why:?}");
    assert!(why[1].starts_with("Blocked on 5x5 at 0,0 by lease 1 (8 nodes)."), "{why:?}");
    assert!(why[2].starts_with("Moving lease 1 from 1x8 at 3,0 to "), "{why:?}");
    // The blockers and the moves refer to the same box.
    assert_eq!(diagnosis["blocked"]["base"], json!([0, 0]));
    assert_eq!(diagnosis["blocked"]["moves"][0]["job"], diagnosis["blocked"]["jobs"][0]["lease"]);
}

#[test]
fn a_strategy_by_count_reports_missing_nodes_and_no_box() {
    let (_server, mut client) = served_by("conservative", |setup| setup.strategy = "paging".into());
    ask(&mut client, json!({ "nodes": 40, "estimate_s": 3600 }));
    let refused = client.post("/v1/leases", json!({ "shape": [6, 6] })).json();
    let diagnosis = &refused["diagnosis"];
    assert_eq!((&diagnosis["missing"], &diagnosis["needed"]), (&json!("nodes"), &json!(36)));
    for of_boxes in ["fits", "nearest", "largest_free", "blocked"] {
        assert_eq!(diagnosis[of_boxes], Value::Null, "{of_boxes}");
    }
    let head = ask(&mut client, json!({ "shape": [6, 6], "job": "h", "estimate_s": 3600 }));
    let reason = reason_on_all_routes(&mut client, &head);
    has(&reason, &json!({ "kind": "nodes", "needed": 36, "free": 24 }));
    // This request would end before the planned start of the first request.
    let behind = ask(&mut client, json!({ "nodes": 24, "estimate_s": 20 * 60 }));
    assert_eq!(client.get(&format!("/v1/leases/{behind}")).json()["state"], "held");
    let long = ask(&mut client, json!({ "nodes": 64, "estimate_s": 3600 }));
    assert!(reason_on_all_routes(&mut client, &long)["planned"].is_string(), "no planned start");
}

#[test]
fn the_reservation_of_another_request_is_named() {
    let (_server, mut client) = served_by("conservative", |_| {});
    ask(&mut client, json!({ "shape": [8, 4], "estimate_s": 3600 }));
    let first = ask(&mut client, json!({ "shape": [8, 8], "job": "all", "estimate_s": 3600 }));
    let long = ask(&mut client, json!({ "shape": [2, 2], "estimate_s": 3 * 3600 }));
    let reason = reason_on_all_routes(&mut client, &long);
    assert_eq!((&reason["kind"], &reason["by"]["id"]), (&json!("reservation"), &first));
    assert!(reason["planned"].as_str().unwrap() >= reason["until"].as_str().unwrap(), "{reason}");
}

#[test]
fn reasons_do_not_identify_other_tenants() {
    let (server, mut root) = shared(&["a", "b"], |setup| setup.scheduler = Some("easy".into()));
    let (mut a, mut b) = (server.of("a-secret"), server.of("b-secret"));
    ask(&mut a, json!({ "shape": [8, 4], "estimate_s": 3600 }));
    let secret = json!({ "shape": [8, 8], "job": "secret", "estimate_s": 3600 });
    let head = ask(&mut a, secret);
    let behind = ask(&mut b, json!({ "shape": [2, 2], "estimate_s": 5 * 3600 }));
    let reason = reason_on_all_routes(&mut b, &behind);
    has(&reason, &json!({ "kind": "reservation", "by": { "id": null, "job": null } }));
    assert!(reason["from"].is_string() && reason["until"].is_string());
    let text = reason.to_string();
    assert!(text.contains("another tenant's job") && !text.contains("secret"), "{text}");
    assert_eq!(b.post("/v1/explain", json!({ "waiting": head })).status, 404);
    assert_eq!(reason_on_all_routes(&mut root, &behind)["by"]["job"], "secret");
}

#[test]
fn reasons_are_the_same_after_a_restart() {
    let (mut server, setup) = fresh(|setup| setup.scheduler = Some("easy".into()));
    let mut client = server.client();
    ask(&mut client, json!({ "shape": [8, 4], "estimate_s": 3600 }));
    let head = ask(&mut client, json!({ "shape": [8, 8], "estimate_s": 3600 }));
    let behind = ask(&mut client, json!({ "shape": [2, 2], "estimate_s": 5 * 3600 }));
    let reasons = |client: &mut Client| [&head, &behind].map(|id| reason_on_all_routes(client, id));
    let before = reasons(&mut client);
    assert_eq!((&before[0]["kind"], &before[1]["kind"]), (&json!("nodes"), &json!("reservation")));
    assert_eq!(before[1]["by"]["id"], head);
    server.restart(&setup);
    assert_eq!(reasons(&mut server.client()), before);
}
