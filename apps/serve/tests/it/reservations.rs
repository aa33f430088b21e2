//! Tests advance reservations over HTTP, and plans that free nodes by a deadline.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pavior::time::Date;
use serde_json::{Value, json};

use crate::client::{Client, batch, has, until, watch};
use crate::server::{fresh, served_by, shared};

/// Formats the time `seconds` seconds from now.
pub(crate) fn at(seconds: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    let seconds = now.as_secs().checked_add_signed(seconds).expect("it is after 1970");
    Date(Duration::from_secs(seconds)).to_string()
}

fn left(from: i64, to: i64) -> Value {
    json!({ "parts": [{ "base": [0, 0], "sides": [4, 8] }], "from": at(from), "to": at(to),
            "name": "cooling" })
}

fn reserved(client: &mut Client) -> Vec<Value> {
    let list = client.get("/v1/reservations").json();
    list["reservations"].as_array().unwrap().clone()
}

#[test]
fn no_lease_overlaps_a_reservation_even_after_a_restart() {
    let (mut server, setup) = fresh(|setup| setup.scheduler = Some("easy".into()));
    let mut client = server.client();
    let long = client.lease(json!({ "shape": [2, 2], "estimate_s": 7200 }));
    let reply = client.post("/v1/reservations", left(3600, 5400));
    assert_eq!(reply.status, 201);
    let one = reply.json();
    has(&one, &json!({ "machine": "default", "name": "cooling", "leases": [long["id"]] }));
    // A job can start in the right half, or anywhere if it ends before the reservation starts.
    let beside = client.lease(json!({ "shape": [4, 8], "estimate_s": 90_000 }));
    assert_eq!(beside["parts"][0]["base"], json!([4, 0]));
    let refused = client.post("/v1/leases", json!({ "shape": [2, 8], "ttl_s": 4000 }));
    refused.is(409, "reserved");
    let detail = refused.json()["detail"].as_str().unwrap().to_string();
    assert!(detail.contains(one["from"].as_str().unwrap()), "{detail}");
    let before = client.lease(json!({ "shape": [2, 8], "ttl_s": 1800 }));
    assert_eq!(before["parts"][0]["base"], json!([2, 0]));
    // The reservation is reported as the reason why the request is waiting.
    assert_eq!(client.end(&before).status, 200);
    let waiting = client.lease(json!({ "shape": [2, 8], "estimate_s": 4000, "wait": true }));
    assert_eq!(waiting["state"], "waiting");
    let waits = client.get(&format!("/v1/leases/{}", waiting["id"])).json()["waits_for"].clone();
    has(&waits, &json!({ "kind": "reservation", "from": one["from"], "until": one["to"] }));
    let sentence = waits["sentence"].as_str().unwrap();
    let ahead = format!("takes some of its nodes, from {}", one["from"].as_str().unwrap());
    assert!(sentence.starts_with("It fits, but ") && sentence.contains(&ahead), "{sentence}");
    // A request like this one would start only after the reservation.
    until("a forecast with the reservation", || {
        let like = json!({ "shape": [2, 8], "estimate_s": 4000 });
        let plan = client.post("/v1/forecast", like).json()["forecast"]["plan"].clone();
        plan.as_str().is_some_and(|plan| plan >= one["to"].as_str().unwrap())
    });
    server.restart(&setup);
    let mut client = server.client();
    assert_eq!(reserved(&mut client), std::slice::from_ref(&one));
    client.post("/v1/leases", json!({ "shape": [2, 8], "ttl_s": 4000 })).is(409, "reserved");
    let path = format!("/v1/reservations/{}/cancel", one["id"]);
    assert_eq!(client.post(&path, "").status, 200);
    assert!(reserved(&mut client).is_empty());
    let lease = client.get(&format!("/v1/leases/{}", waiting["id"])).json();
    assert_eq!(lease["state"], "held", "the queue has advanced");
    client.post(&path, "").is(404, "unknown-reservation");
}

