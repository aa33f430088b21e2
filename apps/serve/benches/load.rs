//! Measures durable operations per second, their latency, and the restart time of a killed server.
//! The numbers depend on the machine and its disk, so nothing is asserted.
//!
//! ```sh
//! cargo bench -p pavior-serve --bench load            # 20 s per part, a million records
//! PAVIOR_LOAD_S=2 PAVIOR_LOAD_RECORDS=30000 cargo bench -p pavior-serve --bench load
//! ```

#[allow(dead_code, reason = "used only by the tests")]
#[path = "../tests/it/client.rs"]
mod client;
#[allow(dead_code, reason = "used only by the tests")]
#[path = "../tests/it/server.rs"]
mod server;
#[path = "../tests/it/workload.rs"]
mod workload;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pavior_serve::core::{Event, MachineSpec, ServiceRecord};
use pavior_serve::storage::RecordStore;
use pavior_serve::storage::disk::DiskFolder;
use pavior_serve::storage::journal::JournalStore;

use client::Client;
use server::{Server, fresh};
use workload::{in_batches, one_by_one};

fn main() {
    if server::serve_if_asked() {
        return;
    }
    operations();
    watchers();
    crowd();
    recovery();
    journal();
}

fn variable(name: &str) -> Option<f64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Returns the duration of a measurement.
fn duration() -> Duration {
    Duration::from_secs_f64(variable("PAVIOR_LOAD_S").unwrap_or(20.0))
}

/// Measures granting and ending leases over HTTP.
fn operations() {
    let (server, _) = fresh(|setup| setup.machine = "mesh:64x64".into());
    let address = &server.address;
    for connections in [16, 64] {
        let (began, before) = (Instant::now(), cpu_time(&server));
        let past = |_| began.elapsed() > duration();
        let mut times: Vec<Duration> = std::thread::scope(|scope| {
            let all: Vec<_> =
                (0..connections).map(|_| scope.spawn(move || one_by_one(address, past))).collect();
            all.into_iter().flat_map(|one| one.join().expect("the thread does not panic")).collect()
        });
        let rate = times.len() as f64 / began.elapsed().as_secs_f64();
        let work = cpu_time(&server).saturating_sub(before) / times.len() as u32;
        times.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        let (median, late) = (at(0.5), at(0.99));
        println!(
            "{connections} connections: {rate:.0} durable operations per second, \
             median {median:?}, p99 {late:?}, {work:?} of CPU time per operation"
        );
    }
    let (began, before) = (Instant::now(), cpu_time(&server));
    let past = |_| began.elapsed() > duration();
    let count: u64 = std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..4).map(|_| scope.spawn(move || in_batches(address, 512, past))).collect();
        all.into_iter().map(|one| one.join().expect("the thread does not panic")).sum()
    });
    let rate = count as f64 / began.elapsed().as_secs_f64();
    let work = cpu_time(&server).saturating_sub(before) / count as u32;
    println!(
        "batches of 512 over 4 connections: {rate:.0} durable operations per second, \
         {work:?} of CPU time per operation"
    );
}

/// Measures granting and ending leases over 64 connections, with 1 and 100 watchers in turn.
fn watchers() {
    let (server, _) = fresh(|setup| setup.machine = "mesh:64x64".into());
    let mut rates = [0.0; 2];
    for (at, watchers) in [1, 100, 1, 100].into_iter().enumerate() {
        let (rate, received) = watched(&server, watchers, || {
            let (began, address) = (Instant::now(), &server.address);
            let past = |_: usize| began.elapsed() > duration() / 2;
            std::thread::scope(|scope| {
                let all: Vec<_> =
                    (0..64).map(|_| scope.spawn(move || one_by_one(address, past))).collect();
                all.into_iter()
                    .map(|one| one.join().expect("the thread does not panic").len())
                    .sum()
            })
        });
        rates[at % 2] += rate;
        println!("{watchers} watchers: {rate:.0} durable operations per second, {received}");
    }
    println!("100 watchers: {:.2} of the rate with one watcher", rates[1] / rates[0]);
}

/// Measures 1000 watchers at 500 changes per second, plus one watcher that never reads.
fn crowd() {
    const A_SECOND: f64 = 500.0;
    const CONNECTIONS: usize = 25;
    let (server, _) = fresh(|setup| setup.machine = "mesh:64x64".into());
    let (_unread, before) = (watch(&server.address), (cpu_time(&server), resident_mb(&server)));
    let began = Instant::now();
    let (rate, received) = watched(&server, 1000, || {
        let began = Instant::now();
        let paced = |count| {
            let due = Duration::from_secs_f64((CONNECTIONS * count) as f64 / A_SECOND);
            std::thread::sleep(due.saturating_sub(began.elapsed()));
            began.elapsed() > duration()
        };
        std::thread::scope(|scope| {
            let one = || scope.spawn(|| one_by_one(&server.address, paced));
            let all: Vec<_> = (0..CONNECTIONS).map(|_| one()).collect();
            all.into_iter().map(|one| one.join().expect("the thread does not panic").len()).sum()
        })
    });
    let cores =
        cpu_time(&server).saturating_sub(before.0).as_secs_f64() / began.elapsed().as_secs_f64();
    println!("1000 watchers: {rate:.0} changes per second, {received}");
    println!("  {cores:.2} cores, {} MB of memory, {} MB before", resident_mb(&server), before.1);
}

