//! Tests the HTTP routes.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, batch, has, holder, millis, watch};
use crate::server::{fresh, served, served_by};

#[test]
fn a_lease_is_granted_renewed_and_ended() {
    let (_server, mut client) = served(|_| {});
    let reply = client.post("/v1/leases", r#"{"shape":[2,3],"ttl_s":60,"job":"a"}"#);
    assert_eq!((reply.status, reply.kind.as_str()), (201, "application/json"));
    let lease = reply.json();
    has(&lease, &json!({ "nodes": 6, "parts": [{ "base": [0, 0], "sides": [2, 3] }] }));
    assert!(lease["expires"].is_string());
    let (id, epoch) = holder(&lease);
    let machine = client.get("/v1/machine").json();
    has(&machine, &json!({ "free": 58, "busy": 6, "jobs": 1 }));
    let path = format!("/v1/leases/{id}/renew");
    let mut renew = |epoch: u64| client.post(&path, json!({ "epoch": epoch, "ttl_s": 120 }));
    renew(epoch + 1).is(409, "stale-epoch");
    let renewed = renew(epoch);
    assert_eq!((renewed.status, &renewed.json()["epoch"]), (200, &json!(epoch)));
    assert_eq!(client.end(&json!({ "id": id, "epoch": epoch + 1 })).status, 409);
    let ended = client.end(&lease);
    assert_eq!((ended.status, &ended.json()["nodes"]), (200, &json!(6)));
    client.end(&lease).is(409, "lease-ended");
    assert_eq!(client.get("/v1/leases").json()["leases"], json!([]));
}

#[test]
fn records_beyond_the_last_cannot_be_watched() {
    let (server, _) = fresh(|_| {});
    server.client().get("/v1/watch?after=99").is(410, "ahead");
    // A malformed id must not be ignored like a missing one, because records would be skipped.
    for id in ["x", "-1", "1 2", "99999999999999999999"] {
        let mut client = Client::with(&server.address, "Last-Event-ID", id);
        assert_eq!(client.get("/v1/watch").status, 400, "{id}");
    }
}

#[test]
fn a_refusal_names_the_obstacles() {
    let (_server, mut client) = served(|_| {});
    let hold = r#"{"parts":[{"base":[3,0],"sides":[1,8]}],"job":7}"#;
    assert_eq!(client.post("/v1/hold", hold).status, 201);
    let reply = client.post("/v1/leases", r#"{"shape":[5,5]}"#);
    reply.is(409, "no-free-submesh");
    let diagnosis = &reply.json()["diagnosis"];
    assert_eq!(diagnosis["nearest"]["sides"], json!([4, 5]));
    assert_eq!(diagnosis["blocked"]["jobs"][0]["job"], 7);
    for larger in [r#"{"shape":[9,9]}"#, r#"{"nodes":99999999999}"#] {
        client.post("/v1/leases", larger).is(409, "larger-than-machine");
    }
    let list = client.post("/v1/leases", "[null,1]").json();
    let detail = "the body: invalid type: sequence, expected an object at line 1 column 0";
    assert_eq!(list["detail"], detail);
    let list = client.post("/v1/hold", r#"{"parts":[[[0,0],[2,2]]]}"#);
    assert!(list.status == 400 && list.text.contains("expected an object"), "{}", list.text);
    let list = client.post("/v1/batch", r#"{"operations":[{"fail":[[1,1],null]}]}"#);
    assert!(list.status == 400 && list.text.contains("expected an object"), "{}", list.text);
    let detail = client.post("/v1/leases/1/end", r#"{"epoch":4.0,"x":1}"#).json();
    assert_eq!(detail["detail"], "the body: unknown field `x`, expected `epoch`");
    for empty in ["", "{}", "{ }", "{\n}"] {
        assert_eq!(client.post("/v1/clock/confirm", empty).status, 200, "{empty}");
    }
    for other in ["[]", "null", r#"{"x":1}"#] {
        assert_eq!(client.post("/v1/clock/confirm", other).status, 400, "{other}");
    }
    let answer = client.post("/v1/what-if", r#"{"shape":[5,5],"end":[1]}"#).json();
    assert_eq!(answer["strategies"][0]["granted"], true);
    let asked = r#"{"shape":[5,5],"strategies":["ff","gabl"]}"#;
    let explained = client.post("/v1/explain", asked).json();
    assert_eq!(explained["strategies"][0]["reason"], "no-free-submesh");
    assert_eq!(explained["strategies"][1]["granted"], true);
    let many = |count: usize| json!({ "shape": [5, 5], "strategies": vec!["ff"; count] });
    assert_eq!(client.post("/v1/explain", many(64)).status, 200);
    client.post("/v1/explain", many(65)).is(400, "bad-value");
}

#[test]
fn leases_expire_and_watchers_are_notified() {
    let (server, mut client) = served(|_| {});
    client.post("/v1/leases", r#"{"shape":[2,2],"ttl_s":1.5}"#);
    client.post("/v1/nodes/drain", r#"{"node":[7,7]}"#);
    let events = watch(&server.address, "/v1/watch?after=0", 4);
    let kinds: Vec<&str> = events.iter().map(|(_, kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["configured", "granted", "node", "ended"]);
    let ids: Vec<u64> = events.iter().map(|(id, ..)| *id).collect();
    assert_eq!(ids, [1, 2, 3, 4]);
    assert_eq!(events[3].2["why"], "expired");
    let machine = client.get("/v1/machine").json();
    has(&machine, &json!({ "busy": 0, "drained": 1 }));
    has(&client.get("/v1/machine?at=2").json(), &json!({ "busy": 4, "drained": 0 }));
    let at = |event: &(u64, String, Value)| millis(event.2["at"].as_str().unwrap());
    let then = at(&events[1]);
    let before = client.get(&format!("/v1/machine?at_ms={then}")).json();
    // The drain may have happened in the same millisecond.
    let last = events.iter().filter(|event| at(event) <= then).count();
    has(&before, &json!({ "busy": 4, "seq": last }));
    let later = client.get("/v1/machine?at_ms=99999999999999").json();
    assert_eq!(later["seq"], machine["seq"]);
}

#[test]
fn removed_records_cannot_be_read() {
    let (server, mut client) = served(|setup| (setup.snapshot_every, setup.history) = (50, 20));
    for _ in 0..200 {
        let lease = client.lease(r#"{"nodes":4}"#);
        client.end(&lease);
        // Use a separate connection, because an accepted watch does not end.
        let watch = server.client().try_get("/v1/watch?after=0");
        if watch.is_ok_and(|reply| reply.status == 410) {
            return client.get("/v1/machine?at=1").is(410, "compacted");
        }
    }
    panic!("nothing was compacted");
}

#[test]
fn waiting_requests_start_in_the_order_of_the_scheduler() {
    let (_server, mut client) = served_by("fcfs", |_| {});
    let first = client.lease(r#"{"shape":[8,8]}"#);
    let waits = client.post("/v1/leases?wait=true", r#"{"shape":[4,4],"job":"w"}"#);
    assert_eq!((waits.status, &waits.json()["state"]), (202, &json!("waiting")));
    let id = waits.json()["id"].clone();
    // Either request fits on the machine, but not both together.
    let (second, _) = holder(&client.lease(r#"{"wait":true,"shape":[8,8]}"#));
    let queue = client.get("/v1/queue").json();
    assert_eq!([&queue["waiting"][0]["id"], &queue["waiting"][1]["id"]], [&id, &json!(second)]);
    let renew = client.post(&format!("/v1/leases/{id}/renew"), r#"{"epoch":1}"#);
    renew.is(409, "still-waiting");
    client.end(&first);
    let lease = client.get(&format!("/v1/leases/{id}")).json();
    has(&lease, &json!({ "state": "held", "nodes": 16 }));
    // A waiting request can be removed without an epoch, but not with a wrong epoch.
    let waiting = client.get(&format!("/v1/leases/{second}")).json();
    has(&waiting, &json!({ "state": "waiting" }));
    let epoch = holder(&waiting).1;
    client.end(&json!({ "id": second, "epoch": epoch - 1 })).is(409, "stale-epoch");
    let gone = client.post(&format!("/v1/leases/{second}/end"), "");
    assert_eq!((gone.status, &gone.json()["nodes"]), (200, &json!(0)));
}

#[test]
fn each_command_in_a_batch_gets_an_answer() {
    let (_server, mut client) = served(|_| {});
    let bad = r#"{"operations":[{"lease":{"shape":[8,8]}},{"lease":{"shape":[0,1]}}]}"#;
    let mut send = |body: &str| client.keyed("/v1/batch", body, "batch");
    let refused = send(bad);
    assert_eq!(refused.status, 400);
    assert!(refused.json()["detail"].as_str().unwrap().starts_with("operation 1:"));
    let all = r#"{"operations":[{"lease":{"shape":[8,8.0]}},
        {"lease":{"nodes":1}},{"end":{"id":1,"epoch":2}},{"fail":{"node":[0,0]}}]}"#;
    // The rejected batch did not use up its key.
    let first = send(all);
    let answers = first.json();
    let statuses: Vec<&Value> =
        answers["answers"].as_array().unwrap().iter().map(|answer| &answer["status"]).collect();
    // The third command fails, because the first lease's epoch is not known in advance.
    assert_eq!(statuses, [201, 409, 409, 200]);
    assert_eq!(send(all), first);
    assert_eq!(client.seq(), 3, "the machine, the lease, the node: once each");
    client.post("/v1/batch", batch(vec![r#"{"end":{"id":1}}"#; 4097])).is(413, "too-large");
}

#[test]
fn the_service_describes_itself() {
    let (mut server, _) = fresh(|_| {});
    let mut client = server.client();
    let document = client.get("/openapi.json").json();
    for path in ["/v1/leases", "/v1/leases/{id}/end", "/v1/hold", "/v1/nodes/drain", "/v1/watch"] {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    assert_eq!(client.get("/healthz").status, 200);
    assert_eq!(client.get("/readyz").json()["status"], "ready");
    client.post("/v1/leases", r#"{"nodes":4}"#);
    let metrics = client.get("/metrics").text;
    assert!(metrics.contains("pavior_free_nodes{machine=\"default\"} 60"), "{metrics}");
    assert!(metrics.ends_with("# EOF\n"));
    let other = [("Origin", "http://evil.example")];
    assert_eq!(client.send("POST", "/v1/leases", "{\"nodes\":1}", &other).status, 403);
    // A watcher does not delay the shutdown.
    let host = server.address.trim_start_matches("http://");
    let mut watcher = TcpStream::connect(host).unwrap();
    write!(watcher, "GET /v1/watch HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut lines = BufReader::new(watcher).lines();
    assert!(lines.next().unwrap().unwrap().ends_with(" 200 OK"));
    let took = server.stop();
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!(!lines.map_while(Result::ok).any(|line| line.starts_with("data: ")));
}

#[test]
fn moves_that_make_room_can_be_carried_out() {
    let (_server, mut client) = served(|setup| setup.machine = "mesh:4x4".into());
    let hold = |base: [u16; 2]| json!({ "parts": [{ "base": base, "sides": [1, 2] }] });
    let first = client.post("/v1/hold", hold([1, 1]));
    assert_eq!((first.status, client.post("/v1/hold", hold([3, 0])).status), (201, 201));
    let asked = r#"{"shape":[3,4]}"#;
    assert_eq!(client.post("/v1/leases", asked).status, 409);
    let plan = client.post("/v1/unblock", asked);
    assert_eq!(plan.status, 200);
    let plan = plan.json();
    has(&plan, &json!({ "fits": false, "jobs": [1], "cost": 2 }));
    assert_eq!(plan["moves"][0]["from"], json!([{ "base": [1, 1], "sides": [1, 2] }]));
    // Perform the move: end the lease and create it again in the planned box.
    client.end(&first.json());
    let moved = json!({ "parts": plan["moves"][0]["to"] });
    assert_eq!(client.post("/v1/hold", moved).status, 201);
    let lease = client.lease(asked);
    assert_eq!(lease["parts"][0], plan["placement"]);
    // No moves are suggested if the request fits now or can never fit.
    client.end(&lease);
    let fits = client.post("/v1/unblock", r#"{"shape":[1,1]}"#).json();
    has(&fits, &json!({ "fits": true, "moves": [] }));
    let never = client.post("/v1/unblock", r#"{"shape":[5,5]}"#).json();
    has(&never, &json!({ "fits": false, "jobs": null }));
    let mut status = |body: &str| client.post("/v1/unblock", body).status;
    assert_eq!((status("{}"), status(r#"{"nodes":1,"max_jobs":5}"#)), (400, 400));
    assert_eq!(status(r#"{"nodes":1,"machine":"x"}"#), 404);
}

#[test]
fn what_if_does_not_change_the_machine() {
    let (_server, mut client) = served(|setup| setup.machine = "mesh:4x4".into());
    client.post("/v1/leases", r#"{"shape":[2,4],"job":"a"}"#);
    client.post("/v1/nodes/fail", r#"{"node":[3,3]}"#);
    let before = client.get("/v1/state");
    for (body, status, granted) in [
        (r#"{"shape":[2,4]}"#, 200, json!(false)),
        (r#"{"shape":[2,4],"end":[1]}"#, 200, json!(true)),
        (r#"{"shape":[2,4],"repair":[[3,3]]}"#, 200, json!(true)),
        (r#"{"shape":[4,4],"end":[1],"repair":[[3,3]]}"#, 200, json!(true)),
        (r#"{"shape":[1,4],"fail":[[2,0]]}"#, 200, json!(false)),
        (r#"{"nodes":7,"strategy":"random"}"#, 200, json!(true)),
        (r#"{"nodes":1,"end":[9]}"#, 404, json!(null)),
        (r#"{"nodes":1,"fail":[[4,0]]}"#, 404, json!(null)),
        (r#"{"nodes":1,"strategy":"none"}"#, 404, json!(null)),
    ] {
        let reply = client.post("/v1/what-if", body);
        let answer = &reply.json()["strategies"][0]["granted"];
        assert_eq!((reply.status, answer), (status, &granted), "{body}");
    }
    assert_eq!(client.get("/v1/state"), before);
}
