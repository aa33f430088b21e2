//! Plans that make room by a time, carried out step by step over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, has, number, until, watch_as};
use crate::reservations::at;
use crate::server::{Setup, fresh};

/// `mesh:6`: a holds nodes 0 and 1 for 100 s, b nodes 2 and 3 for hours.
fn row(setup: &mut Setup) {
    setup.machine = "mesh:6".into();
    setup.strategy = "ff".into();
    setup.scheduler = Some("fcfs".into());
    setup.give_tokens(&["a"]);
}

fn leases(client: &mut Client) -> [Value; 2] {
    let a = client.lease(json!({ "shape": [2], "estimate_s": 100, "tenant": "a", "job": "a",
                                 "freedom": "turned" }));
    [a, client.lease(json!({ "shape": [2], "estimate_s": 9000, "tenant": "a", "job": "b" }))]
}

/// Node 2 is emptied: b goes to nodes 4 and 5.
fn plan(b: &Value, by: i64) -> Value {
    let to = json!([{ "base": [4], "sides": [2] }]);
    json!({ "drain": [[2]], "by": at(by), "for_s": 500, "moves": [{ "lease": b["id"], "to": to }] })
}

fn begun(client: &mut Client, body: &Value) -> Value {
    let reply = client.post("/v1/plans", body);
    assert_eq!(reply.status, 201, "{}", reply.text);
    reply.json()
}

/// The plan of a number, as it is now.
fn now(client: &mut Client, plan: &Value) -> Value {
    let all = client.get("/v1/plans").json();
    let mut all = all["plans"].as_array().unwrap().iter();
    all.find(|one| one["id"] == plan["id"]).unwrap().clone()
}

fn reserved(client: &mut Client) -> usize {
    client.get("/v1/reservations").json()["reservations"].as_array().unwrap().len()
}

fn move_of(client: &mut Client, lease: &Value) -> crate::client::Reply {
    let path = format!("/v1/leases/{}/move", lease["id"]);
    client.post(&path, json!({ "epoch": lease["epoch"] }))
}

#[test]
fn a_plan_is_what_room_answers_and_its_holder_carries_it_out_after_a_restart() {
    let (mut server, setup) = fresh(row);
    let mut client = server.of("root-secret");
    let [a, b] = leases(&mut client);
    let asked = json!({ "drain": [[2]], "by": at(50), "for_s": 500, "max_jobs": 1 });
    let found = client.post("/v1/room", &asked).json();
    let body = json!({ "drain": asked["drain"], "by": asked["by"], "for_s": 500,
                       "moves": found["moves"], "requeued": found["requeued"] });
    let one = begun(&mut client, &body);
    has(&one, &json!({ "state": "under-way", "reason": null }));
    has(&one["steps"][0], &json!({ "lease": b["id"], "done": false }));
    assert_eq!(reserved(&mut client), 2, "the room, and the nodes for b");
    // The nodes where b goes to are kept free for it.
    client.post("/v1/leases", json!({ "shape": [2], "ttl_s": 10 })).is(409, "reserved");
    server.restart(&setup);
    let mut tenant = server.of("a-secret");
    assert_eq!(now(&mut tenant, &one), one);
    move_of(&mut tenant, &a).is(409, "not-asked");
    let moved = move_of(&mut tenant, &b);
    assert_eq!(moved.status, 200, "{}", moved.text);
    let moved = moved.json();
    has(&moved, &json!({ "id": b["id"], "parts": found["moves"][0]["to"] }));
    assert!(number(&moved["epoch"]) > number(&b["epoch"]));
    move_of(&mut tenant, &b).is(409, "stale-epoch");
    let mut client = server.of("root-secret");
    has(&now(&mut client, &one), &json!({ "state": "free", "reason": null }));
    assert_eq!(reserved(&mut client), 1, "the room is kept");
    assert_eq!(client.lease(json!({ "shape": [1], "ttl_s": 10 }))["parts"][0]["base"], json!([2]));
    let token = "Authorization: Bearer root-secret\r\n";
    let (path, patience) = ("/v1/watch?after=0", Duration::from_secs(20));
    let events = watch_as(&server.address, path, token, patience, |events, _| events == 10);
    let kinds: Vec<&str> = events.iter().map(|(_, kind, _)| kind.as_str()).collect();
    let begins = ["configured", "granted", "granted", "planned", "reserved", "reserved"];
    let ends = ["unreserved", "moved", "plan-over", "granted"];
    assert_eq!(kinds, [&begins[..], &ends].concat());
    server.restart(&setup);
    let mut client = server.of("root-secret");
    has(&now(&mut client, &one), &json!({ "state": "free" }));
    assert_eq!(client.get(&format!("/v1/leases/{}", b["id"])).json()["parts"], moved["parts"]);
}

