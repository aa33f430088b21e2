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

fn number(name: &str) -> Option<f64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Returns the duration of a measurement.
fn part() -> Duration {
    Duration::from_secs_f64(number("PAVIOR_LOAD_S").unwrap_or(20.0))
}

/// Measures grants and ends over HTTP.
fn operations() {
    let (server, _) = fresh(|setup| setup.machine = "mesh:64x64".into());
    let address = &server.address;
    for connections in [16, 64] {
        let (began, before) = (Instant::now(), worked(&server));
        let past = |_| began.elapsed() > part();
        let mut times: Vec<Duration> = std::thread::scope(|scope| {
            let all: Vec<_> =
                (0..connections).map(|_| scope.spawn(move || one_by_one(address, past))).collect();
            all.into_iter().flat_map(|one| one.join().expect("no panic")).collect()
        });
        let rate = times.len() as f64 / began.elapsed().as_secs_f64();
        let work = worked(&server).saturating_sub(before) / times.len() as u32;
        times.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        let (median, late) = (at(0.5), at(0.99));
        println!(
            "{connections} connections: {rate:.0} durable operations per second, \
             median {median:?}, p99 {late:?}, {work:?} of CPU time per operation"
        );
    }
    let (began, before) = (Instant::now(), worked(&server));
    let past = |_| began.elapsed() > part();
    let count: u64 = std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..4).map(|_| scope.spawn(move || in_batches(address, 512, past))).collect();
        all.into_iter().map(|one| one.join().expect("no panic")).sum()
    });
    let rate = count as f64 / began.elapsed().as_secs_f64();
    let work = worked(&server).saturating_sub(before) / count as u32;
    println!(
        "batches of 512 over 4 connections: {rate:.0} durable operations per second, \
         {work:?} of CPU time per operation"
    );
}

/// Measures grants and ends over 64 connections with one watcher and with 100, in turn.
fn watchers() {
    let (server, _) = fresh(|setup| setup.machine = "mesh:64x64".into());
    let mut rates = [0.0; 2];
    for (at, watchers) in [1, 100, 1, 100].into_iter().enumerate() {
        let (rate, heard) = watched(&server, watchers, || {
            let (began, address) = (Instant::now(), &server.address);
            let past = |_: usize| began.elapsed() > part() / 2;
            std::thread::scope(|scope| {
                let all: Vec<_> =
                    (0..64).map(|_| scope.spawn(move || one_by_one(address, past))).collect();
                all.into_iter().map(|one| one.join().expect("no panic").len()).sum()
            })
        });
        rates[at % 2] += rate;
        println!("{watchers} watchers: {rate:.0} durable operations per second, {heard}");
    }
    println!("100 watchers: {:.2} of the rate with one watcher", rates[1] / rates[0]);
}

/// Makes 500 changes per second for 1000 watchers and one more that does not read.
fn crowd() {
    const A_SECOND: f64 = 500.0;
    const CONNECTIONS: usize = 25;
    let (server, _) = fresh(|setup| setup.machine = "mesh:64x64".into());
    let (_deaf, before) = (watch(&server.address), (worked(&server), resident(&server)));
    let began = Instant::now();
    let (rate, heard) = watched(&server, 1000, || {
        let began = Instant::now();
        let paced = |count| {
            let due = Duration::from_secs_f64((CONNECTIONS * count) as f64 / A_SECOND);
            std::thread::sleep(due.saturating_sub(began.elapsed()));
            began.elapsed() > part()
        };
        std::thread::scope(|scope| {
            let one = || scope.spawn(|| one_by_one(&server.address, paced));
            let all: Vec<_> = (0..CONNECTIONS).map(|_| one()).collect();
            all.into_iter().map(|one| one.join().expect("no panic").len()).sum()
        })
    });
    let cores =
        worked(&server).saturating_sub(before.0).as_secs_f64() / began.elapsed().as_secs_f64();
    println!("1000 watchers: {rate:.0} changes per second, {heard}");
    println!("  {cores:.2} cores, {} MB of memory, {} MB before", resident(&server), before.1);
}

/// The events received by watchers.
#[derive(Default)]
struct Heard {
    bytes: u64,
    /// The number of events, counted once per watcher.
    events: u64,
    /// The longest time between an event and its arrival at a watcher.
    latest: Duration,
}

