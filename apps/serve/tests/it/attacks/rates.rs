//! Tests the rate limit for a tenant that uses many connections and batches.

use std::time::{Duration, Instant};

use pavior_trials::{attacked, size};

use crate::client::batch;
use crate::server::shared;

#[test]
fn parallel_connections_share_a_rate() {
    const RATE: f64 = 20.0;
    let (server, _) = shared(&["a"], |setup| setup.rate = Some(RATE));
    let (began, lasts) = (Instant::now(), Duration::from_millis(size(1500, 1500, 10_000) as u64));
    let let_through: usize = std::thread::scope(|scope| {
        let one = || {
            let mut client = server.of("a-secret");
            let mut count = 0;
            while began.elapsed() < lasts {
                count += usize::from(client.get("/v1/machine").status == 200);
            }
            count
        };
        let all: Vec<_> = (0..32).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|one| one.join().expect("the thread does not panic")).sum()
    });
    // A burst may contain two seconds' worth of requests.
    let most = (RATE * (2.0 + began.elapsed().as_secs_f64())).ceil() as usize;
    println!("{let_through} requests let through, of at most {most}");
    attacked("tenants", "requests beyond the rate", let_through, let_through.saturating_sub(most));
}

#[test]
fn a_batch_counts_as_its_operations() {
    const RATE: f64 = 10.0;
    let (server, _) = shared(&["a"], |setup| setup.rate = Some(RATE));
    let mut a = server.of("a-secret");
    let batch = batch(vec![r#"{"lease":{"nodes":1}}"#; 30]);
    // A batch larger than the bucket (20) is accepted when the bucket is full.
    assert_eq!(a.post("/v1/batch", &batch).status, 200);
    let tries = size(20, 20, 200);
    let (mut failed, began) = (0, Instant::now());
    for _ in 0..tries {
        let reply = a.post("/v1/batch", &batch);
        // Paying off the debt of 10 requests and refilling the bucket takes three seconds.
        failed += usize::from(reply.status != 429 && began.elapsed() < Duration::from_secs(2));
    }
    attacked("tenants", "batches beyond the rate", tries, failed);
}
