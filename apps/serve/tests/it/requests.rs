//! Checks what all routes have in common: they refuse duplicate and unknown members and parameters,
//! and their replies agree in headers, times and counts.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, Reply, has, millis, until, watch};
use crate::server::{Server, fresh};

/// Returns the documented routes: method, path, and operation.
pub(crate) fn routes(document: &Value) -> Vec<(String, String, Value)> {
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().expect("there are paths") {
        for (method, operation) in item.as_object().expect("a path has methods") {
            let path = path.replace("{id}", "1");
            routes.push((method.to_uppercase(), path, operation.clone()));
        }
    }
    assert!(routes.len() >= 22, "{}", routes.len());
    routes
}

fn documented(server: &Server) -> Vec<(String, String, Value)> {
    routes(&server.client().get("/openapi.json").json())
}

/// Sends a request on a separate connection, because an early refusal may close it.
fn once(server: &Server, method: &str, path: &str, body: &str, more: &[(&str, &str)]) -> Reply {
    server.client().send(method, path, body, more)
}

fn detail(reply: &Reply) -> String {
    reply.problem();
    reply.json()["detail"].as_str().expect("a problem has a detail").to_string()
}

#[test]
fn a_member_that_stands_twice_is_refused_at_every_depth() {
    let (server, _) = fresh(|setup| setup.scheduler = Some("fcfs".into()));
    let mut client = server.client();
    client.post("/v1/leases", r#"{"shape":[2,3],"job":"first"}"#);
    let before = client.get("/v1/state").text;
    for (path, body, name) in [
        ("/v1/leases", r#"{"nodes":1,"nodes":2}"#, "nodes"),
        ("/v1/leases", r#"{"nodes":4.0,"nodes":1}"#, "nodes"),
        ("/v1/leases", r#"{"nodes":1,"wait":false,"wait":true}"#, "wait"),
        ("/v1/leases", r#"{"nodes":1,"tenant":"a","t\u0065nant":"b"}"#, "tenant"),
        ("/v1/leases", r#"{"nodes":1,"job":{"a":1,"a":2}}"#, "a"),
        ("/v1/leases/1/end", r#"{"epoch":9,"epoch":2}"#, "epoch"),
        ("/v1/leases/1/renew", r#"{"epoch":9,"epoch":2}"#, "epoch"),
        ("/v1/hold", r#"{"parts":[{"base":[0,0],"base":[4,4],"sides":[1,1]}]}"#, "base"),
        ("/v1/hold", r#"{"parts":[],"parts":[{"base":[4,4],"sides":[1.0,1]}]}"#, "parts"),
        ("/v1/nodes/fail", r#"{"node":[0,0],"node":[1,1]}"#, "node"),
        ("/v1/nodes/repair", r#"{"node":[0,0],"node":[1.0,1]}"#, "node"),
        ("/v1/nodes/drain", r#"{"node":[0,0],"machine":"a","machine":null}"#, "machine"),
        ("/v1/batch", r#"{"operations":[],"operations":[{"lease":{"nodes":1}}]}"#, "operations"),
        ("/v1/batch", r#"{"operations":[{"lease":{"nodes":1,"nodes":2.0}}]}"#, "nodes"),
        ("/v1/batch", r#"{"operations":[{"lease":{"nodes":1},"lease":{"nodes":2}}]}"#, "lease"),
        ("/v1/explain", r#"{"shape":[1,1],"strategies":["ff"],"strategies":[]}"#, "strategies"),
        ("/v1/what-if", r#"{"shape":[1,1],"end":[1],"end":[]}"#, "end"),
        ("/v1/unblock", r#"{"shape":[1,1],"max_jobs":4,"max_jobs":1}"#, "max_jobs"),
    ] {
        let reply = client.post(path, body);
        assert_eq!(reply.status, 400, "{path} {body}: {}", reply.text);
        let told = format!("the body: the member `{name}` appears twice");
        assert!(detail(&reply).starts_with(&told), "{path} {body}: {}", reply.text);
    }
    assert_eq!(client.get("/v1/state").text, before);
}

#[test]
fn a_key_stands_for_the_query_too() {
    let (server, _) = fresh(|setup| setup.scheduler = Some("fcfs".into()));
    let mut client = server.client();
    client.post("/v1/leases", r#"{"shape":[8,8]}"#);
    let mut asked = |path: &str| client.keyed(path, r#"{"nodes":1}"#, "k");
    let waits = asked("/v1/leases?wait=true");
    assert_eq!(waits.status, 202);
    assert_eq!(asked("/v1/leases?wait=true").text, waits.text);
    for path in ["/v1/leases", "/v1/leases?wait=false", "/v1/leases?wait=true&"] {
        asked(path).is(422, "key-reused");
    }
    // The reverse order: first without `wait`, then with it.
    let body = r#"{"nodes":65}"#;
    assert_eq!(client.keyed("/v1/leases", body, "l").status, 409);
    client.keyed("/v1/leases?wait=true", body, "l").is(422, "key-reused");
    let two = [("Idempotency-Key", "l"), ("Idempotency-Key", "m")];
    assert_eq!(client.send("POST", "/v1/leases", body, &two).status, 400);
}

#[test]
fn every_route_refuses_parameters_that_it_does_not_have() {
    let (server, _) = fresh(|_| {});
    let mut all = documented(&server);
    all.push(("GET".into(), "/".into(), json!({})));
    all.push(("GET".into(), "/openapi.json".into(), json!({})));
    for (method, path, operation) in all {
        let body = if method == "POST" { "{}" } else { "" };
        let reply = once(&server, &method, &format!("{path}?nonesuch=a"), body, &[]);
        assert_eq!(reply.status, 400, "{method} {path}");
        assert!(detail(&reply).contains("unknown parameter `nonesuch`"), "{}", reply.text);
        let given = operation["parameters"].as_array().cloned().unwrap_or_default();
        for name in given.iter().filter(|one| one["in"] == "query").map(|one| &one["name"]) {
            let name = name.as_str().unwrap();
            let twice = format!("{path}?{name}=1&{name}=1");
            let reply = once(&server, &method, &twice, body, &[]);
            let told = format!("the `{name}` parameter appears twice");
            assert_eq!((reply.status, detail(&reply)), (400, told), "{twice}");
        }
    }
    let near = once(&server, "GET", "/v1/leases?afterr=1", "", &[]);
    assert_eq!(detail(&near), "unknown parameter `afterr`; did you mean `after`?");
    for path in ["/v1/leases?machine=x", "/v1/series?machine=x", "/v1/state?machine=x"] {
        let reply = once(&server, "GET", path, "", &[]);
        reply.is(404, "unknown-machine");
    }
}

#[test]
fn bodies_are_json_and_say_so() {
    let (server, _) = fresh(|_| {});
    let body = r#"{"nodes":1}"#;
    for (method, path, _) in documented(&server) {
        if method != "POST" {
            continue;
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "", "application/xml"] {
            let reply = once(&server, "POST", &path, body, &[("Content-Type", kind)]);
            assert_eq!(reply.status, 415, "{path} {kind}: {}", reply.text);
            assert!(detail(&reply).contains("application/json"), "{}", reply.text);
        }
        let two = [("Content-Type", "application/json"), ("Content-Type", "text/plain")];
        assert_eq!(once(&server, "POST", &path, body, &two).status, 415, "{path}");
        let other = [("Content-Type", "application/json; charset=latin1")];
        assert_eq!(once(&server, "POST", &path, body, &other).status, 415, "{path}");
        // Without a body, no type is needed.
        assert_ne!(once(&server, "POST", &path, "", &[]).status, 415, "{path}");
    }
    assert_eq!(once(&server, "GET", "/v1/leases", "", &[]).json()["leases"], json!([]));
    for kind in ["application/json", "APPLICATION/json;charset=utf-8"] {
        let reply = once(&server, "POST", "/v1/leases", body, &[("Content-Type", kind)]);
        assert_eq!(reply.status, 201, "{kind}");
    }
}

#[test]
fn every_reply_has_the_headers_that_browsers_obey() {
    let (server, _) = fresh(|setup| setup.give_token_file("secret\n"));
    let token = ("Authorization", "Bearer secret");
    let large = format!("{{\"job\":\"{}\"}}", "x".repeat((1 << 20) + 1));
    let plain = [token, ("Content-Type", "text/plain")];
    for (method, path, body, more, status) in [
        ("GET", "/", "", &[][..], 200),
        ("GET", "/healthz", "", &[], 200),
        ("GET", "/openapi.json", "", &[], 200),
        ("GET", "/v1/machine", "", &[token], 200),
        ("GET", "/metrics", "", &[token], 200),
        ("POST", "/v1/leases", r#"{"nodes":1}"#, &[token], 201),
        ("POST", "/v1/leases", "{", &[token], 400),
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
    ] {
        let reply = once(&server, method, path, body, more);
        assert_eq!(reply.status, status, "{method} {path}: {}", reply.text);
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{method} {path}");
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"), "{method} {path}");
        let asks = reply.header("www-authenticate");
        assert_eq!(asks, (status == 401).then_some("Bearer"), "{method} {path}");
        if status >= 400 {
            let problem = reply.json();
            assert_eq!(reply.kind, "application/problem+json", "{method} {path}");
            assert_eq!(problem["status"], status, "{method} {path}: {}", reply.text);
            assert!(!detail(&reply).is_empty() && problem["reason"].is_string());
        }
        assert_eq!(reply.header("allow").is_some(), status == 405, "{method} {path}");
    }
    assert_eq!(once(&server, "PUT", "/v1/hold", "", &[token]).header("allow"), Some("POST"));
}

#[test]
fn numbers_read_by_prometheus_come_in_the_form_that_it_asks_for() {
    let (server, _) = fresh(|_| {});
    let kind = |accept: &str| once(&server, "GET", "/metrics", "", &[("Accept", accept)]).kind;
    assert_eq!(kind("*/*"), "text/plain; version=0.0.4; charset=utf-8");
    let prometheus = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
    assert_eq!(kind(prometheus), "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

/// Returns the numbers of free, busy, failed and drained nodes in a reply.
fn counts(reply: &Value) -> [u64; 4] {
    ["free", "busy", "failed", "drained"].map(|name| reply[name].as_u64().expect(name))
}

#[test]
fn failed_and_drained_nodes_are_counted_alike_in_every_answer() {
    let (server, _) = fresh(|_| {});
    let mut client = server.client();
    let lease = client.lease(r#"{"shape":[8,4]}"#);
    // The lease holds one failed and one drained node; no lease holds two more of each.
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
    // Hypothetical changes count like real ones.
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
        // So do blockers, because these nodes stay unavailable after the lease.
        assert_eq!([length("failed"), length("drained")], listed.map(|nodes| nodes as u64));
    }
    // Samples lag behind the records.
    let mut last = Value::Null;
    until("the last record in the series", || {
        let series = client.get("/v1/series").json();
        last = series["samples"].as_array().unwrap().last().cloned().unwrap_or_default();
        last["seq"] == machine["seq"]
    });
    has(&last, &json!({ "unavailable": failed + drained, "busy": busy }));
}

/// The names of members that are times.
const TIMES: [&str; 9] =
    ["at", "now", "start", "expires", "asked", "from", "until", "planned", "began"];

/// Checks the times in a value and returns their number.
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
fn times_have_one_form_in_every_reply_and_event() {
    let (server, _) = fresh(|setup| setup.scheduler = Some("easy".into()));
    let mut client = server.client();
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

/// Sends bytes on a separate connection and returns the reply.
fn raw(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    stream.write_all(bytes).unwrap();
    let mut reply = Vec::new();
    let mut buffer = [0; 4096];
    // The service may close the connection before it has read everything.
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        reply.extend_from_slice(&buffer[..count]);
        if String::from_utf8_lossy(&reply).ends_with('}') {
            break;
        }
    }
    String::from_utf8_lossy(&reply).into_owned()
}

#[test]
fn heads_that_are_malformed_or_too_large_are_refused() {
    let (server, _) = fresh(|_| {});
    let head = |line: &str, fields: &str| format!("{line}\r\n{fields}\r\n");
    let (get, post) = ("GET /v1/machine HTTP/1.1", "POST /v1/leases HTTP/1.1");
    let (host, json) = ("Host: 127.0.0.1\r\n", "Content-Type: application/json\r\n");
    let long = |bytes: usize| format!("{host}X-Long: {}\r\n", "a".repeat(bytes));
    let coded =
        |coding: &str| format!("{host}{json}Content-Encoding: {coding}\r\nContent-Length: 2\r\n");
    for (request, status) in [
        (head(get, ""), 400),
        (head(get, &format!("{host}{host}")), 400),
        (head("GET / HTTP/1.1", &format!("{host}Host: evil.example\r\n")), 400),
        (head("GET /v1/machine HTTP/1.0", ""), 200),
        (head(get, host), 200),
        (head(get, &long(32_000)), 200),
        (head(get, &long(33_000)), 431),
        (head("GET /healthz HTTP/1.1", &long(33_000)), 431),
        (head(post, &coded("gzip")) + "{}", 415),
        (head(post, &coded("identity, br")) + "{}", 415),
        (head(post, &coded("Identity")) + "{}", 400),
        // The body is not sent.
        (head(post, &format!("{host}{json}Content-Length: 1048577\r\n")), 413),
        (head(post, &format!("{host}{json}Content-Length: 99999999999\r\n")), 413),
        (
            head(post, &format!("{host}{json}Expect: 100-continue\r\nContent-Length: 1048577\r\n")),
            413,
        ),
    ] {
        let reply = raw(&server, request.as_bytes());
        let shown = &request[..request.len().min(200)];
        assert!(reply.contains(&format!(" {status} ")), "{shown}: {reply}");
        assert_eq!(reply.contains("\"detail\""), status != 200, "{shown}: {reply}");
        assert!(!reply.contains("100 Continue"), "{shown}: {reply}");
    }
    let foreign =
        b"GET /v1/machine HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\xe9\r\n\r\n";
    assert!(raw(&server, foreign).contains(" 403 "));
    let strange = b"GET /v1/machine HTTP/1.1\r\nHost: \xe9\r\n\r\n";
    assert!(raw(&server, strange).contains(" 403 "));
    let metrics = server.client().get("/metrics").text;
    for status in [400, 403, 413, 415, 431] {
        assert!(metrics.contains(&format!("status=\"{status}\"")), "{status}: {metrics}");
    }
}

#[test]
fn keys_have_visible_characters_alone() {
    let (server, _) = fresh(|_| {});
    let mut client = server.client();
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