/// Checks that no grant overlaps a reservation, whether from the queue, from a batch or after a
/// renewal.
#[test]
fn no_kind_of_grant_overlaps_a_reservation() {
    for scheduler in ["fcfs", "scan-all", "easy", "conservative", "window:4"] {
        let (_server, mut client) = served_by(scheduler, |_| {});
        let runs = client.lease(json!({ "shape": [4, 8], "ttl_s": 600 }));
        assert_eq!(runs["parts"][0]["base"], json!([0, 0]));
        let one = client.post("/v1/reservations", left(3600, 7200)).json();
        let into = json!({ "shape": [4, 8], "estimate_s": 9000 });
        let beside = client.lease(&into);
        assert_eq!(beside["parts"][0]["base"], json!([4, 0]), "{scheduler}");
        let waits = client.lease(json!({ "shape": [1, 8], "estimate_s": 9000, "wait": true }));
        assert_eq!(waits["state"], "waiting");
        // The left half is now free until the reservation starts.
        assert_eq!(client.end(&runs).status, 200);
        client.post("/v1/leases", &into).is(409, "reserved");
        let lease = json!({ "lease": { "nodes": 1, "ttl_s": 9000 } });
        let queued = json!({ "lease": { "nodes": 2, "ttl_s": 9000, "wait": true } });
        let many = client.post("/v1/batch", batch([lease, queued])).json();
        assert_eq!(many["answers"][0]["status"], 409, "{scheduler}: {many}");
        assert_eq!(many["answers"][1]["status"], 202, "{scheduler}: {many}");
        // A renewal does not start the waiting request either.
        let path = format!("/v1/leases/{}/renew", beside["id"]);
        let renewal = json!({ "epoch": beside["epoch"], "ttl_s": 90_000 });
        assert_eq!(client.post(&path, renewal).status, 200);
        let held = client.get("/v1/leases").json();
        assert_eq!(held["leases"].as_array().unwrap().len(), 1, "{scheduler}: {held}");
        assert_eq!(reserved(&mut client)[0]["leases"], json!([]), "{scheduler}");
        // The operator's `hold` is accepted, but the reservation lists it as a conflict.
        let hold = json!({ "parts": [{ "base": [0, 0], "sides": [1, 1] }], "ttl_s": 9000 });
        let hold = client.post("/v1/hold", hold).json();
        assert_eq!(reserved(&mut client)[0]["leases"], json!([hold["id"]]));
        assert_eq!(reserved(&mut client)[0]["id"], one["id"]);
    }
}

#[test]
fn a_lease_that_outlasts_its_estimate_conflicts_with_a_reservation() {
    let (_server, mut client) = served_by("easy", |_| {});
    let late = client.lease(json!({ "nodes": 1, "estimate_s": 0.001 }));
    std::thread::sleep(Duration::from_millis(10));
    let whole = json!({ "parts": [{ "base": [0, 0], "sides": [8, 8] }], "to": at(60) });
    let reply = client.post("/v1/reservations", whole);
    assert_eq!(reply.status, 201);
    assert_eq!(reply.json()["leases"], json!([late["id"]]));
    assert_eq!(reserved(&mut client)[0]["leases"], json!([late["id"]]));
}