impl std::fmt::Display for Heard {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Heard { bytes, events, latest } = self;
        write!(to, "{events} events ({} MB) received, the latest after {latest:?}", bytes >> 20)
    }
}

/// Carries out operations under watch. Returns their rate and the events received.
fn watched(server: &Server, watchers: usize, work: impl FnOnce() -> usize) -> (f64, Heard) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let streams = (0..watchers).map(|_| watch(&server.address));
        let crowd: Vec<_> = streams.map(|stream| scope.spawn(|| listen(stream, &over))).collect();
        let began = Instant::now();
        let rate = work() as f64 / began.elapsed().as_secs_f64();
        over.store(true, Ordering::Relaxed);
        let heard = crowd.into_iter().map(|one| one.join().expect("no panic"));
        let heard = heard.reduce(|all, one| Heard {
            bytes: all.bytes + one.bytes,
            events: all.events + one.events,
            latest: all.latest.max(one.latest),
        });
        (rate, heard.unwrap_or_default())
    })
}

/// Connects a watcher.
fn watch(address: &str) -> TcpStream {
    let host = address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("it can be set");
    write!(stream, "GET /v1/watch HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("it sends");
    let mut head = [0; 12];
    stream.read_exact(&mut head).expect("it answers");
    assert_eq!(&head, b"HTTP/1.1 200", "it may watch");
    stream
}

/// Reads events until `over` is set and no more arrive for a while.
fn listen(mut stream: TcpStream, over: &AtomicBool) -> Heard {
    const TIME: &[u8] = b"\"at\":\"";
    stream.set_read_timeout(Some(Duration::from_millis(300))).expect("it can be set");
    let (mut read, mut heard) = (vec![0; 64 << 10], Heard::default());
    loop {
        let Ok(count @ 1..) = stream.read(&mut read) else {
            if over.load(Ordering::Relaxed) {
                return heard;
            }
            continue;
        };
        let text = &read[..count];
        heard.bytes += count as u64;
        heard.events += memchr::memmem::find_iter(text, b"\nevent: ").count() as u64;
        // Of several events that arrive together, the first has waited longest.
        let time = memchr::memmem::find(text, TIME).map(|at| &text[at + TIME.len()..]);
        let time = time.and_then(|rest| str::from_utf8(rest.get(..24)?).ok());
        if let Some(at) = time.and_then(|time| humantime::parse_rfc3339(time).ok()) {
            heard.latest = heard.latest.max(at.elapsed().unwrap_or_default());
        }
    }
}

/// Returns the server's resident memory in MB.
fn resident(server: &Server) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{}/statm", server.pid())).unwrap();
    let pages = statm.split_whitespace().nth(1).expect("it is the second number");
    (pages.parse::<u64>().expect("a number") * 4096) >> 20
}

/// Measures the restart time of a killed server.
fn recovery() {
    let total = number("PAVIOR_LOAD_RECORDS").unwrap_or(1e6) as u64;
    let (mut server, setup) = fresh(|setup| setup.machine = "mesh:32x32".into());
    in_batches(&server.address, 512, |count| count >= total);
    server.kill();
    let began = Instant::now();
    let again = Server::start(&setup);
    let ready = Client::new(&again.address).get("/readyz").json();
    let (took, worked) = (began.elapsed(), worked(&again));
    println!(
        "restart: {took:?} until the first answer ({worked:?} of CPU time), {} records",
        ready["seq"]
    );
}

/// Returns the server's CPU time; a clock tick is a hundredth of a second.
fn worked(server: &Server) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // utime and stime are fields 14 and 15, and the name in parentheses is field 2.
    let ticks = fields.skip(11).take(2).map(|field| field.parse::<u64>().expect("a number"));
    Duration::from_millis(10 * ticks.sum::<u64>())
}

/// Measures the journal alone in the temporary folder: durable records per second by group size.
/// `results/service/sqlite_commits.py` does the same for SQLite.
fn journal() {
    let folder = tempfile::TempDir::new().expect("there is room");
    let disk = DiskFolder::open(folder.path()).expect("it is new");
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
        while began.elapsed() < part() {
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
