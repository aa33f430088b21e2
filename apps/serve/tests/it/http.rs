//! The service over HTTP.

use serde_json::{Value, json};

use crate::client::{Client, millis, watch};
use crate::server::{Server, fresh};

#[test]
fn a_lease_is_granted_renewed_and_ended() {
    let (server, _) = fresh(|_| {});
    let mut client = Client::new(&server.address);
    let reply = client.post("/v1/leases", r#"{"shape":[2,3],"ttl_s":60,"job":"a"}"#).unwrap();
    assert_eq!((reply.status, reply.kind.as_str()), (201, "application/json"));
    let lease = reply.json();
    assert_eq!(lease["nodes"], 6);
    assert_eq!(lease["parts"], json!([{"base":[0,0],"sides":[2,3]}]));
    assert!(lease["expires"].is_string());
    let (id, epoch) = (&lease["id"], lease["epoch"].as_u64().unwrap());
    let machine = client.get("/v1/machine").unwrap().json();
    assert_eq!(
        (&machine["free"], &machine["busy"], &machine["jobs"]),
        (&json!(58), &json!(6), &json!(1))
    );

    let renew = |epoch: u64| format!("{{\"epoch\":{epoch},\"ttl_s\":120}}");
    let stale = client.post(&format!("/v1/leases/{id}/renew"), &renew(epoch + 1)).unwrap();
    assert_eq!((stale.status, stale.kind.as_str()), (409, "application/problem+json"));
    assert_eq!(stale.json()["reason"], "stale-epoch");
    let renewed = client.post(&format!("/v1/leases/{id}/renew"), &renew(epoch)).unwrap();
    assert_eq!((renewed.status, &renewed.json()["epoch"]), (200, &json!(epoch)));
    let end = format!("/v1/leases/{id}/end");
    assert_eq!(client.post(&end, &json!({ "epoch": epoch + 1 }).to_string()).unwrap().status, 409);
    let ended = client.post(&end, &json!({ "epoch": epoch }).to_string()).unwrap();
    assert_eq!((ended.status, &ended.json()["nodes"]), (200, &json!(6)));
    let again = client.post(&end, &json!({ "epoch": epoch }).to_string()).unwrap();
    assert_eq!((again.status, &again.json()["reason"]), (409, &json!("lease-ended")));
    assert_eq!(client.get("/v1/leases").unwrap().json()["leases"], json!([]));
}

#[test]
fn records_beyond_the_last_cannot_be_watched() {
    let (server, _) = fresh(|_| {});
    let reply = Client::new(&server.address).get("/v1/watch?after=99").unwrap();
    assert_eq!((reply.status, &reply.json()["reason"]), (410, &json!("ahead")));
    // An id that cannot be read is not taken for none: records would be missed.
    for id in ["x", "-1", "1 2", "99999999999999999999"] {
        let mut client = Client::with(&server.address, "Last-Event-ID", id);
        assert_eq!(client.get("/v1/watch").unwrap().status, 400, "{id}");
    }
}

#[test]
fn a_refusal_says_what_stands_in_the_way() {
    let (server, _) = fresh(|_| {});
    let mut client = Client::new(&server.address);
    let hold = r#"{"parts":[{"base":[3,0],"sides":[1,8]}],"job":7}"#;
    assert_eq!(client.post("/v1/hold", hold).unwrap().status, 201);
    let reply = client.post("/v1/leases", r#"{"shape":[5,5]}"#).unwrap();
    assert_eq!((reply.status, reply.kind.as_str()), (409, "application/problem+json"));
    let problem = reply.json();
    assert_eq!(problem["reason"], "no-free-submesh");
    assert_eq!(problem["diagnosis"]["nearest"]["sides"], json!([4, 5]));
    assert_eq!(problem["diagnosis"]["blocked"]["jobs"][0]["job"], 7);
    let too_large = client.post("/v1/leases", r#"{"shape":[9,9]}"#).unwrap().json();
    assert_eq!(too_large["reason"], "larger-than-machine");
    let list = client.post("/v1/leases", "[null,1]").unwrap().json();
    assert_eq!(list["detail"], "the body: a list, where an object is expected");
    let many = client.post("/v1/leases", r#"{"nodes":99999999999}"#).unwrap().json();
    assert_eq!(many["reason"], "larger-than-machine");
    let if_ended = r#"{"shape":[5,5],"end":[1]}"#;
    let answer = client.post("/v1/what-if", if_ended).unwrap().json();
    assert_eq!(answer["strategies"][0]["granted"], true);
    let explained = client.post("/v1/explain", r#"{"shape":[5,5],"strategies":["ff","gabl"]}"#);
    let explained = explained.unwrap().json();
    assert_eq!(explained["strategies"][0]["reason"], "no-free-submesh");
    assert_eq!(explained["strategies"][1]["granted"], true);
}

#[test]
fn bad_requests_change_nothing() {
    let (server, _) = fresh(|_| {});
    let mut client = Client::new(&server.address);
    let bad = [
        "",
        "{",
        "[]",
        "{}",
        r#"{"shape":[2]}"#,
        r#"{"shape":[0,1]}"#,
        r#"{"shape":[-1,1]}"#,
        r#"{"nodes":0}"#,
        r#"{"nodes":1.5}"#,
        r#"{"nodes":2,"shape":[1,2]}"#,
        r#"{"nodes":1,"ttl_s":0}"#,
        r#"{"nodes":1,"ttl_s":-3}"#,
        r#"{"nodes":1,"unknown":1}"#,
        r#"{"nodes":1,"tenant":"a/b"}"#,
        r#"{"nodes":1,"wait":true}"#,
        r#"{"nodes":1,"freedom":"free"}"#,
        r#"{"nodes":1,"freedom":"Any"}"#,
        r#"{"nodes":1,"freedom":7}"#,
    ];
    for body in bad {
        let reply = client.post("/v1/leases", body).unwrap();
        assert_eq!(
            (reply.status, reply.kind.as_str()),
            (400, "application/problem+json"),
            "{body}"
        );
    }
    assert_eq!(client.post("/v1/leases", r#"{"nodes":1,"machine":"x"}"#).unwrap().status, 404);
    for (path, body, status) in [
        ("/v1/leases/1/end", r#"{"epoch":1}"#, 404),
        ("/v1/leases/x/end", r#"{"epoch":1}"#, 404),
        ("/v1/nodes/fail", r#"{"node":[8,0]}"#, 404),
        ("/v1/nodes/fail", r#"{"node":[1]}"#, 400),
        ("/v1/hold", r#"{"parts":[]}"#, 409),
        ("/v1/hold", r#"{"parts":[{"base":[7,7],"sides":[2,1]}]}"#, 409),
        ("/v1/nothing", "", 404),
    ] {
        assert_eq!(client.post(path, body).unwrap().status, status, "{path} {body}");
    }
    let reply = client.send("DELETE", "/v1/leases", "", &[]).unwrap();
    assert_eq!((reply.status, reply.kind.as_str()), (405, "application/problem+json"));
    assert_eq!(client.get("/v1/machine").unwrap().json()["busy"], 0);
    let large = format!("{{\"nodes\":1,\"job\":\"{}\"}}", "x".repeat(2 << 20));
    // The server may close before it was sent as a whole.
    let reply = Client::new(&server.address).post("/v1/leases", &large);
    assert!(reply.is_err() || reply.is_ok_and(|reply| reply.status == 413));
}

#[test]
fn a_key_gives_the_same_reply_even_after_a_kill() {
    let (mut server, setup) = fresh(|_| {});
    let mut client = Client::new(&server.address);
    let key = [("Idempotency-Key", "k-1")];
    let full = [("Idempotency-Key", "k-2")];
    let granted = client.send("POST", "/v1/leases", r#"{"shape":[8,7]}"#, &key).unwrap();
    let refused = client.send("POST", "/v1/leases", r#"{"shape":[8,2]}"#, &full).unwrap();
    assert_eq!((granted.status, refused.status), (201, 409));
    assert!(refused.json()["diagnosis"]["nearest"].is_object());
    server.kill();
    let server = Server::start(&setup);
    let mut client = Client::new(&server.address);
    assert_eq!(client.send("POST", "/v1/leases", r#"{"shape":[8,7]}"#, &key).unwrap(), granted);
    assert_eq!(client.send("POST", "/v1/leases", r#"{"shape":[8,2]}"#, &full).unwrap(), refused);
    let other = client.send("POST", "/v1/leases", r#"{"shape":[1,1]}"#, &key).unwrap();
    assert_eq!((other.status, &other.json()["reason"]), (422, &json!("key-reused")));
    assert_eq!(client.get("/v1/leases").unwrap().json()["leases"].as_array().unwrap().len(), 1);
}

#[test]
fn leases_expire_and_watchers_are_told() {
    let (server, _) = fresh(|_| {});
    let mut client = Client::new(&server.address);
    client.post("/v1/leases", r#"{"shape":[2,2],"ttl_s":1.5}"#).unwrap();
    client.post("/v1/nodes/drain", r#"{"node":[7,7]}"#).unwrap();
    let events = watch(&server.address, "/v1/watch?after=0", 4);
    let kinds: Vec<&str> = events.iter().map(|(_, kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["configured", "granted", "node", "ended"]);
    let ids: Vec<u64> = events.iter().map(|(id, ..)| *id).collect();
    assert_eq!(ids, [1, 2, 3, 4]);
    assert_eq!(events[3].2["why"], "expired");
    let machine = client.get("/v1/machine").unwrap().json();
    assert_eq!((&machine["busy"], &machine["drained"]), (&json!(0), &json!(1)));
    let before = client.get("/v1/machine?at=2").unwrap().json();
    assert_eq!((&before["busy"], &before["drained"]), (&json!(4), &json!(0)));
    // The same by the time at which it was.
    let at = |event: &(u64, String, Value)| millis(event.2["at"].as_str().unwrap());
    let then = at(&events[1]);
    let before = client.get(&format!("/v1/machine?at_ms={then}")).unwrap().json();
    // The drain may have come within the same millisecond.
    let last = events.iter().filter(|event| at(event) <= then).count();
    assert_eq!((&before["busy"], &before["seq"]), (&json!(4), &json!(last)));
    let later = client.get("/v1/machine?at_ms=99999999999999").unwrap().json();
    assert_eq!(later["seq"], machine["seq"]);
}

#[test]
fn what_is_compacted_is_gone() {
    let (server, _) = fresh(|setup| (setup.snapshot_every, setup.history) = (50, 20));
    let mut client = Client::new(&server.address);
    for _ in 0..200 {
        let lease = client.post("/v1/leases", r#"{"nodes":4}"#).unwrap().json();
        let body = json!({ "epoch": lease["epoch"] }).to_string();
        client.post(&format!("/v1/leases/{}/end", lease["id"]), &body).unwrap();
        // A connection of its own: a watch that is granted does not end.
        let watch = Client::new(&server.address).get("/v1/watch?after=0");
        if watch.is_ok_and(|reply| reply.status == 410) {
            let reply = client.get("/v1/machine?at=1").unwrap();
            assert_eq!((reply.status, &reply.json()["reason"]), (410, &json!("compacted")));
            return;
        }
    }
    panic!("nothing was compacted");
}

#[test]
fn waiting_requests_start_in_the_order_of_the_scheduler() {
    let (server, _) = fresh(|setup| setup.scheduler = Some("fcfs".into()));
    let mut client = Client::new(&server.address);
    let first = client.post("/v1/leases", r#"{"shape":[8,8]}"#).unwrap().json();
    let waits = client.post("/v1/leases?wait=true", r#"{"shape":[4,4],"job":"w"}"#).unwrap();
    assert_eq!((waits.status, &waits.json()["state"]), (202, &json!("waiting")));
    let id = waits.json()["id"].clone();
    assert_eq!(client.get("/v1/queue").unwrap().json()["waiting"][0]["id"], id);
    let renew = client.post(&format!("/v1/leases/{id}/renew"), r#"{"epoch":1}"#).unwrap();
    assert_eq!(renew.json()["reason"], "still-waiting");
    let body = json!({ "epoch": first["epoch"] }).to_string();
    client.post(&format!("/v1/leases/{}/end", first["id"]), &body).unwrap();
    let lease = client.get(&format!("/v1/leases/{id}")).unwrap().json();
    assert_eq!((&lease["state"], &lease["nodes"]), (&json!("held"), &json!(16)));
    // One that waits can leave the queue without an epoch, and not by another one's.
    let last = client.post("/v1/leases", r#"{"wait":true,"shape":[8,8]}"#).unwrap().json();
    let epoch = last["epoch"].as_u64().unwrap();
    let stale = client.post("/v1/leases/3/end", &json!({ "epoch": epoch - 1 }).to_string());
    assert_eq!(stale.unwrap().json()["reason"], "stale-epoch");
    let gone = client.post("/v1/leases/3/end", "").unwrap();
    assert_eq!((gone.status, &gone.json()["nodes"]), (200, &json!(0)));
}

#[test]
fn a_batch_is_answered_one_by_one() {
    let (server, _) = fresh(|_| {});
    let mut client = Client::new(&server.address);
    let bad = r#"{"operations":[{"lease":{"shape":[8,8]}},{"lease":{"shape":[0,1]}}]}"#;
    let key = [("Idempotency-Key", "batch")];
    let refused = client.send("POST", "/v1/batch", bad, &key).unwrap();
    assert_eq!(refused.status, 400);
    assert!(refused.json()["detail"].as_str().unwrap().starts_with("operation 1:"));
    let batch = r#"{"operations":[{"lease":{"shape":[8,8.0]}},
        {"lease":{"nodes":1}},{"end":{"id":1,"epoch":2}},{"fail":{"node":[0,0]}}]}"#;
    // What was not carried out has not used its key.
    let first = client.send("POST", "/v1/batch", batch, &key).unwrap();
    let answers = first.json();
    let statuses: Vec<&Value> =
        answers["answers"].as_array().unwrap().iter().map(|answer| &answer["status"]).collect();
    // No client knows an epoch before its grant.
    assert_eq!(statuses, [201, 409, 409, 200]);
    assert_eq!(client.send("POST", "/v1/batch", batch, &key).unwrap(), first);
    let seq = client.get("/v1/machine").unwrap().json()["seq"].clone();
    assert_eq!(seq, 3, "the machine, the lease, the node: once each");
    let many = vec![r#"{"end":{"id":1}}"#; 4097].join(",");
    let many = client.post("/v1/batch", &format!("{{\"operations\":[{many}]}}")).unwrap();
    assert_eq!((many.status, &many.json()["reason"]), (413, &json!("too-large")));
}

#[test]
fn the_service_describes_itself() {
    let (mut server, _) = fresh(|_| {});
    let mut client = Client::new(&server.address);
    let document = client.get("/openapi.json").unwrap().json();
    for path in ["/v1/leases", "/v1/leases/{id}/end", "/v1/hold", "/v1/nodes/drain", "/v1/watch"] {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    assert_eq!(client.get("/healthz").unwrap().status, 200);
    assert_eq!(client.get("/readyz").unwrap().json()["status"], "ready");
    client.post("/v1/leases", r#"{"nodes":4}"#).unwrap();
    let metrics = client.get("/metrics").unwrap().text;
    assert!(metrics.contains("pavior_free_nodes{machine=\"default\"} 60"), "{metrics}");
    assert!(metrics.ends_with("# EOF\n"));
    let other = [("Origin", "http://evil.example")];
    assert_eq!(client.send("POST", "/v1/leases", "{\"nodes\":1}", &other).unwrap().status, 403);
    // A watcher does not hold up the end.
    let address = server.address.clone();
    let watcher = std::thread::spawn(move || watch(&address, "/v1/watch", 1));
    std::thread::sleep(std::time::Duration::from_millis(100));
    let took = server.stop();
    assert!(took < std::time::Duration::from_secs(2), "{took:?}");
    assert!(watcher.join().unwrap().is_empty());
}

#[test]
fn every_change_is_made_once_for_its_key() {
    let (server, _) = fresh(|_| {});
    let mut client = Client::new(&server.address);
    let held = client.post("/v1/hold", r#"{"parts":[{"base":[2,0],"sides":[2,2]}]}"#).unwrap();
    let epoch = held.json()["epoch"].as_u64().unwrap();
    let renew = format!("{{\"epoch\":{epoch},\"ttl_s\":120}}");
    let (end, stale) = (format!("{{\"epoch\":{epoch}}}"), format!("{{\"epoch\":{}}}", epoch + 1));
    let changes = [
        ("/v1/hold", r#"{"parts":[{"base":[0,0],"sides":[2,2]}],"ttl_s":60}"#, 201),
        ("/v1/leases/1/renew", renew.as_str(), 200),
        ("/v1/nodes/fail", r#"{"node":[5,5]}"#, 200),
        ("/v1/nodes/repair", r#"{"node":[5,5]}"#, 200),
        ("/v1/nodes/drain", r#"{"node":[6,6]}"#, 200),
        ("/v1/leases/1/end", &end, 200),
        // A refusal is an answer, too.
        ("/v1/leases/1/end", &stale, 409),
        ("/v1/clock/confirm", "", 200),
    ];
    for (index, (path, body, status)) in changes.iter().enumerate() {
        let key = format!("change-{index}");
        let key = [("Idempotency-Key", key.as_str())];
        let first = client.send("POST", path, body, &key).unwrap();
        assert_eq!(first.status, *status, "{path}: {}", first.text);
        let seq = client.get("/v1/machine").unwrap().json()["seq"].clone();
        assert_eq!(client.send("POST", path, body, &key).unwrap(), first, "{path}");
        assert_eq!(client.get("/v1/machine").unwrap().json()["seq"], seq, "{path} twice");
        let other = client.send("POST", "/v1/leases", r#"{"nodes":1}"#, &key).unwrap();
        assert_eq!((other.status, &other.json()["reason"]), (422, &json!("key-reused")));
    }
    for key in ["", "ü", &"k".repeat(256)] {
        let reply =
            client.send("POST", "/v1/leases", r#"{"nodes":1}"#, &[("Idempotency-Key", key)]);
        assert_eq!(reply.unwrap().status, 400, "`{key}` is no key");
    }
}

#[test]
fn moves_that_make_room_can_be_carried_out() {
    let (server, _) = fresh(|setup| setup.machine = "mesh:4x4".into());
    let mut client = Client::new(&server.address);
    let hold = |base: [u16; 2]| json!({ "parts": [{ "base": base, "sides": [1, 2] }] }).to_string();
    let first = client.post("/v1/hold", &hold([1, 1])).unwrap();
    assert_eq!((first.status, client.post("/v1/hold", &hold([3, 0])).unwrap().status), (201, 201));
    let asked = r#"{"shape":[3,4]}"#;
    assert_eq!(client.post("/v1/leases", asked).unwrap().status, 409);
    let plan = client.post("/v1/unblock", asked).unwrap();
    assert_eq!(plan.status, 200);
    let plan = plan.json();
    assert_eq!(
        (&plan["fits"], &plan["jobs"], &plan["cost"]),
        (&json!(false), &json!([1]), &json!(2))
    );
    assert_eq!(plan["moves"][0]["from"], json!([{ "base": [1, 1], "sides": [1, 2] }]));
    // The move, carried out: the lease ends, and begins where the plan says.
    let end = json!({ "epoch": first.json()["epoch"] }).to_string();
    client.post("/v1/leases/1/end", &end).unwrap();
    let moved = json!({ "parts": plan["moves"][0]["to"] }).to_string();
    assert_eq!(client.post("/v1/hold", &moved).unwrap().status, 201);
    let lease = client.post("/v1/leases", asked).unwrap().json();
    assert_eq!(lease["parts"][0], plan["placement"]);
    // Nothing moves where it fits, or never will.
    let end = json!({ "epoch": lease["epoch"] }).to_string();
    client.post(&format!("/v1/leases/{}/end", lease["id"]), &end).unwrap();
    let fits = client.post("/v1/unblock", r#"{"shape":[1,1]}"#).unwrap().json();
    assert_eq!((&fits["fits"], &fits["moves"]), (&json!(true), &json!([])));
    let never = client.post("/v1/unblock", r#"{"shape":[5,5]}"#).unwrap().json();
    assert_eq!((&never["fits"], &never["jobs"]), (&json!(false), &Value::Null));
    for (body, status) in
        [("{}", 400), (r#"{"nodes":1,"max_jobs":5}"#, 400), (r#"{"nodes":1,"machine":"x"}"#, 404)]
    {
        assert_eq!(client.post("/v1/unblock", body).unwrap().status, status, "{body}");
    }
}

#[test]
fn what_if_changes_the_question_and_not_the_machine() {
    let (server, _) = fresh(|setup| setup.machine = "mesh:4x4".into());
    let mut client = Client::new(&server.address);
    client.post("/v1/leases", r#"{"shape":[2,4],"job":"a"}"#).unwrap();
    client.post("/v1/nodes/fail", r#"{"node":[3,3]}"#).unwrap();
    let before = client.get("/v1/state").unwrap();
    let mut asked = |body: &str| {
        let reply = client.post("/v1/what-if", body).unwrap();
        (reply.status, reply.json()["strategies"][0]["granted"].clone())
    };
    assert_eq!(asked(r#"{"shape":[2,4]}"#), (200, json!(false)));
    assert_eq!(asked(r#"{"shape":[2,4],"end":[1]}"#), (200, json!(true)));
    assert_eq!(asked(r#"{"shape":[2,4],"repair":[[3,3]]}"#), (200, json!(true)));
    assert_eq!(asked(r#"{"shape":[4,4],"end":[1],"repair":[[3,3]]}"#), (200, json!(true)));
    assert_eq!(asked(r#"{"shape":[1,4],"fail":[[2,0]]}"#), (200, json!(false)));
    assert_eq!(asked(r#"{"nodes":7,"strategy":"random"}"#), (200, json!(true)));
    assert_eq!(asked(r#"{"nodes":1,"end":[9]}"#).0, 404);
    assert_eq!(asked(r#"{"nodes":1,"fail":[[4,0]]}"#).0, 404);
    assert_eq!(asked(r#"{"nodes":1,"strategy":"none"}"#).0, 404);
    assert_eq!(client.get("/v1/state").unwrap(), before);
}

#[test]
fn a_trace_is_passed_on_to_the_reply_and_to_the_log() {
    let folder = tempfile::TempDir::new().unwrap();
    let log = folder.path().join("log");
    let (server, _) = fresh(|setup| setup.log = Some(log.clone()));
    let mut client = Client::new(&server.address);
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for (path, status) in [("/v1/leases", 201), ("/v1/hold", 400), ("/v1/nothing", 404)] {
        let reply = client.send("POST", path, r#"{"nodes":1}"#, &[("traceparent", trace)]).unwrap();
        assert_eq!((reply.status, reply.trace.as_deref()), (status, Some(trace)), "{path}");
    }
    assert_eq!(client.get("/healthz").unwrap().trace, None);
    let told = std::fs::read_to_string(&log).unwrap();
    assert_eq!(told.matches(trace).count(), 3, "{told}");
}
