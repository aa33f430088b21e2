//! Checks that headers, times and node counts agree across replies and with the metrics.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::client::{Client, find, has, millis, until, watch};
use crate::server::{fresh, served, served_by};

#[test]
fn every_reply_has_the_headers_for_browsers() {
    let (server, _) = fresh(|setup| setup.give_token_file("secret\n"));
    let token = ("Authorization", "Bearer secret");
    let large = format!("{{\"job\":\"{}\"}}", "x".repeat((1 << 20) + 1));
    let plain = [token, ("Content-Type", "text/plain")];
    let head = "x".repeat(33 << 10);
    let two_keys = [token, ("Idempotency-Key", "a"), ("Idempotency-Key", "b")];
    let mut titles = HashMap::new();
    for (method, path, body, more, status) in [
        ("GET", "/", "", &[][..], 200),
        ("GET", "/healthz", "", &[], 200),
        ("GET", "/openapi.json", "", &[], 200),
        ("GET", "/v1/machine", "", &[token], 200),
        ("GET", "/metrics", "", &[token], 200),
        ("POST", "/v1/leases", r#"{"nodes":1}"#, &[token], 201),
        ("POST", "/v1/leases", "{", &[token], 400),
        ("POST", "/v1/leases", "{}", &two_keys, 400),
        ("GET", "/v1/machine?x=1", "", &[token], 400),
        ("GET", "/v1/watch", "", &[token, ("Last-Event-ID", "x")], 400),
        ("GET", "/v1/machine", "", &[], 401),
        ("GET", "/v1/machine", "", &[("Authorization", "Bearer wrong")], 401),
        ("GET", "/v1/leases/99", "", &[token], 404),
        ("GET", "/nothing", "", &[], 404),
        ("DELETE", "/v1/leases", "", &[token], 405),
        ("PUT", "/healthz", "", &[], 405),
        ("POST", "/v1/leases", r#"{"nodes":99}"#, &[token], 409),
        ("GET", "/v1/watch?after=99", "", &[token], 410),
        ("POST", "/v1/leases", &large, &[token], 413),
        ("POST", "/v1/leases", "{}", &plain, 415),
        ("GET", "/v1/machine", "", &[token, ("X", &head)], 431),
    ] {
        let reply = server.send(method, path, body, more);
        assert_eq!(reply.status, status, "{method} {path}: {}", reply.text);
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{method} {path}");
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"), "{method} {path}");
        let asks = reply.header("www-authenticate");
        assert_eq!(asks, (status == 401).then_some("Bearer"), "{method} {path}");
        if status >= 400 {
            let problem = reply.json();
            assert_eq!(reply.kind, "application/problem+json", "{method} {path}");
            assert_eq!(problem["status"], status, "{method} {path}: {}", reply.text);
            assert!(!reply.detail().is_empty() && problem["reason"].is_string());
            // RFC 9457: the title depends only on the type.
            let title =
                titles.entry(problem["type"].to_string()).or_insert(problem["title"].clone());
            assert_eq!(*title, problem["title"], "{method} {path}");
        }
        assert_eq!(reply.header("allow").is_some(), status == 405, "{method} {path}");
    }
    assert_eq!(server.send("PUT", "/v1/hold", "", &[token]).header("allow"), Some("POST"));
}

/// Returns the numbers of free, busy, failed and drained nodes in a reply.
fn counts(reply: &Value) -> [u64; 4] {
    ["free", "busy", "failed", "drained"].map(|name| reply[name].as_u64().expect(name))
}

#[test]
fn all_routes_report_the_same_node_counts() {
    let (_server, mut client) = served(|_| {});
    let lease = client.lease(r#"{"shape":[8,4]}"#);
    // The lease holds one failed and one drained node; no lease holds the other two failed and two
    // drained nodes.
    for (change, nodes) in [("fail", [[0, 7], [1, 7], [0, 0]]), ("drain", [[6, 7], [7, 7], [1, 0]])]
    {
        for node in nodes {
            let path = format!("/v1/nodes/{change}");
            assert_eq!(client.post(&path, json!({ "node": node })).status, 200);
        }
    }
    agree(&mut client, [28, 32, 2, 2], [3, 3]);
    client.end(&lease);
    agree(&mut client, [58, 0, 3, 3], [3, 3]);
    // Hypothetical changes are counted like real ones.
    let asked = r#"{"nodes":65,"fail":[[7,7]],"repair":[[0,7],[6,7]]}"#;
    let imagined = client.post("/v1/what-if", asked).json();
    assert_eq!(counts(&imagined["diagnosis"]["counts"]), [60, 0, 3, 1]);
}

/// Checks that all routes report the same node counts.
fn agree(client: &mut Client, expected: [u64; 4], listed: [usize; 2]) {
    let [free, busy, failed, drained] = expected;
    let machine = client.get("/v1/machine").json();
    assert_eq!(counts(&machine), expected);
    assert_eq!(expected.iter().sum::<u64>(), machine["nodes"].as_u64().unwrap());
    let machines = client.get("/v1/machines").json();
    assert_eq!(counts(&machines["machines"][0]), expected);
    let state = client.get("/v1/state").json();
    let length = |name: &str| state[name].as_array().unwrap().len();
    // Lists include nodes held by a lease.
    assert_eq!([length("failed"), length("drained")], listed);
    let metrics = client.get("/metrics").text;
    let gauges = [("free", free), ("busy", busy), ("failed", failed), ("drained", drained)];
    for (name, count) in gauges.into_iter().chain([("unavailable", failed + drained)]) {
        let line = format!("pavior_{name}_nodes{{machine=\"default\"}} {count}\n");
        assert!(metrics.contains(&line), "{line}{metrics}");
    }
    for path in ["/v1/leases", "/v1/explain", "/v1/what-if"] {
        let answer = client.post(path, r#"{"shape":[8,8]}"#).json();
        let diagnosis = &answer["diagnosis"];
        assert_eq!(counts(&diagnosis["counts"]), expected);
        let blocked = &diagnosis["blocked"];
        let length = |name: &str| blocked[name].as_array().unwrap().len() as u64;
        // Blockers include these nodes, because the nodes remain unavailable after the lease ends.
        assert_eq!([length("failed"), length("drained")], listed.map(|nodes| nodes as u64));
    }
    // Samples lag behind the records, so wait for the last one.
    let last = find("the last record in the series", || {
        let series = client.get("/v1/series").json();
        let last = series["samples"].as_array().unwrap().last().cloned();
        last.filter(|last| last["seq"] == machine["seq"])
    });
    has(&last, &json!({ "unavailable": failed + drained, "busy": busy }));
}

/// The names of members that contain times.
const TIMES: [&str; 9] =
    ["at", "now", "start", "expires", "asked", "from", "until", "planned", "began"];

/// Checks the format of every time in a value and returns the number of times.
fn times(value: &Value, place: &str) -> usize {
    match value {
        Value::Array(list) => list.iter().map(|one| times(one, place)).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let place = format!("{place}.{name}");
                assert!(!name.ends_with("_ms"), "{place} is a time in another format");
                match value.as_str().filter(|_| TIMES.contains(&name.as_str())) {
                    Some(text) => {
                        let form = "0000-00-00T00:00:00.000Z";
                        let digits = text.replace(|c: char| c.is_ascii_digit(), "0");
                        assert_eq!(digits, form, "{place}");
                        assert!(millis(text) > 1_600_000_000_000, "{place}: {text}");
                        1
                    }
                    None => times(value, &place),
                }
            })
            .sum(),
        _ => 0,
    }
}

#[test]
fn times_have_the_same_format_in_every_reply_and_event() {
    let (server, mut client) = served_by("easy", |_| {});
    let asked = r#"{"shape":[8,8],"ttl_s":3600,"estimate_s":60}"#;
    let lease = client.post("/v1/leases", asked).json();
    let waits = client.post("/v1/leases?wait=true", asked).json();
    let epoch = &lease["epoch"];
    let again = json!({ "epoch": epoch, "ttl_s": 99 }).to_string();
    let renewed = client.post("/v1/leases/1/renew", &again).json();
    assert_eq!((times(&lease, "lease"), times(&renewed, "renewed")), (2, 2));
    assert!(times(&waits, "waiting") >= 1);
    let operations = json!([{ "renew": { "id": 1, "epoch": epoch } }, { "lease": { "nodes": 1 } }]);
    let batch = json!({ "operations": operations }).to_string();
    assert!(times(&client.post("/v1/batch", &batch).json(), "batch") >= 2);
    for (path, least) in [
        ("/v1/leases", 2),
        ("/v1/leases/1", 2),
        ("/v1/leases/2", 1),
        ("/v1/queue", 1),
        ("/v1/state", 4),
        ("/v1/state?at=2", 3),
        ("/v1/machine", 0),
        ("/v1/machines", 0),
    ] {
        let found = times(&client.get(path).json(), path);
        assert!(found >= least, "{path}: {found} times");
    }
    for path in ["/v1/explain", "/v1/what-if", "/v1/unblock"] {
        times(&client.post(path, r#"{"shape":[8,8]}"#).json(), path);
    }
    until("a sample", || times(&client.get("/v1/series").json(), "series") > 0);
    client.post("/v1/nodes/fail", r#"{"node":[0,0]}"#);
    client.post("/v1/leases/2/end", "");
    let events = watch(&server.address, "/v1/watch?after=0", 7);
    assert_eq!(events.len(), 7, "{events:?}");
    for (_, kind, data) in events {
        let expected = match kind.as_str() {
            "granted" => 3,
            "queued" | "renewed" => 2,
            _ => 1,
        };
        assert_eq!(times(&data, &kind), expected, "{data}");
    }
}

#[test]
fn metrics_have_the_accepted_content_type() {
    let (server, _) = fresh(|_| {});
    let kind = |accept: &str| server.send("GET", "/metrics", "", &[("Accept", accept)]).kind;
    assert_eq!(kind("*/*"), "text/plain; version=0.0.4; charset=utf-8");
    let prometheus = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
    assert_eq!(kind(prometheus), "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

#[test]
fn traceparent_is_copied_to_the_reply_and_the_log() {
    let folder = tempfile::TempDir::new().unwrap();
    let log = folder.path().join("log");
    let (_server, mut client) = served(|setup| setup.log = Some(log.clone()));
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for (path, status) in [("/v1/leases", 201), ("/v1/hold", 400), ("/v1/nothing", 404)] {
        let reply = client.send("POST", path, r#"{"nodes":1}"#, &[("traceparent", trace)]);
        assert_eq!((reply.status, reply.header("traceparent")), (status, Some(trace)), "{path}");
    }
    assert_eq!(client.get("/healthz").header("traceparent"), None);
    let text = std::fs::read_to_string(&log).unwrap();
    assert_eq!(text.matches(trace).count(), 3, "{text}");
}

#[test]
fn every_metric_is_documented_with_its_type() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/watching.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_server, mut client) = served(|setup| setup.slots = vec![[2, 2, 1]]);
    // Request metrics appear after the first reply.
    client.get("/metrics");
    let metrics = client.get("/metrics").text;
    let kinds = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let mut served: Vec<String> = kinds
        .map(|(name, kind)| {
            let total = if kind == "counter" { "_total" } else { "" };
            format!("| `{name}{total}` | {kind} |")
        })
        .collect();
    let rows = page.lines().filter(|line| line.starts_with("| `pavior_"));
    let mut documented: Vec<String> =
        rows.map(|row| row.splitn(4, '|').take(3).collect::<Vec<_>>().join("|") + "|").collect();
    served.sort();
    documented.sort();
    assert_eq!(served, documented);
}
