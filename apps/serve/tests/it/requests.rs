//! Checks that every route refuses malformed requests.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::openapi::routes;
use crate::server::{Server, fresh, served, served_by};

fn documented(server: &Server) -> Vec<(String, String, Value)> {
    routes(&server.client().get("/openapi.json").json())
}

#[test]
fn duplicate_members_are_refused_at_every_depth() {
    let (_server, mut client) = served_by("fcfs", |_| {});
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
        let expected = format!("the body: the member `{name}` appears twice");
        assert!(reply.detail().starts_with(&expected), "{path} {body}: {}", reply.text);
    }
    assert_eq!(client.get("/v1/state").text, before);
}

#[test]
fn every_route_refuses_unknown_and_duplicate_parameters() {
    let (server, _) = fresh(|_| {});
    let mut all = documented(&server);
    all.push(("GET".into(), "/".into(), json!({})));
    all.push(("GET".into(), "/openapi.json".into(), json!({})));
    for (method, path, operation) in all {
        let body = if method == "POST" { "{}" } else { "" };
        let reply = server.send(&method, &format!("{path}?nonesuch=a"), body, &[]);
        assert_eq!(reply.status, 400, "{method} {path}");
        assert!(reply.detail().contains("unknown parameter `nonesuch`"), "{}", reply.text);
        let given = operation["parameters"].as_array().cloned().unwrap_or_default();
        for name in given.iter().filter(|one| one["in"] == "query").map(|one| &one["name"]) {
            let name = name.as_str().unwrap();
            let twice = format!("{path}?{name}=1&{name}=1");
            let reply = server.send(&method, &twice, body, &[]);
            let expected = format!("the `{name}` parameter appears twice");
            assert_eq!((reply.status, reply.detail()), (400, expected), "{twice}");
        }
    }
    let near = server.send("GET", "/v1/leases?afterr=1", "", &[]);
    assert_eq!(near.detail(), "unknown parameter `afterr`; did you mean `after`?");
    for path in ["/v1/leases?machine=x", "/v1/series?machine=x", "/v1/state?machine=x"] {
        let reply = server.send("GET", path, "", &[]);
        reply.is(404, "unknown-machine");
    }
}

#[test]
fn an_unknown_machine_in_a_body_is_refused_with_any_number_of_axes() {
    let (_server, mut client) = served(|_| {});
    client.post("/v1/leases", r#"{"shape":[1,1,1],"machine":"x"}"#).is(404, "unknown-machine");
    // An unknown machine in a batch does not stop the other commands.
    let operations =
        r#"{"operations":[{"lease":{"nodes":1,"machine":"x"}},{"lease":{"nodes":1}}]}"#;
    let reply = client.post("/v1/batch", operations).json();
    let statuses = [0, 1].map(|at| &reply["answers"][at]["status"]);
    assert_eq!(statuses, [404, 201], "{reply}");
    let operations = r#"{"operations":[{"fail":{"node":[0,0,0],"machine":"x"}}]}"#;
    client.post("/v1/batch", operations).is(404, "unknown-machine");
}

#[test]
fn bodies_must_be_declared_as_json() {
    let (server, _) = fresh(|_| {});
    let body = r#"{"nodes":1}"#;
    for (method, path, _) in documented(&server) {
        if method != "POST" {
            continue;
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "", "application/xml"] {
            let reply = server.send("POST", &path, body, &[("Content-Type", kind)]);
            assert_eq!(reply.status, 415, "{path} {kind}: {}", reply.text);
            assert!(reply.detail().contains("application/json"), "{}", reply.text);
        }
        let two = [("Content-Type", "application/json"), ("Content-Type", "text/plain")];
        assert_eq!(server.send("POST", &path, body, &two).status, 415, "{path}");
        let other = [("Content-Type", "application/json; charset=latin1")];
        assert_eq!(server.send("POST", &path, body, &other).status, 415, "{path}");
        // A request without a body needs no content type.
        assert_ne!(server.send("POST", &path, "", &[]).status, 415, "{path}");
    }
    assert_eq!(server.send("GET", "/v1/leases", "", &[]).json()["leases"], json!([]));
    for kind in ["application/json", "APPLICATION/json;charset=utf-8"] {
        let reply = server.send("POST", "/v1/leases", body, &[("Content-Type", kind)]);
        assert_eq!(reply.status, 201, "{kind}");
    }
}

/// Sends raw bytes on a separate connection and returns the reply.
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
        // The declared size alone is too large, so no body is sent.
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
fn bad_requests_change_nothing() {
    let (server, mut client) = served(|_| {});
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
        assert_eq!(client.post("/v1/leases", body).problem(), 400, "{body}");
    }
    for (path, body, status) in [
        ("/v1/leases", r#"{"nodes":1,"machine":"x"}"#, 404),
        ("/v1/leases/1/end", r#"{"epoch":1}"#, 404),
        ("/v1/leases/x/end", r#"{"epoch":1}"#, 404),
        ("/v1/nodes/fail", r#"{"node":[8,0]}"#, 404),
        ("/v1/nodes/fail", r#"{"node":[1]}"#, 400),
        ("/v1/hold", r#"{"parts":[]}"#, 409),
        ("/v1/hold", r#"{"parts":[{"base":[7,7],"sides":[2,1]}]}"#, 409),
        ("/v1/nothing", "", 404),
    ] {
        assert_eq!(client.post(path, body).status, status, "{path} {body}");
    }
    assert_eq!(client.send("DELETE", "/v1/leases", "", &[]).problem(), 405);
    assert_eq!(client.get("/v1/machine").json()["busy"], 0);
    let large = format!("{{\"nodes\":1,\"job\":\"{}\"}}", "x".repeat(2 << 20));
    // The server may close the connection before the whole body has been sent.
    let reply = server.client().try_post("/v1/leases", &large);
    assert!(reply.is_err() || reply.is_ok_and(|reply| reply.status == 413));
}
