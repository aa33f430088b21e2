//! Tests requests repeated with the same `Idempotency-Key`.

use pavior_serve::core::{Caller, Command, FormattedReply, IdempotencyKey};
use pavior_serve::service::format_reply;

use crate::client::holder;
use crate::decisions::begin;
use crate::server::{fresh, served, served_by};

#[test]
fn a_key_gives_the_same_reply_even_after_a_kill() {
    let (mut server, setup) = fresh(|_| {});
    let mut client = server.client();
    let granted = client.keyed("/v1/leases", r#"{"shape":[8,7]}"#, "k-1");
    let refused = client.keyed("/v1/leases", r#"{"shape":[8,2]}"#, "k-2");
    assert_eq!((granted.status, refused.status), (201, 409));
    assert!(refused.json()["diagnosis"]["nearest"].is_object());
    server.restart(&setup);
    let mut client = server.client();
    assert_eq!(client.keyed("/v1/leases", r#"{"shape":[8,7]}"#, "k-1"), granted);
    assert_eq!(client.keyed("/v1/leases", r#"{"shape":[8,2]}"#, "k-2"), refused);
    client.keyed("/v1/leases", r#"{"shape":[1,1]}"#, "k-1").is(422, "key-reused");
    assert_eq!(client.get("/v1/leases").json()["leases"].as_array().unwrap().len(), 1);
}

#[test]
fn a_key_may_be_used_for_another_request_after_a_day() {
    const DAY_MS: u64 = 24 * 3600 * 1000;
    let (mut state, _) = begin(None);
    let mut records = Vec::new();
    let mut send = |now_ms: u64, digest: u64| {
        let key = IdempotencyKey { key: "k".into(), digest, write: format_reply };
        let command = Command::StoreReply(FormattedReply { status: 409, body: digest.to_string() });
        let caller = &Caller::OPERATOR;
        let decision = state.decide(now_ms, caller, Some(&key), command, &mut records);
        format_reply(&decision.reply)
    };
    assert_eq!(send(0, 1).body, "1");
    assert_eq!(send(DAY_MS - 1, 2).status, 422);
    assert_eq!([send(DAY_MS, 2).body, send(DAY_MS + 1, 2).body], ["2", "2"]);
    assert_eq!(send(DAY_MS + 1, 1).status, 422);
    let (mut replayed, _) = begin(None);
    for record in &records {
        replayed.apply(record).unwrap();
    }
    assert_eq!(replayed.snapshot(), state.snapshot());
}

#[test]
fn every_change_with_a_repeated_key_is_made_once() {
    let (_server, mut client) = served(|_| {});
    let held = client.post("/v1/hold", r#"{"parts":[{"base":[2,0],"sides":[2,2]}]}"#);
    let (_, epoch) = holder(&held.json());
    let renew = format!("{{\"epoch\":{epoch},\"ttl_s\":120}}");
    let (end, stale) = (format!("{{\"epoch\":{epoch}}}"), format!("{{\"epoch\":{}}}", epoch + 1));
    let changes = [
        ("/v1/hold", r#"{"parts":[{"base":[0,0],"sides":[2,2]}],"ttl_s":60}"#, 201),
        ("/v1/leases/1/renew", renew.as_str(), 200),
        ("/v1/nodes/fail", r#"{"node":[5,5]}"#, 200),
        ("/v1/nodes/repair", r#"{"node":[5,5]}"#, 200),
        ("/v1/nodes/drain", r#"{"node":[6,6]}"#, 200),
        ("/v1/leases/1/end", &end, 200),
        // A refusal is also stored.
        ("/v1/leases/1/end", &stale, 409),
        ("/v1/clock/confirm", "", 200),
    ];
    for (index, (path, body, status)) in changes.iter().enumerate() {
        let key = format!("change-{index}");
        let first = client.keyed(path, body, &key);
        assert_eq!(first.status, *status, "{path}: {}", first.text);
        let seq = client.seq();
        assert_eq!(client.keyed(path, body, &key), first, "{path}");
        assert_eq!(client.seq(), seq, "{path} twice");
        client.keyed("/v1/leases", r#"{"nodes":1}"#, &key).is(422, "key-reused");
    }
}

#[test]
fn a_key_is_bound_to_the_query() {
    let (_server, mut client) = served_by("fcfs", |_| {});
    client.post("/v1/leases", r#"{"shape":[8,8]}"#);
    let mut asked = |path: &str| client.keyed(path, r#"{"nodes":1}"#, "k");
    let waits = asked("/v1/leases?wait=true");
    assert_eq!(waits.status, 202);
    assert_eq!(asked("/v1/leases?wait=true").text, waits.text);
    for path in ["/v1/leases", "/v1/leases?wait=false", "/v1/leases?wait=true&"] {
        asked(path).is(422, "key-reused");
    }
    // This time, the request without `wait` comes first.
    let body = r#"{"nodes":65}"#;
    assert_eq!(client.keyed("/v1/leases", body, "l").status, 409);
    client.keyed("/v1/leases?wait=true", body, "l").is(422, "key-reused");
    let two = [("Idempotency-Key", "l"), ("Idempotency-Key", "m")];
    assert_eq!(client.send("POST", "/v1/leases", body, &two).status, 400);
}

#[test]
fn keys_must_be_visible_ascii() {
    let (_server, mut client) = served(|_| {});
    for (key, status) in
        [("a", 201), ("!~", 201), ("a b", 400), ("a\tb", 400), ("", 400), ("ü", 400)]
    {
        let reply = client.keyed("/v1/leases", r#"{"nodes":1}"#, key);
        assert_eq!(reply.status, status, "{key:?}: {}", reply.text);
    }
    for (key, status) in [("k".repeat(255), 201), ("k".repeat(256), 400)] {
        assert_eq!(client.keyed("/v1/leases", r#"{"nodes":1}"#, &key).status, status);
    }
}
