//! Tests refusals over HTTP: their diagnoses and the list of refusals.

use serde_json::{Value, json};

use crate::client::Client;
use crate::reservations::at;
use crate::server::{Server, served, shared};

/// Starts a server that has refused two requests from tenant a and one from tenant b while 33 nodes
/// were busy.
pub(crate) fn refusing() -> Server {
    let (server, mut root) = shared(&["a", "b"], |setup| setup.quota = Some(40));
    root.lease(json!({ "shape": [8, 4], "job": "wall" }));
    let (mut a, mut b) = (server.of("a-secret"), server.of("b-secret"));
    // Granted and malformed requests are not refusals.
    b.lease(json!({ "shape": [1, 1], "job": "granted" }));
    b.post("/v1/leases", json!({ "shape": [1] }));
    a.post("/v1/leases", json!({ "shape": [5, 8], "job": "tall" }));
    a.post("/v1/leases", json!({ "nodes": 33, "job": "many" }));
    b.post("/v1/leases", json!({ "shape": [8, 6], "job": "greedy" }));
    server
}

/// Returns the job names in a list of refusals.
fn names(client: &mut Client, path: &str) -> Vec<Value> {
    let list = client.get(path).json();
    list["refusals"].as_array().unwrap().iter().map(|one| one["job"].clone()).collect()
}

#[test]
fn refusals_are_listed_with_reasons() {
    let server = refusing();
    let (mut operator, mut b) = (server.of("root-secret"), server.of("b-secret"));
    assert_eq!(names(&mut operator, "/v1/refusals"), ["tall", "many", "greedy"]);
    let all = operator.get("/v1/refusals").json();
    assert_eq!(all["last"], 3);
    assert_eq!(all["refusals"][2]["reason"], "over-quota");
    assert_eq!(all["refusals"][0]["shape"], json!([5, 8]));
    assert_eq!(all["refusals"][1]["shape"], json!(null));
    // A tenant sees only its own refusals.
    assert_eq!(names(&mut b, "/v1/refusals"), ["greedy"]);
    let batch = json!({ "operations": [{ "lease": { "shape": [8, 8], "job": "batched" } }] });
    b.post("/v1/batch", batch);
    assert_eq!(names(&mut b, "/v1/refusals?after=3"), ["batched"]);
    // A number past the end may come from a client that was running before a restart.
    assert_eq!(names(&mut b, "/v1/refusals?after=99"), ["greedy", "batched"]);
    assert_eq!(operator.get("/v1/refusals?machine=x").status, 404);
}

#[test]
fn requests_refused_because_of_a_reservation_are_listed() {
    let (_server, mut client) = served(|_| {});
    let reservation = json!({
        "parts": [{ "base": [0, 0], "sides": [8, 8] }], "from": at(3600), "to": at(7200),
    });
    assert_eq!(client.post("/v1/reservations", reservation).status, 201);
    client.post("/v1/leases", json!({ "nodes": 1, "job": "endless" })).is(409, "reserved");
    assert_eq!(names(&mut client, "/v1/refusals"), ["endless"]);
}

#[test]
fn a_refusal_omits_only_its_diagnosis_on_request() {
    let (_server, mut client) = served(|_| {});
    client.lease(json!({ "shape": [8, 8] }));
    let body = json!({ "nodes": 1 });
    let mut ask = |query: &str, key: &str| {
        let reply = client.keyed(&format!("/v1/leases{query}"), &body, key);
        assert_eq!(reply.status, 409);
        reply.json()
    };
    let mut full = ask("", "a");
    assert_eq!(full["diagnosis"]["missing"], "nodes");
    assert_eq!(ask("?diagnosis=full", "b"), full);
    let short = ask("?diagnosis=none", "c");
    full.as_object_mut().unwrap().remove("diagnosis");
    assert_eq!(short, full);
    assert_eq!(ask("?diagnosis=none", "c"), short);
    assert_eq!(client.post("/v1/leases?diagnosis=some", body).status, 400);
}
