//! Measures the latency of refusals and changes on a large machine as the number of leases grows.
//! The machine is first filled with square leases, every fifth of which is then ended. The
//! requested squares are slightly larger, so none of them fit.
//!
//! ```sh
//! cargo bench -p pavior-serve --bench refusals                     # 10, 10,000, 100,000 leases
//! PAVIOR_LEASES=10000 cargo bench -p pavior-serve --bench refusals # one number
//! ```
//! Before each refusal, a lease is granted and ended to create a new state, except in the runs that
//! repeat refusals in the same state. Times are the median and the maximum seen by a local client.
//! Memory is the service's resident memory after the requests.

#[allow(dead_code, reason = "used only by the tests")]
#[path = "../tests/it/client.rs"]
mod client;
#[allow(dead_code, reason = "used only by the tests")]
#[path = "../tests/it/server.rs"]
mod server;

use std::time::{Duration, Instant};

use client::{Client, batch};
use serde_json::{Value, json};
use server::{Server, shared};

const SIDE: usize = 1024;
const ROUNDS: usize = 21;
/// The tenants that send requests concurrently.
const TENANTS: [&str; 4] = ["a", "b", "c", "d"];

fn main() {
    if server::serve_if_asked() {
        return;
    }
    let counts = match std::env::var("PAVIOR_LEASES") {
        Ok(text) => vec![text.parse().expect("a number of leases")],
        Err(_) => vec![10, 10_000, 100_000],
    };
    println!("leases\twhat\tmedian ms\tworst ms\tMiB");
    counts.into_iter().for_each(measure);
}

/// Returns the largest side length such that 1.25 × `leases` squares fit on the machine.
fn width(leases: usize) -> usize {
    let all = leases * 5 / 4;
    (1..=SIDE).rev().find(|width| (SIDE / width).pow(2) >= all).expect("the file system has space")
}

/// Returns a server whose machine was filled with leases, every fifth of which was then ended.
fn filled(leases: usize) -> Server {
    let (server, mut client) =
        shared(&TENANTS, |setup| setup.machine = format!("mesh:{SIDE}x{SIDE}"));
    let width = width(leases);
    let all = leases * 5 / 4;
    let mut granted: Vec<Value> = Vec::new();
    while granted.len() < all {
        let one = format!(r#"{{"lease":{{"shape":[{width},{width}]}}}}"#);
        let many = vec![one; 512.min(all - granted.len())];
        let reply = client.post("/v1/batch", batch(many)).json();
        let answers = reply["answers"].as_array().expect("the answers are a list");
        assert!(answers.iter().all(|answer| answer["status"] == 201));
        granted.extend(answers.iter().map(|answer| answer["body"].clone()));
    }
    let rows = all.div_ceil(SIDE / width) * width;
    if rows < SIDE {
        client.lease(json!({ "shape": [SIDE, SIDE - rows] }));
    }
    let ended: Vec<String> = granted.iter().step_by(5).map(end).collect();
    for some in ended.chunks(512) {
        assert_eq!(client.post("/v1/batch", batch(some)).status, 200);
    }
    server
}

fn end(lease: &Value) -> String {
    json!({ "end": { "id": lease["id"], "epoch": lease["epoch"] } }).to_string()
}

fn measure(leases: usize) {
    let server = filled(leases);
    let mut client = server.of("root-secret");
    let side = width(leases) + 1;
    let ask = format!(r#"{{"shape":[{side},{side}]}}"#);
    let print = |what: &str, mut times: Vec<Duration>| {
        times.sort_unstable();
        let ms = |time: Duration| 1e3 * time.as_secs_f64();
        let (median, worst) = (ms(times[times.len() / 2]), ms(times[times.len() - 1]));
        let memory = server.memory() / 1024;
        println!("{leases}\t{what}\t{median:.2}\t{worst:.2}\t{memory}");
    };
    print("grant", changes(&mut client));
    let none = refusals(&mut client, "/v1/leases?diagnosis=none", &ask);
    print("refusal, no diagnosis", none);
    print("refusal", refusals(&mut client, "/v1/leases", &ask));
    print("refusal, same state", repeated_refusals(&mut client, &ask));
    let crowd: Vec<Duration> = std::thread::scope(|scope| {
        let one = |number: usize| {
            let ask = format!(r#"{{"shape":[{side},{}]}}"#, side + 1 + number);
            repeated_refusals(&mut server.of(&format!("{}-secret", TENANTS[number])), &ask)
        };
        let all: Vec<_> =
            (0..TENANTS.len()).map(|number| scope.spawn(move || one(number))).collect();
        all.into_iter().flat_map(|one| one.join().expect("the thread does not panic")).collect()
    });
    print(&format!("refusals, {} at once", TENANTS.len()), crowd);
}

/// Grants and ends leases one by one. Returns the latency of each request.
fn changes(client: &mut Client) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..10 * ROUNDS {
        change(client, &mut times);
    }
    times
}

fn change(client: &mut Client, times: &mut Vec<Duration>) {
    let began = Instant::now();
    let lease = client.lease(r#"{"shape":[1,1]}"#);
    times.push(began.elapsed());
    let began = Instant::now();
    assert_eq!(client.end(&lease).status, 200);
    times.push(began.elapsed());
}

/// Returns the latencies of refusals, each in a new state.
fn refusals(client: &mut Client, path: &str, ask: &str) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        change(client, &mut Vec::new());
        let began = Instant::now();
        client.post(path, ask).is(409, "no-free-submesh");
        times.push(began.elapsed());
    }
    times
}

/// Returns the latencies of repeated refusals in the same state.
fn repeated_refusals(client: &mut Client, ask: &str) -> Vec<Duration> {
    let one = |_| {
        let began = Instant::now();
        client.post("/v1/leases", ask).is(409, "no-free-submesh");
        began.elapsed()
    };
    (0..ROUNDS).map(one).collect()
}