#[test]
fn a_reservation_ends_at_its_time_and_watchers_are_notified() {
    let (server, mut client) = served_by("fcfs", |_| {});
    assert_eq!(client.post("/v1/reservations", left(-5, 2)).status, 201);
    let waiting = client.lease(json!({ "shape": [8, 8], "wait": true }));
    assert_eq!(waiting["state"], "waiting");
    let events = watch(&server.address, "/v1/watch?after=0", 5);
    let kinds: Vec<&str> = events.iter().map(|(_, kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["configured", "reserved", "queued", "unreserved", "granted"]);
    assert_eq!(events[3].2["why"], "expired");
}

#[test]
fn invalid_reservations_and_reservations_by_tenants_are_refused() {
    let (server, mut client) = shared(&["a"], |_| {});
    let wrong = [
        (json!({ "to": at(60) }), "at least one node"),
        (json!({ "nodes": [[0, 0]], "to": at(-60) }), "would already be over"),
        (json!({ "nodes": [[0, 0]], "from": at(60), "to": at(60) }), "must end after it begins"),
        (json!({ "nodes": [[0, 0]], "to": "tomorrow" }), "expected a UTC date"),
        (json!({ "parts": [{ "base": [7, 0], "sides": [2, 1] }], "to": at(60) }), "is not on"),
        (json!({ "nodes": [[0, 0]], "to": at(60), "name": "" }), "1 to 255 bytes"),
        (json!({ "nodes": [[0, 0]], "to": at(60), "why": 1 }), "why"),
    ];
    for (body, expected) in wrong {
        let reply = client.post("/v1/reservations", &body);
        reply.is(400, "bad-value");
        let detail = reply.json()["detail"].as_str().unwrap().to_string();
        assert!(detail.contains(expected), "{body}: {detail}");
    }
    let mut tenant = server.of("a-secret");
    tenant.post("/v1/reservations", left(60, 120)).is(403, "operator-only");
    let other = client.lease(json!({ "shape": [1, 1] }));
    let one = client.post("/v1/reservations", left(60, 120)).json();
    assert_eq!(one["leases"], json!([other["id"]]));
    // A tenant sees the times, but not other tenants' leases.
    assert_eq!(reserved(&mut tenant)[0]["from"], one["from"]);
    assert_eq!(reserved(&mut tenant)[0]["leases"], json!([]));
    let path = format!("/v1/reservations/{}/cancel", one["id"]);
    tenant.post(&path, "").is(403, "operator-only");
}

#[test]
fn room_by_a_time_lists_moved_requeued_and_delayed_jobs() {
    let (server, mut client) = shared(&["a"], |setup| {
        (setup.machine, setup.strategy) = ("mesh:6".into(), "ff".into());
        setup.scheduler = Some("fcfs".into());
    });
    let a = client.lease(json!({ "shape": [2], "estimate_s": 100 }));
    let b = client.lease(json!({ "shape": [2], "estimate_s": 9000 }));
    let waits = client.lease(json!({ "shape": [4], "estimate_s": 50, "wait": true }));
    assert_eq!(waits["state"], "waiting");
    let room = |client: &mut Client, body: Value| client.post("/v1/room", body);
    let asked = json!({ "drain": [[2]], "by": at(600), "for_s": 1000, "max_jobs": 1 });
    let plan = room(&mut client, asked).json();
    has(&plan, &json!({ "found": true, "proven": true, "requeued": [], "lost_node_s": 0.0 }));
    assert_eq!(
        (&plan["moves"][0]["lease"], plan["moves"].as_array().unwrap().len()),
        (&b["id"], 1)
    );
    // Only requeuing b can free four nodes in a row by the deadline.
    let four = |requeue: bool, jobs: u32| {
        let by = at(50);
        json!({ "shape": [4], "by": by, "max_jobs": jobs, "requeue": requeue, "for_s": 500 })
    };
    assert_eq!(room(&mut client, four(false, 1)).json()["found"], false);
    let plan = room(&mut client, four(true, 1)).json();
    has(&plan, &json!({ "found": true, "requeued": [b["id"]], "moves": [] }));
    let late: Vec<&Value> = plan["delayed"].as_array().unwrap().iter().collect();
    assert!(late.iter().any(|one| one["id"] == b["id"]), "{plan}");
    // Job a ends before the deadline.
    let plan = room(&mut client, json!({ "shape": [2], "by": at(600), "max_jobs": 0 })).json();
    assert_eq!((&plan["found"], plan["cost"].as_u64()), (&json!(true), Some(0)));
    let plan = room(&mut client, json!({ "drain": [[0]], "by": at(600), "max_jobs": 0 })).json();
    assert_eq!((&plan["awaited"], &plan["moves"]), (&json!([a["id"]]), &json!([])));
    room(&mut server.of("a-secret"), four(true, 1)).is(403, "operator-only");
    room(&mut client, json!({ "shape": [2], "drain": [[0]], "by": at(1) })).is(400, "bad-value");
    room(&mut client, json!({ "shape": [2], "by": "soon" })).is(400, "bad-value");
    room(&mut client, json!({ "shape": [2], "by": at(-5) })).is(400, "bad-value");
}
