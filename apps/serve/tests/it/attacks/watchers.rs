//! Tests watchers that reconnect repeatedly.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pavior_trials::{attacked, size};
use serde_json::json;

use crate::client::{Client, Events, holder, number, watch_as};
use crate::random::Random;
use crate::server::shared;

/// Watches with a token until `enough` events have arrived or an event's id is at least `last`.
fn watch_part(address: &str, token: &str, after: u64, enough: u64, last: &AtomicU64) -> Events {
    let headers = format!("Last-Event-ID: {after}\r\nAuthorization: Bearer {token}\r\n");
    let seen_all =
        |seen: usize, id: u64| seen as u64 >= enough || id >= last.load(Ordering::Acquire);
    watch_as(address, "/v1/watch", &headers, Duration::from_secs(10), seen_all)
}

/// Reconnects until all events have been seen.
fn watch_in_parts(address: &str, token: &str, last: &AtomicU64, most: u64) -> Events {
    let mut random = Random(most);
    let (mut events, mut after) = (Events::new(), 0);
    loop {
        let enough = 1 + random.below(most);
        let part = watch_part(address, token, after, enough, last);
        let quiet = part.is_empty() && last.load(Ordering::Acquire) < u64::MAX;
        after = part.last().map_or(after, |(id, ..)| *id);
        events.extend(part);
        if quiet || after >= last.load(Ordering::Acquire) {
            return events;
        }
        std::thread::sleep(Duration::from_millis(random.below(8)));
    }
}

/// Requests, renews and ends leases at random.
fn churn(address: &str, token: &str, rounds: usize, seed: u64) {
    let mut random = Random(seed);
    let mut client = Client::of(address, token);
    let mut own: Vec<(u64, u64)> = Vec::new();
    for _ in 0..rounds {
        if own.len() < 4 || random.one_in(2) {
            let ttl_s = if random.one_in(3) { 0.02 } else { 60.0 };
            let body =
                json!({ "nodes": 1 + random.below(12), "wait": random.one_in(2), "ttl_s": ttl_s });
            let reply = client.post("/v1/leases", &body);
            if reply.status < 300 {
                own.push(holder(&reply.json()));
            }
        } else {
            let index = random.below(own.len() as u64) as usize;
            let (id, epoch) = own[index];
            let what = if random.one_in(3) { "renew" } else { "end" };
            let path = format!("/v1/leases/{id}/{what}");
            let reply = client.post(&path, json!({ "epoch": epoch }));
            // A waiting request may have become a lease with a new epoch.
            if reply.status == 409 || what == "end" {
                own.swap_remove(index);
            }
        }
    }
}

/// Returns the events up to record `seq`, as seen by the operator, each with its tenant.
fn owned(all: &Events, seq: u64) -> Vec<(u64, String, Option<String>)> {
    let mut owners: HashMap<u64, String> = HashMap::new();
    let mut whose = Vec::new();
    for (id, kind, event) in all.iter().filter(|(id, ..)| *id <= seq) {
        let about = event.get("lease").or(event.get("waiting"));
        if let Some(about) = about {
            let tenant = about["tenant"].as_str().unwrap_or_default().to_string();
            owners.insert(number(&about["id"]), tenant);
        }
        let lease = about.map_or(&event["id"], |about| &about["id"]).as_u64();
        whose.push((*id, kind.clone(), lease.map(|lease| owners[&lease].clone())));
    }
    whose
}

#[test]
fn a_reconnecting_watcher_misses_nothing() {
    let (server, mut root) = shared(&["a", "b"], |setup| {
        setup.scheduler = Some("fcfs".into());
        // Snapshots are frequent, but records that a watcher may still request are retained.
        (setup.snapshot_every, setup.history) = (200, size(100_000, 100_000, 1_000_000) as u64);
    });
    let last = Arc::new(AtomicU64::new(u64::MAX));
    let watch = |token, most| {
        let (address, last) = (server.address.clone(), last.clone());
        std::thread::spawn(move || {
            watch_in_parts(&address, &format!("{token}-secret"), &last, most)
        })
    };
    let watchers = [("a", watch("a", 12)), ("b", watch("b", 3)), ("a", watch("a", 300))];
    let all = watch("root", 100_000);
    let rounds = size(700, 700, 12_000);
    std::thread::scope(|scope| {
        for (token, seed) in [("a", 1), ("b", 2), ("a", 3), ("root", 4)] {
            let address = &server.address;
            scope.spawn(move || churn(address, &format!("{token}-secret"), rounds, seed));
        }
    });
    let seq = root.seq();
    last.store(seq, Ordering::Release);
    let whose = owned(&all.join().unwrap(), seq);
    let (mut tried, mut failed) = (0, 0);
    for (tenant, watcher) in watchers {
        let seen = watcher.join().unwrap().into_iter().map(|(id, kind, _)| (id, kind));
        let seen: Vec<(u64, String)> = seen.filter(|(id, _)| *id <= seq).collect();
        let own = whose.iter().filter(|(.., of)| of.as_ref().is_none_or(|of| of == tenant));
        let own: Vec<(u64, String)> = own.map(|(id, kind, _)| (*id, kind.clone())).collect();
        tried += own.len();
        let missed = own.iter().filter(|event| seen.binary_search(event).is_err()).count();
        let others = seen.iter().filter(|event| own.binary_search(event).is_err()).count();
        failed += missed + others + usize::from(!seen.is_sorted());
    }
    assert!(tried > rounds, "{tried} records of tenants");
    attacked("tenants", "records missed by a tenant's reconnecting watcher", tried, failed);
}