#[test]
fn a_plan_is_given_up_when_the_world_has_changed() {
    type Change = fn(&mut Client, &Value, &Value);
    let changes: [(Change, &str); 6] = [
        (|client, b, _| assert_eq!(client.end(b).status, 200), "has ended"),
        (|client, _, _| drop(client.post("/v1/nodes/fail", json!({ "node": [5] }))), "available"),
        (|client, _, _| drop(client.post("/v1/nodes/fail", json!({ "node": [2] }))), "has failed"),
        (
            |client, _, _| {
                let held = json!({ "parts": [{ "base": [5], "sides": [1] }] });
                assert_eq!(client.post("/v1/hold", held).status, 201);
            },
            "holds nodes where lease",
        ),
        (
            |client, _, plan| {
                let path = format!("/v1/reservations/{}/cancel", plan["reservation"]);
                assert_eq!(client.post(&path, "").status, 200);
            },
            "of the room was given up",
        ),
        (
            |client, _, plan| {
                let path = format!("/v1/plans/{}/cancel", plan["id"]);
                assert_eq!(client.post(&path, "").json()["state"], "given-up");
            },
            "the operator gave it up",
        ),
    ];
    for (change, told) in changes {
        let (server, _) = fresh(row);
        let mut client = server.of("root-secret");
        let [_, b] = leases(&mut client);
        let one = begun(&mut client, &plan(&b, 600));
        change(&mut client, &b, &one);
        let over = now(&mut client, &one);
        assert_eq!(over["state"], "given-up");
        assert!(over["reason"].as_str().unwrap().contains(told), "{over}");
        assert_eq!(reserved(&mut client), 0, "{told}: nothing is kept free any longer");
        let mut tenant = server.of("a-secret");
        assert_eq!(now(&mut tenant, &one)["reason"], json!(null));
        let reason = if told == "has ended" { "lease-ended" } else { "not-asked" };
        move_of(&mut tenant, &b).is(409, reason);
    }
}

#[test]
fn a_plan_whose_time_comes_is_given_up_and_nobody_is_ended() {
    let (server, _) = fresh(row);
    let mut client = server.of("root-secret");
    let [_, b] = leases(&mut client);
    let one = begun(&mut client, &plan(&b, 2));
    until("the plan's time", || now(&mut client, &one)["state"] == "given-up");
    let reason = now(&mut client, &one)["reason"].clone();
    assert!(reason.as_str().unwrap().contains("has not done its step by"), "{reason}");
    assert_eq!(reserved(&mut client), 0);
    let page = client.get("/v1/state").json();
    assert_eq!(page["leases"].as_array().unwrap().len(), 2, "nobody is ended for a plan");
}

#[test]
fn a_requeued_lease_waits_again_under_its_name() {
    let (server, _) = fresh(row);
    let mut client = server.of("root-secret");
    let [a, b] = leases(&mut client);
    let to = json!([{ "base": [4], "sides": [2] }]);
    let body = json!({ "placement": { "base": [0], "sides": [4] }, "by": at(50), "for_s": 500,
                       "moves": [{ "lease": b["id"], "from": b["parts"], "to": to }],
                       "requeued": [a["id"]] });
    let one = begun(&mut client, &body);
    let mut tenant = server.of("a-secret");
    let again = move_of(&mut tenant, &a);
    // Nodes 0 and 1 are free at once, but a would run into the room.
    assert_eq!(again.status, 202, "{}", again.text);
    let expected = json!({ "state": "waiting", "job": "a", "requested": 2, "freedom": "turned" });
    has(&again.json(), &expected);
    assert_eq!(now(&mut client, &one)["state"], "under-way");
    assert_eq!(move_of(&mut tenant, &b).status, 200);
    assert_eq!(now(&mut client, &one)["state"], "free");
}

#[test]
fn plans_that_do_not_lead_to_room_are_refused() {
    let (server, _) = fresh(row);
    let mut client = server.of("root-secret");
    let [a, b] = leases(&mut client);
    let with = |members: Value| {
        let mut body = plan(&b, 600);
        members.as_object().unwrap().iter().for_each(|(key, value)| body[key] = value.clone());
        body
    };
    let to = |base: u16, sides: u16| json!([{ "base": [base], "sides": [sides] }]);
    let step = |lease: &Value, to: Value| json!([{ "lease": lease["id"], "to": to }]);
    let elsewhere = json!([{ "lease": b["id"], "from": to(0, 2), "to": to(4, 2) }]);
    for (body, status, reason) in [
        (with(json!({ "moves": [] })), 409, "not-free"),
        (with(json!({ "moves": step(&b, to(3, 2)), "drain": [[3]] })), 409, "not-free"),
        (with(json!({ "moves": step(&b, to(4, 1)) })), 400, "bad-value"),
        (with(json!({ "moves": step(&b, to(5, 2)) })), 409, "not-free"),
        (with(json!({ "moves": elsewhere })), 409, "changed"),
        (with(json!({ "moves": step(&json!({ "id": 99 }), to(4, 2)) })), 404, "unknown-lease"),
        (with(json!({ "requeued": [b["id"]] })), 400, "bad-value"),
        (with(json!({ "by": at(-5) })), 400, "bad-value"),
        (with(json!({ "placement": { "base": [0], "sides": [1] } })), 400, "bad-value"),
    ] {
        client.post("/v1/plans", &body).is(status, reason);
    }
    server.of("a-secret").post("/v1/plans", plan(&b, 600)).is(403, "operator-only");
    // Of what ends by then nobody is asked.
    let one = begun(&mut client, &json!({ "drain": [[0]], "by": at(600), "for_s": 5 }));
    assert_eq!((&one["state"], &one["steps"]), (&json!("under-way"), &json!([])));
    assert_eq!(client.end(&a).status, 200);
    assert_eq!(now(&mut client, &one)["state"], "free");
    client.post(&format!("/v1/plans/{}/cancel", one["id"]), "").is(404, "unknown-plan");
}
