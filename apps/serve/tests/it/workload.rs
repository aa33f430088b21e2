//! Clients that generate load and check each reply.

use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::client::{Client, batch};

/// Grants and ends leases one by one until `until`, called with the number of operations so far,
/// returns true. Returns each operation's latency.
pub(crate) fn one_by_one(address: &str, until: impl Fn(usize) -> bool) -> Vec<Duration> {
    let mut client = Client::new(address);
    let mut times = Vec::new();
    while !until(times.len()) {
        let began = Instant::now();
        let reply = client.post("/v1/leases", r#"{"shape":[2,2]}"#);
        times.push(began.elapsed());
        assert_eq!(reply.status, 201, "{}", reply.text);
        let lease = reply.json();
        let began = Instant::now();
        let ended = client.end(&lease);
        times.push(began.elapsed());
        assert_eq!(ended.status, 200);
    }
    times
}

/// The members that the clients check in an answer.
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

/// Like [`one_by_one`], but in batches of `size`. Returns the number of operations.
pub(crate) fn in_batches(address: &str, size: usize, until: impl Fn(u64) -> bool) -> u64 {
    let mut client = Client::new(address);
    let leases = batch(vec![r#"{"lease":{"shape":[1,1]}}"#; size]);
    let mut ask = |body: &str| -> Vec<Answer> {
        let reply = client.post("/v1/batch", body);
        serde_json::from_str::<Answers>(&reply.text).expect("a reply to a batch").answers
    };
    let mut count = 0;
    while !until(count) {
        let granted = ask(&leases);
        assert!(granted.iter().all(|answer| answer.status == 201));
        let ends = batch(granted.iter().map(|Answer { body: Body { id, epoch }, .. }| {
            format!("{{\"end\":{{\"id\":{id},\"epoch\":{epoch}}}}}")
        }));
        let ended = ask(&ends);
        assert!(ended.len() == size && ended.iter().all(|answer| answer.status == 200));
        count += 2 * size as u64;
    }
    count
}
