//! Measures the number of instructions needed to send an event to watchers: looking up the event,
//! formatting it once for all watchers, and copying it for each watcher. Socket I/O is not counted.
//!
//! ```sh
//! cargo bench --profile dev --workspace --all-features --bench event          # 1 to 100 watchers
//! cargo bench --profile dev --workspace --all-features --bench event -- check # the fixed set
//! cargo bench --profile dev --workspace --all-features --bench event -- write # updates it
//! ```
//! Uses the test profile, because the service and its dependencies are already built with it.

#[allow(dead_code, reason = "used only by the tests")]
#[path = "../tests/it/client.rs"]
mod client;
#[allow(dead_code, reason = "used only by the tests")]
#[path = "../tests/it/server.rs"]
mod server;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use client::Client;
use pavior_serve::service;
use pavior_trials::instructions::{FixedSet, can_count, collected};
use server::Setup;
use tempfile::TempDir;

/// The function that callgrind measures.
const COUNTED: &str = "Watcher::follow";
/// The numbers of events in the two runs. Subtracting one run's instruction count from the other's
/// cancels out the startup cost.
const FEW: usize = 20;
const MANY: usize = 60;

const FIXED: FixedSet = FixedSet {
    what: "an event to so many watchers",
    file: concat!(env!("CARGO_MANIFEST_DIR"), "/benches/event.tsv"),
    counts: || [1, 100].map(|watchers| (watchers.to_string(), instructions(watchers))).to_vec(),
};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let Some(code) = FIXED.done(words.first().map(String::as_str)) {
        return code;
    }
    if let [watchers, events] = &words[..] {
        let number = |word: &String| word.parse().expect("a number");
        send(number(watchers), number(events));
    } else if can_count() {
        for watchers in [1, 10, 100] {
            println!("{watchers} watchers\t{:.0} instructions per event", instructions(watchers));
        }
    }
    ExitCode::SUCCESS
}

/// Returns the instructions per event, or NaN if counting failed. Takes the lowest of three counts,
/// because watchers sometimes wake up more often than needed.
fn instructions(watchers: usize) -> f64 {
    let count = |events: usize| {
        let words = [watchers.to_string(), events.to_string()];
        collected(&words.each_ref().map(String::as_str), COUNTED, "").unwrap_or(f64::NAN)
    };
    let lowest =
        |events: usize| [(); 3].map(|()| count(events)).into_iter().fold(f64::NAN, f64::min);
    (lowest(MANY) - lowest(FEW)) / (MANY - FEW) as f64
}

/// Starts a service with watchers and creates events one at a time, waiting until every watcher has
/// received each event. Exits the process after the last event.
fn send(watchers: usize, events: usize) {
    let folder = TempDir::new().expect("the file system has space");
    let address = start_service(&folder);
    let mut client = Client::new(&address);
    let mut all: Vec<_> = (0..watchers).map(|_| watch(&address)).collect();
    let mut lease = None;
    for _ in 0..events {
        match lease.take() {
            None => lease = Some(client.lease(r#"{"shape":[4,4]}"#)),
            Some(held) => assert_eq!(client.end(&held).status, 200),
        }
        for watcher in &mut all {
            read_until(watcher, "data: ");
        }
    }
    folder.close().expect("the folder can be removed");
    std::process::exit(0);
}

/// Starts a service on a thread, and returns its address.
fn start_service(folder: &TempDir) -> String {
    let setup = Setup::new(&folder.path().join("data"));
    let path = folder.path().join("address");
    let mut file = std::fs::File::create(&path).expect("the file system has space");
    std::thread::spawn(move || service::run(&server::options(setup), &mut file));
    let began = Instant::now();
    loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if let Some(line) = text.lines().next().filter(|_| text.ends_with('\n')) {
            return line.to_string();
        }
        assert!(began.elapsed() < Duration::from_mins(1), "the service does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Connects a watcher that receives all events from now on.
fn watch(address: &str) -> BufReader<TcpStream> {
    let host = address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).expect("the server listens");
    write!(stream, "GET /v1/watch HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("the request is sent");
    let mut watcher = BufReader::new(stream);
    read_until(&mut watcher, "\r\n");
    watcher
}

/// Reads up to the first line that starts with `beginning`.
fn read_until(watcher: &mut BufReader<TcpStream>, beginning: &str) {
    let mut line = String::new();
    while !line.starts_with(beginning) {
        line.clear();
        assert!(
            watcher.read_line(&mut line).expect("the event can be read") > 0,
            "the service hung up"
        );
    }
}
