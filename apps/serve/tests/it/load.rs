//! How many durable operations a second, how long they take, and what memory they leave behind.
//!
//! The numbers are printed, not judged: they depend on the machine. What is judged is that every
//! operation is answered as it should be, and that the memory of the server stays where it is.
//! `PAVIOR_LOAD_S=20` sets the seconds of each part, `PAVIOR_LOAD_MILLIONS=10` the operations of
//! the part that watches the memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pavior_serve::core::ServiceRecord;
use pavior_serve::storage::RecordStore;
use pavior_serve::storage::disk::DiskFolder;
use pavior_serve::storage::journal::JournalStore;
use serde::Deserialize;
use serde_json::json;

use crate::client::Client;
use crate::decisions::begin;
use crate::server::{Server, fresh};

fn seconds() -> f64 {
    std::env::var("PAVIOR_LOAD_S").ok().and_then(|text| text.parse().ok()).unwrap_or(0.5)
}

/// Grants and ends leases one by one; the time of each operation.
fn one_by_one(address: &str, until: Instant) -> Vec<Duration> {
    let mut client = Client::new(address);
    let mut times = Vec::new();
    while Instant::now() < until {
        let began = Instant::now();
        let reply = client.post("/v1/leases", r#"{"shape":[2,2]}"#).expect("it answers");
        times.push(began.elapsed());
        assert_eq!(reply.status, 201, "{}", reply.text);
        let lease = reply.json();
        let body = json!({ "epoch": lease["epoch"] }).to_string();
        let began = Instant::now();
        let reply = client.post(&format!("/v1/leases/{}/end", lease["id"]), &body);
        times.push(began.elapsed());
        assert_eq!(reply.expect("it answers").status, 200);
    }
    times
}

/// An answer of a batch, as far as it is looked at.
#[derive(Deserialize)]
struct Answer {
    status: u16,
    body: Body,
}

#[derive(Deserialize)]
struct Body {
    id: u64,
    #[serde(default)]
    epoch: u64,
}

#[derive(Deserialize)]
struct Answers {
    answers: Vec<Answer>,
}

/// The same in batches; the number of operations.
fn in_batches(address: &str, size: usize, until: impl Fn(u64) -> bool) -> u64 {
    let mut client = Client::new(address);
    let leases = vec![r#"{"lease":{"shape":[1,1]}}"#; size].join(",");
    let leases = format!("{{\"operations\":[{leases}]}}");
    let mut ask = |body: &str| -> Vec<Answer> {
        let reply = client.post("/v1/batch", body).expect("it answers");
        serde_json::from_str::<Answers>(&reply.text).expect("each is carried out").answers
    };
    let mut count = 0;
    while !until(count) {
        let granted = ask(&leases);
        let mut ends = String::from("{\"operations\":[");
        for (index, Answer { status, body: Body { id, epoch } }) in granted.iter().enumerate() {
            assert_eq!(*status, 201);
            let between = if index > 0 { "," } else { "" };
            ends.push_str(&format!("{between}{{\"end\":{{\"id\":{id},\"epoch\":{epoch}}}}}"));
        }
        ends.push_str("]}");
        let ended = ask(&ends);
        assert!(ended.len() == size && ended.iter().all(|answer| answer.status == 200));
        count += 2 * size as u64;
    }
    count
}

#[test]
fn operations_under_load_are_all_answered() {
    let (server, _) = fresh(|setup| setup.machine = "mesh:64x64".into());
    for connections in [16, 64] {
        let began = Instant::now();
        let until = began + Duration::from_secs_f64(seconds());
        let address = &server.address;
        let mut times: Vec<Duration> = std::thread::scope(|scope| {
            let all: Vec<_> =
                (0..connections).map(|_| scope.spawn(move || one_by_one(address, until))).collect();
            all.into_iter().flat_map(|one| one.join().expect("no panic")).collect()
        });
        let took = began.elapsed().as_secs_f64();
        times.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        let rate = times.len() as f64 / took;
        println!(
            "{connections} connections: {rate:.0} durable operations a second, median {:?}, p99 {:?}",
            at(0.5),
            at(0.99)
        );
    }
    let began = Instant::now();
    let until = began + Duration::from_secs_f64(seconds());
    let address = &server.address;
    let count: u64 = std::thread::scope(|scope| {
        let all: Vec<_> = (0..4)
            .map(|_| scope.spawn(move || in_batches(address, 512, |_| Instant::now() > until)))
            .collect();
        all.into_iter().map(|one| one.join().expect("no panic")).sum()
    });
    let rate = count as f64 / began.elapsed().as_secs_f64();
    println!("batches of 512 over 4 connections: {rate:.0} durable operations a second");
    assert!(count > 0);
}

#[test]
fn memory_stays_where_it_is() {
    let long: Option<u64> =
        std::env::var("PAVIOR_LOAD_MILLIONS").ok().and_then(|text| text.parse().ok());
    let total = long.map_or(60_000, |millions| millions * 1_000_000);
    let (server, _) = fresh(|setup| {
        setup.machine = "mesh:32x32".into();
        (setup.snapshot_every, setup.history) = (total.div_ceil(20).min(100_000), 100_000);
    });
    let part = total / 4;
    let mut seen = Vec::new();
    for _ in 0..4 {
        in_batches(&server.address, 256, |count| count >= part);
        seen.push(server.memory());
    }
    println!("{total} operations, memory after each quarter: {seen:?} KiB");
    // The first quarter fills what is bounded; after it nothing grows but by noise.
    let grown = seen[3].saturating_sub(seen[0]);
    assert!(grown < 32 * 1024, "{grown} KiB more after three more quarters");
}

/// The time for which a process has had a processor; clock ticks are hundredths of a second.
fn worked(server: &Server) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // utime and stime are fields 14 and 15; the name before the parenthesis is the second.
    let ticks = fields.skip(11).take(2).map(|field| field.parse::<u64>().expect("a number"));
    Duration::from_millis(10 * ticks.sum::<u64>())
}

/// `PAVIOR_LOAD_RECORDS=1000000` is the number of the promise.
#[test]
fn a_killed_server_with_many_records_is_soon_back() {
    let long: Option<u64> =
        std::env::var("PAVIOR_LOAD_RECORDS").ok().and_then(|text| text.parse().ok());
    let total = long.unwrap_or(30_000);
    let (mut server, setup) = fresh(|setup| setup.machine = "mesh:32x32".into());
    in_batches(&server.address, 512, |count| count >= total);
    let before = Client::new(&server.address).get("/readyz").expect("it answers").json();
    server.kill();
    let began = Instant::now();
    let again = Server::start(&setup);
    let after = Client::new(&again.address).get("/readyz").expect("it answers").json();
    let (took, worked) = (began.elapsed(), worked(&again));
    println!(
        "answers {took:?} after its start ({worked:?} of a processor), {} records",
        after["seq"]
    );
    assert_eq!(before["seq"], after["seq"]);
}

/// The journal alone, on the disk of the temporary folder: durable records a second by group.
/// `results/service/sqlite_commits.py` does the same to SQLite.
#[test]
fn groups_are_made_durable() {
    let folder = tempfile::TempDir::new().expect("there is room");
    let disk = DiskFolder::open(folder.path()).expect("it is new");
    let (mut journal, _) = JournalStore::open(Arc::new(disk)).expect("it is empty");
    let (_, first) = begin(None);
    let mut next = 1;
    for group in [1, 32, 128] {
        let began = Instant::now();
        let (mut count, until) = (0u64, Duration::from_secs_f64(seconds()));
        while began.elapsed() < until {
            let one = |index| ServiceRecord { seq: next + index, ..first.clone() };
            let records: Vec<ServiceRecord> = (0..group).map(one).collect();
            journal.append(&records).expect("the disk works");
            next += group;
            count += group;
        }
        let rate = count as f64 / began.elapsed().as_secs_f64();
        println!("groups of {group}: {rate:.0} durable records a second");
    }
}
