//! Connections that take and do not give: nobody else is locked out, and the memory stays bounded.

use std::net::Ipv4Addr;

use pavior_trials::{attacked, size};
use serde_json::json;

use super::crowd::{Crowd, of, unanswered};
use crate::certificates::guarded_with;
use crate::server::{Server, fresh};

const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// A server with tokens of an operator and of tenants a and b, and so many places.
fn tokens(places: usize) -> (Server, crate::server::Setup) {
    fresh(|setup| {
        *setup = setup.clone().with_tokens(&["a", "b"]);
        setup.connections = Some(places);
    })
}

/// How many requests of the operator and of tenant b are not answered.
fn locked_out(server: &Server, tries: usize) -> usize {
    let of = |token: &'static str| move || of(&server.address, token);
    unanswered(tries, of("root-secret")) + unanswered(tries, of("b-secret"))
}

/// A request whose body never ends, of a tenant.
fn unfinished(token: &str, length: usize, sent: usize) -> Vec<u8> {
    let head = format!(
        "POST /v1/leases HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.into_bytes(), vec![b' '; sent]].concat()
}

#[test]
fn connections_that_say_nothing_lock_nobody_out() {
    let places = size(256, 4096);
    let (server, _) = tokens(places);
    let _crowd = Crowd::open(&server.address, HERE, places + places / 4, b"");
    let tries = size(5, 50);
    let failed = locked_out(&server, tries);
    attacked("service", "connections that say nothing", 2 * tries, failed);
}

#[test]
fn pages_that_are_not_read_lock_nobody_out() {
    let places = size(256, 4096);
    let (server, _) = tokens(places);
    let page = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    let _crowd = Crowd::open(&server.address, HERE, places + places / 4, page);
    let tries = size(5, 50);
    let failed = locked_out(&server, tries);
    println!("memory: {} KiB", server.memory());
    attacked("service", "the page asked for, and not read", 2 * tries, failed);
}

#[test]
fn bodies_that_do_not_end_lock_nobody_out() {
    let places = size(256, 4096);
    let (server, _) = tokens(places);
    let body = unfinished("a-secret", 1 << 20, 100);
    let _crowd = Crowd::open(&server.address, HERE, places + places / 4, &body);
    let tries = size(5, 50);
    let failed = locked_out(&server, tries);
    attacked("tenants", "bodies of a tenant that do not end", 2 * tries, failed);
}

#[test]
fn bodies_that_do_not_end_take_bounded_memory() {
    let (server, _) = tokens(4096);
    let before = server.memory();
    let count = size(300, 3000);
    let body = unfinished("a-secret", 1 << 20, (1 << 20) - 1);
    let _crowd = Crowd::open(&server.address, HERE, count, &body);
    let more = server.memory().saturating_sub(before);
    println!("{count} bodies of 1 MiB: {more} KiB more");
    // A tenant may have 32 MiB of bodies under way, and each connection has buffers of its own.
    let most = 80 * 1024 + count as u64 * 64;
    attacked("tenants", "memory taken by bodies that do not end", 1, usize::from(more > most));
}

#[test]
fn replies_that_are_not_read_take_bounded_memory() {
    let (server, _) = fresh(|setup| {
        *setup = setup.clone().with_tokens(&["a", "b"]);
        setup.machine = "mesh:128x128".into();
    });
    let mut root = of(&server.address, "root-secret");
    let leases = vec![r#"{"lease":{"shape":[1,1]}}"#; 4000].join(",");
    for _ in 0..3 {
        let body = format!("{{\"operations\":[{leases}]}}");
        assert_eq!(root.post("/v1/batch", &body).unwrap().status, 200);
    }
    let reply = root.get("/v1/state").unwrap().text.len();
    let before = server.memory();
    let count = size(200, 400);
    let ask = b"GET /v1/state HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a-secret\r\n\r\n";
    let _crowd = Crowd::open(&server.address, HERE, count, ask);
    // They are answered in the order of their coming.
    let tries = size(3, 20);
    let failed = locked_out(&server, tries);
    let more = server.memory().saturating_sub(before);
    println!("{count} replies of {reply} bytes: {more} KiB more");
    let most = 160 * 1024 + count as u64 * 64;
    let failed = failed + usize::from(more > most);
    attacked("tenants", "large replies that are not read", 2 * tries + 1, failed);
}

#[test]
fn handshakes_that_do_not_end_lock_nobody_out() {
    let places = size(256, 4096);
    let tokens = "root-secret\nb-secret tenant=b\n";
    let guarded = guarded_with(Some(tokens), false, |setup| setup.connections = Some(places));
    // The first bytes of a handshake.
    let _crowd = Crowd::open(&guarded.server.address, HERE, places + places / 4, b"\x16\x03\x01");
    let tries = size(5, 50);
    let failed = unanswered(tries, || guarded.client(None, Some("root-secret")))
        + unanswered(tries, || guarded.client(None, Some("b-secret")));
    attacked("service", "TLS handshakes that do not end", 2 * tries, failed);
}

#[test]
fn known_callers_stay_while_others_come_and_go() {
    let places = size(256, 4096);
    let (server, _) = tokens(places);
    let mut b = of(&server.address, "b-secret");
    let mut root = of(&server.address, "root-secret");
    let rounds = size(4, 3);
    let mut failed = 0;
    for round in 0..rounds {
        let from = if round % 2 == 0 { HERE } else { ELSEWHERE };
        let _crowd = Crowd::open(&server.address, from, places + places / 8, b"GET / HTTP/1.1\r\n");
        // Over the same connections all the time; the client opens none of its own.
        failed += usize::from(b.get("/v1/machine").is_err());
        failed += usize::from(root.get("/v1/machine").is_err());
    }
    attacked("tenants", "connections of known callers pushed out", 2 * rounds, failed);
}

#[test]
fn a_server_with_few_open_files_goes_on_granting_and_rotating() {
    let (server, _) = fresh(|setup| {
        *setup = setup.clone().with_tokens(&["a", "b"]);
        setup.open_files = Some(256);
        setup.snapshot_every = 20;
    });
    let mut root = of(&server.address, "root-secret");
    assert_eq!(root.get("/v1/machine").unwrap().status, 200);
    let crowd = Crowd::open(&server.address, HERE, size(300, 2000), b"");
    let tries = size(60, 300);
    let mut failed = 0;
    for _ in 0..tries {
        let lease = root.post("/v1/leases", r#"{"nodes":1}"#).map(|reply| reply.json());
        let lease = lease.unwrap_or_default();
        let end = json!({ "epoch": lease["epoch"] }).to_string();
        let ended = root.post(&format!("/v1/leases/{}/end", lease["id"]), &end);
        failed += usize::from(!ended.is_ok_and(|reply| reply.status == 200));
    }
    println!("{} connections were refused", crowd.failed);
    let text = root.get("/metrics").map(|reply| reply.text).unwrap_or_default();
    let saved = |line: &&str| line.starts_with("pavior_snapshots_total") && !line.ends_with(" 0");
    failed += usize::from(!text.lines().any(|line| saved(&line)));
    attacked("service", "connections beyond the limit of open files", tries + 1, failed);
}

#[test]
fn explanations_of_a_tenant_do_not_hold_up_the_others() {
    let (server, _) = fresh(|setup| {
        *setup = setup.clone().with_tokens(&["a", "b"]);
        setup.machine = "torus:32x32x32".into();
    });
    let mut root = of(&server.address, "root-secret");
    for node in (0..32u32).flat_map(|x| (0..32).map(move |y| [x, y, (x * 7 + y * 3) % 32])) {
        let body = json!({ "node": node }).to_string();
        assert_eq!(root.post("/v1/nodes/fail", &body).unwrap().status, 200);
    }
    let body = r#"{"shape":[20,20,20],"strategies":["bf","gabl","mbs"]}"#;
    let ask = format!(
        "POST /v1/explain HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a-secret\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut crowd = Crowd::open(&server.address, HERE, size(300, 2000), ask.as_bytes());
    let mut b = of(&server.address, "b-secret");
    let tries = size(3, 10);
    let began = std::time::Instant::now();
    let mut failed = 0;
    for _ in 0..tries {
        let reply = b.post("/v1/explain", r#"{"shape":[2,2,2]}"#);
        failed += usize::from(!reply.is_ok_and(|reply| reply.status == 200));
    }
    println!(
        "{:?} for {tries} explanations of b; {} of a are open",
        began.elapsed(),
        crowd.open_still()
    );
    attacked("tenants", "explanations of one tenant before those of another", tries, failed);
}
