//! Watchers of tenants that come and go.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pavior_trials::{attacked, size};
use serde_json::{Value, json};

use crate::client::Client;
use crate::random::Random;
use crate::server::{Server, Setup};

/// Events by number and kind, and what they are about.
type Seen = Vec<(u64, String, Value)>;

/// Watches with a token until so many events have come, or one of at least `last`.
fn look(address: &str, token: &str, after: u64, enough: u64, last: &AtomicU64) -> Seen {
    let address = address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_millis(1500))).expect("a timeout can be set");
    let ask = format!(
        "GET /v1/watch HTTP/1.1\r\nHost: {address}\r\nLast-Event-ID: {after}\r\n\
         Authorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(ask.as_bytes()).expect("it can be asked");
    let (mut seen, mut id, mut kind) = (Seen::new(), 0, String::new());
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { break };
        assert!(!line.contains("410 Gone"), "the records after {after} are gone");
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.parse().expect("ids are numbers");
        } else if let Some(text) = line.strip_prefix("event: ") {
            kind = text.to_string();
        } else if let Some(text) = line.strip_prefix("data: ") {
            seen.push((id, kind.clone(), serde_json::from_str(text).expect("data are JSON")));
            if seen.len() as u64 >= enough || id >= last.load(Ordering::Acquire) {
                break;
            }
        }
    }
    seen
}

/// Comes and goes until everything has been seen.
fn come_and_go(address: &str, token: &str, last: &AtomicU64, most: u64) -> Seen {
    let mut random = Random(most);
    let (mut seen, mut after) = (Seen::new(), 0);
    loop {
        let enough = 1 + random.below(most);
        let part = look(address, token, after, enough, last);
        let quiet = part.is_empty() && last.load(Ordering::Acquire) < u64::MAX;
        after = part.last().map_or(after, |(id, ..)| *id);
        seen.extend(part);
        if quiet || after >= last.load(Ordering::Acquire) {
            return seen;
        }
        std::thread::sleep(Duration::from_millis(random.below(8)));
    }
}

/// A tenant's leases come and go, in every way there is.
fn churn(address: &str, token: &str, rounds: usize, seed: u64) {
    let mut random = Random(seed);
    let mut client = Client::with(address, "Authorization", &format!("Bearer {token}"));
    let mut own: Vec<(u64, u64)> = Vec::new();
    for _ in 0..rounds {
        if own.len() < 4 || random.one_in(2) {
            let ttl_s = if random.one_in(3) { 0.02 } else { 60.0 };
            let body =
                json!({ "nodes": 1 + random.below(12), "wait": random.one_in(2), "ttl_s": ttl_s });
            let reply = client.post("/v1/leases", &body.to_string()).unwrap();
            if reply.status < 300 {
                let lease = reply.json();
                own.push((lease["id"].as_u64().unwrap(), lease["epoch"].as_u64().unwrap()));
            }
        } else {
            let index = random.below(own.len() as u64) as usize;
            let (id, epoch) = own[index];
            let what = if random.one_in(3) { "renew" } else { "end" };
            let path = format!("/v1/leases/{id}/{what}");
            let reply = client.post(&path, &json!({ "epoch": epoch }).to_string()).unwrap();
            // One that waited holds a lease of another epoch by now.
            if reply.status == 409 || what == "end" {
                own.swap_remove(index);
            }
        }
    }
}

/// The events up to a number, and whose they are, by what the operator sees.
fn owned(all: &Seen, seq: u64) -> Vec<(u64, String, Option<String>)> {
    let mut owners: HashMap<u64, String> = HashMap::new();
    let mut whose = Vec::new();
    for (id, kind, event) in all.iter().filter(|(id, ..)| *id <= seq) {
        let about = event.get("lease").or(event.get("waiting"));
        if let Some(about) = about {
            let tenant = about["tenant"].as_str().unwrap_or_default().to_string();
            owners.insert(about["id"].as_u64().unwrap(), tenant);
        }
        let lease = about.map_or(&event["id"], |about| &about["id"]).as_u64();
        whose.push((*id, kind.clone(), lease.map(|lease| owners[&lease].clone())));
    }
    whose
}

#[test]
fn a_tenants_watcher_that_comes_back_misses_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::TempDir::new().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "root\na tenant=a\nb tenant=b\n").unwrap();
    std::fs::set_permissions(&tokens, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut setup = Setup::new(&folder.path().join("data"));
    setup.tokens = Some(tokens);
    setup.scheduler = Some("fcfs".into());
    // Snapshots all the time; what a watcher may still ask for is kept.
    (setup.snapshot_every, setup.history) = (200, size(100_000, 1_000_000) as u64);
    let server = Server::start(&setup);
    let last = Arc::new(AtomicU64::new(u64::MAX));
    let watch = |token, most| {
        let (address, last) = (server.address.clone(), last.clone());
        std::thread::spawn(move || come_and_go(&address, token, &last, most))
    };
    let watchers = [("a", watch("a", 12)), ("b", watch("b", 3)), ("a", watch("a", 300))];
    let all = watch("root", 100_000);
    let rounds = size(700, 12_000);
    std::thread::scope(|scope| {
        for (token, seed) in [("a", 1), ("b", 2), ("a", 3), ("root", 4)] {
            let address = &server.address;
            scope.spawn(move || churn(address, token, rounds, seed));
        }
    });
    let mut root = Client::with(&server.address, "Authorization", "Bearer root");
    let seq = root.get("/v1/machine").unwrap().json()["seq"].as_u64().unwrap();
    last.store(seq, Ordering::Release);
    let whose = owned(&all.join().unwrap(), seq);
    let (mut tried, mut failed) = (0, 0);
    for (tenant, watcher) in watchers {
        let seen: Vec<(u64, String)> =
            watcher.join().unwrap().into_iter().map(|(id, kind, _)| (id, kind)).collect();
        let seen: Vec<(u64, String)> = seen.into_iter().filter(|(id, _)| *id <= seq).collect();
        let own = whose.iter().filter(|(.., of)| of.as_ref().is_none_or(|of| of == tenant));
        let own: Vec<(u64, String)> = own.map(|(id, kind, _)| (*id, kind.clone())).collect();
        tried += own.len();
        let missed = own.iter().filter(|event| seen.binary_search(event).is_err()).count();
        let others = seen.iter().filter(|event| own.binary_search(event).is_err()).count();
        failed += missed + others + usize::from(!seen.is_sorted());
    }
    assert!(tried > rounds, "{tried} records of tenants");
    attacked("tenants", "records that a tenant's watcher misses when it comes back", tried, failed);
}
