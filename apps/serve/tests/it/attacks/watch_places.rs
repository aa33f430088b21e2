//! Tests watchers that occupy every slot or never read.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use pavior_trials::{attacked, size};
use serde_json::json;

use super::crowd::{Crowd, connect, granted, request};
use crate::client::{Client, batch};
use crate::server::shared;

const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;

fn ask(token: &str) -> String {
    request("GET /v1/watch", token, "", 0)
}

/// Checks that a watch request is accepted and that events arrive.
fn watches(address: &str, token: &str) -> Option<()> {
    let mut stream = TcpStream::connect(address.trim_start_matches("http://")).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    stream.write_all(ask(token).as_bytes()).ok()?;
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    if !lines.next()?.contains(" 200 ") {
        return None;
    }
    granted(&mut Client::of(address, token))?;
    lines.any(|line| line == "event: ended").then_some(())
}

/// Writes 4000 records per round. Returns the number of failed rounds.
fn write_records(root: &mut Client, rounds: usize) -> usize {
    // Long job names make large events.
    let name = "x".repeat(200);
    let round = |_: &usize| {
        let lease = |index| json!({ "lease": { "nodes": 1, "job": format!("{name}{index}") } });
        let reply = root.post("/v1/batch", batch((0..2000).map(lease))).json();
        let ends = reply["answers"].as_array().unwrap().iter().map(|answer| {
            json!({ "end": { "id": answer["body"]["id"], "epoch": answer["body"]["epoch"] } })
        });
        root.post("/v1/batch", batch(ends)).status != 200
    };
    (0..rounds).filter(round).count()
}

#[test]
fn a_watcher_that_reads_old_records_can_lose_its_place() {
    let (server, mut root) = shared(&["a"], |setup| {
        setup.machine = "mesh:64x64".into();
        setup.watchers = Some(1);
    });
    // The records are too large to fit in the connection's buffers.
    assert_eq!(write_records(&mut root, 15), 0);
    let last = format!("id: {}", root.seq());
    let mut stream = connect(&server.address, HERE).unwrap();
    stream.write_all(request("GET /v1/watch?after=0", "root-secret", "", 0).as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.next().unwrap().contains(" 200 "));
    assert!(watches(&server.address, "a-secret").is_some());
    assert!(lines.all(|line| line != last), "the watcher has kept its place");
}

#[test]
fn watchers_of_a_tenant_do_not_lock_out_others() {
    let places = size(64, 64, 1024);
    let (server, _) = shared(&["a", "b"], |setup| setup.watchers = Some(places));
    let _crowd = Crowd::open(&server.address, HERE, places + 20, &ask("a-secret"));
    let tries = size(4, 4, 40);
    let tokens = ["root-secret", "b-secret"].iter().cycle().take(tries);
    let failed = tokens.filter(|token| watches(&server.address, token).is_none()).count();
    attacked("tenants", "watcher places taken by one tenant", tries, failed);
}

#[test]
fn watchers_that_do_not_read_use_bounded_memory() {
    let (server, mut root) = shared(&["a", "b"], |setup| setup.machine = "mesh:64x64".into());
    let _crowd = Crowd::open(&server.address, HERE, 32, &ask("root-secret"));
    let before = server.memory();
    let rounds = size(60, 60, 150);
    let failed = write_records(&mut root, rounds);
    let more = server.memory().saturating_sub(before);
    println!("{} records: {more} KiB more memory", rounds * 4000);
    let failed = failed + usize::from(more > 128 * 1024);
    attacked("tenants", "watchers that do not read", rounds + 1, failed);
}