/// The events received by watchers.
#[derive(Default)]
struct Received {
    bytes: u64,
    /// The number of events, counted once per watcher.
    events: u64,
    /// The longest time between an event and its arrival at a watcher.
    latest: Duration,
}

impl std::fmt::Display for Received {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Received { bytes, events, latest } = self;
        write!(to, "{events} events ({} MB) received, the latest after {latest:?}", bytes >> 20)
    }
}

/// Runs `work` while watchers are connected. Returns the rate of `work` and the events received.
fn watched(server: &Server, watchers: usize, work: impl FnOnce() -> usize) -> (f64, Received) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let streams = (0..watchers).map(|_| watch(&server.address));
        let crowd: Vec<_> = streams.map(|stream| scope.spawn(|| listen(stream, &over))).collect();
        let began = Instant::now();
        let rate = work() as f64 / began.elapsed().as_secs_f64();
        over.store(true, Ordering::Relaxed);
        let received = crowd.into_iter().map(|one| one.join().expect("the thread does not panic"));
        let received = received.reduce(|all, one| Received {
            bytes: all.bytes + one.bytes,
            events: all.events + one.events,
            latest: all.latest.max(one.latest),
        });
        (rate, received.unwrap_or_default())
    })
}

/// Connects a watcher.
fn watch(address: &str) -> TcpStream {
    let host = address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("the timeout can be set");
    write!(stream, "GET /v1/watch HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("the request is sent");
    let mut head = [0; 12];
    stream.read_exact(&mut head).expect("the server answers");
    assert_eq!(&head, b"HTTP/1.1 200", "it may watch");
    stream
}

/// Reads events until `over` is set and no events have arrived for a while.
fn listen(mut stream: TcpStream, over: &AtomicBool) -> Received {
    const TIME: &[u8] = b"\"at\":\"";
    stream.set_read_timeout(Some(Duration::from_millis(300))).expect("the timeout can be set");
    let (mut read, mut received) = (vec![0; 64 << 10], Received::default());
    loop {
        let Ok(count @ 1..) = stream.read(&mut read) else {
            if over.load(Ordering::Relaxed) {
                return received;
            }
            continue;
        };
        let text = &read[..count];
        received.bytes += count as u64;
        received.events += memchr::memmem::find_iter(text, b"\nevent: ").count() as u64;
        // If several events arrive together, the first has waited longest.
        let time = memchr::memmem::find(text, TIME).map(|at| &text[at + TIME.len()..]);
        let time = time.and_then(|rest| str::from_utf8(rest.get(..24)?).ok());
        if let Some(at) = time.and_then(|time| humantime::parse_rfc3339(time).ok()) {
            received.latest = received.latest.max(at.elapsed().unwrap_or_default());
        }
    }
}

/// Returns the server's resident memory in MB.
fn resident_mb(server: &Server) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{}/statm", server.pid())).unwrap();
    let pages = statm.split_whitespace().nth(1).expect("statm has two numbers");
    (pages.parse::<u64>().expect("a number") * 4096) >> 20
}

/// Measures the restart time of a killed server.
fn recovery() {
    let total = variable("PAVIOR_LOAD_RECORDS").unwrap_or(1e6) as u64;
    let (mut server, setup) = fresh(|setup| setup.machine = "mesh:32x32".into());
    in_batches(&server.address, 512, |count| count >= total);
    server.kill();
    let began = Instant::now();
    let again = Server::start(&setup);
    let ready = Client::new(&again.address).get("/readyz").json();
    let (took, cpu_time) = (began.elapsed(), cpu_time(&again));
    println!(
        "restart: {took:?} until the first answer ({cpu_time:?} of CPU time), {} records",
        ready["seq"]
    );
}

/// Returns the server's CPU time, assuming that a clock tick is a hundredth of a second.
fn cpu_time(server: &Server) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // utime and stime are fields 14 and 15. `fields` starts after field 2, the name in parentheses.
    let ticks = fields.skip(11).take(2).map(|field| field.parse::<u64>().expect("a number"));
    Duration::from_millis(10 * ticks.sum::<u64>())
}

/// Measures the journal by itself in the temporary directory: durable records per second, by group
/// size. `results/service/sqlite_commits.py` does the same with SQLite.
fn journal() {
    let folder = tempfile::TempDir::new().expect("the file system has space");
    let disk = DiskFolder::open(folder.path()).expect("the folder is empty");
    let (mut journal, _) = JournalStore::open(Arc::new(disk)).expect("it is empty");
    let machine = MachineSpec {
        name: "default".into(),
        machine: "mesh:8x8".into(),
        strategy: "tff".into(),
        scheduler: None,
        shape_rule: "compact".into(),
    };
    let event = Event::Configured { machines: vec![machine] };
    let mut next = 1;
    for group in [1, 32, 128] {
        let began = Instant::now();
        let mut count = 0;
        while began.elapsed() < duration() {
            let one = |seq| ServiceRecord { seq, at_ms: 0, event: event.clone(), kept: None };
            let records: Vec<ServiceRecord> = (next..next + group).map(one).collect();
            journal.append(&records).expect("the disk works");
            next += group;
            count += group;
        }
        let rate = count as f64 / began.elapsed().as_secs_f64();
        println!("groups of {group}: {rate:.0} durable records per second");
    }
}
