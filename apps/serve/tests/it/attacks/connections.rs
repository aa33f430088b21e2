//! Tests connections that try to lock out other callers or exhaust memory.

use std::net::Ipv4Addr;

use pavior_trials::{attacked, size};
use serde_json::json;

use super::crowd::{Crowd, granted, request, unanswered};
use crate::certificates::guarded;
use crate::client::batch;
use crate::server::{Server, shared};

const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Counts the requests from the operator and tenant b that go unanswered.
fn locked_out(server: &Server, tries: usize) -> usize {
    let of = |token: &'static str| move || server.of(token);
    unanswered(tries, of("root-secret")) + unanswered(tries, of("b-secret"))
}

/// Returns a request from tenant a with `sent` bytes of a 1 MiB body.
fn unfinished(sent: usize) -> String {
    request("POST /v1/leases", "a-secret", &" ".repeat(sent), 1 << 20)
}

#[test]
fn crowds_do_not_lock_out_others() {
    let body = unfinished(100);
    for (area, what, bytes) in [
        ("service", "connections that send nothing", ""),
        ("service", "replies with the page that are not read", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        ("tenants", "a tenant's bodies that do not end", &body),
    ] {
        let (places, tries) = (size(256, 256, 4096), size(5, 5, 50));
        let (server, _) = shared(&["a", "b"], |setup| setup.connections = Some(places));
        let _crowd = Crowd::open(&server.address, HERE, places + places / 4, bytes);
        attacked(area, what, 2 * tries, locked_out(&server, tries));
    }
}

#[test]
fn unfinished_bodies_use_bounded_memory() {
    let (server, _) = shared(&["a", "b"], |_| {});
    let before = server.memory();
    let count = size(300, 300, 3000);
    let _crowd = Crowd::open(&server.address, HERE, count, &unfinished((1 << 20) - 1));
    let more = server.memory().saturating_sub(before);
    println!("{count} bodies of 1 MiB: {more} KiB more memory");
    // A tenant may have 32 MiB of bodies in flight, and every connection has its own buffers.
    let most = 80 * 1024 + count as u64 * 64;
    attacked("tenants", "memory taken by bodies that do not end", 1, usize::from(more > most));
}

#[test]
fn unread_replies_use_bounded_memory() {
    let (server, mut root) = shared(&["a", "b"], |setup| setup.machine = "mesh:128x128".into());
    let leases = batch(vec![r#"{"lease":{"shape":[1,1]}}"#; 4000]);
    for _ in 0..2 {
        assert_eq!(root.post("/v1/batch", &leases).status, 200);
    }
    let reply = root.get("/v1/state").text.len();
    let before = server.peak_memory();
    let count = size(100, 100, 400);
    let ask = request("GET /v1/state", "a-secret", "", 0);
    let _crowd = Crowd::open(&server.address, HERE, count, &ask);
    // Requests are answered in order of arrival.
    let tries = size(3, 3, 20);
    let failed = locked_out(&server, tries);
    // A caller's requests are answered in turn, so this request is answered after those above.
    assert_eq!(server.of("a-secret").get("/v1/state").status, 200);
    let more = server.peak_memory() - before;
    println!("{count} replies of {reply} bytes: {more} KiB more memory");
    let most = 64 * 1024 + count as u64 * 64;
    let failed = failed + usize::from(more > most);
    attacked("tenants", "large replies that are not read", 2 * tries + 1, failed);
}

#[test]
fn unfinished_handshakes_do_not_lock_out_others() {
    let places = size(256, 256, 4096);
    let tokens = "root-secret\nb-secret tenant=b\n";
    let guarded = guarded(Some(tokens), false, |setup| setup.connections = Some(places));
    // Send only the first bytes of a TLS handshake on each connection.
    let _crowd = Crowd::open(&guarded.server.address, HERE, places + places / 4, "\x16\x03\x01");
    let tries = size(5, 5, 50);
    let failed = unanswered(tries, || guarded.client(None, Some("root-secret")))
        + unanswered(tries, || guarded.client(None, Some("b-secret")));
    attacked("service", "TLS handshakes that do not end", 2 * tries, failed);
}

#[test]
fn unknown_callers_do_not_evict_authenticated_ones() {
    let places = size(256, 256, 4096);
    let (server, mut root) = shared(&["a", "b"], |setup| setup.connections = Some(places));
    let mut b = server.of("b-secret");
    let rounds = size(4, 4, 3);
    let mut failed = 0;
    for round in 0..rounds {
        let from = if round % 2 == 0 { HERE } else { ELSEWHERE };
        let _crowd = Crowd::open(&server.address, from, places + places / 8, "GET / HTTP/1.1\r\n");
        // The clients reuse their connections in every round.
        failed += usize::from(b.try_get("/v1/machine").is_err());
        failed += usize::from(root.try_get("/v1/machine").is_err());
    }
    attacked("tenants", "authenticated connections evicted", 2 * rounds, failed);
}

#[test]
fn a_server_with_few_open_files_continues_to_grant_and_rotate() {
    let (server, mut root) = shared(&["a", "b"], |setup| {
        setup.open_files = Some(256);
        setup.snapshot_every = 20;
    });
    assert_eq!(root.get("/v1/machine").status, 200);
    let crowd = Crowd::open(&server.address, HERE, size(300, 300, 2000), "");
    let tries = size(60, 60, 300);
    let mut failed = (0..tries).filter(|_| granted(&mut root).is_none()).count();
    println!("{} connections were refused", crowd.failed);
    // Snapshots are written in the background, so the first one may be unfinished.
    let mut saved = || {
        let text = root.try_get("/metrics").map(|reply| reply.text).unwrap_or_default();
        let is = |line: &str| line.starts_with("pavior_snapshots_total") && !line.ends_with(" 0");
        text.lines().any(is)
    };
    let mut asked = 0;
    while !saved() && asked < 100 {
        asked += 1;
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    failed += usize::from(asked == 100);
    attacked("service", "connections beyond the open file limit", tries + 1, failed);
}

#[test]
fn explanations_of_a_tenant_do_not_delay_others() {
    let (server, mut root) = shared(&["a", "b"], |setup| setup.machine = "torus:32x32x32".into());
    for node in (0..32u32).flat_map(|x| (0..32).map(move |y| [x, y, (x * 7 + y * 3) % 32])) {
        assert_eq!(root.post("/v1/nodes/fail", json!({ "node": node })).status, 200);
    }
    let body = r#"{"shape":[20,20,20],"strategies":["bf","gabl","mbs"]}"#;
    let ask = request("POST /v1/explain", "a-secret", body, body.len());
    let mut crowd = Crowd::open(&server.address, HERE, size(300, 300, 2000), &ask);
    let mut b = server.of("b-secret");
    let tries = size(3, 3, 10);
    let began = std::time::Instant::now();
    let mut explained = || b.try_post("/v1/explain", r#"{"shape":[2,2,2]}"#);
    let answered = (0..tries).filter(|_| explained().is_ok_and(|reply| reply.status == 200));
    let failed = tries - answered.count();
    println!(
        "{:?} for {tries} explanations for b; {} for a are open",
        began.elapsed(),
        crowd.open_still()
    );
    attacked("tenants", "a tenant's explanations that delay another's", tries, failed);
}
