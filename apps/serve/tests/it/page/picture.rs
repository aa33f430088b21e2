//! Regenerates the README's picture of the page, `docs/img/page.webp`:
//! `PAVIOR_SCREENSHOTS=$PWD/docs/img cargo test -p pavior-serve --test it page::picture`.

use pavior_trials::Browser;
use serde_json::{Value, json};

use crate::client::Client;
use crate::random::Random;
use crate::server::served_by;

const TENANTS: [(&str, &str); 6] = [
    ("astro", "nbody"),
    ("climate", "ocean"),
    ("fusion", "gyro"),
    ("genomics", "align"),
    ("lattice-qcd", "hmc"),
    ("materials", "dft"),
];
const SHAPES: [[u64; 3]; 8] =
    [[4, 4, 2], [2, 2, 2], [4, 2, 2], [8, 2, 1], [2, 3, 2], [4, 4, 4], [1, 4, 4], [3, 3, 2]];

/// Draws a torus with jobs of six tenants. Many jobs have ended, some requests were refused, and
/// three requests are waiting.
#[test]
fn a_busy_torus() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client) = served_by("easy", |setup| setup.machine = "torus:8x8x8".into());
    grant_and_end(&mut client);
    let job = json!({ "shape": [8, 8, 2], "tenant": "climate", "job": "ocean-big" });
    for (shape, tenant) in [([8, 8, 2], "climate"), ([4, 4, 4], "astro"), ([6, 6, 3], "fusion")] {
        let mut job = job.clone();
        job["shape"] = json!(shape);
        job["tenant"] = tenant.into();
        job["job"] = format!("{}-3{}", &tenant[..3], shape[2]).into();
        job["wait"] = true.into();
        job["estimate_s"] = 7200.into();
        client.lease(job);
    }
    browser.open(&format!("{}/#by=tenant&view=3d", server.address));
    browser.shows("waiting-count", "3");
    browser.until("window.pavior.chart.drawn?.refused.length > 0");
    browser.until("document.querySelectorAll('#jobs .name').length > 15");
    // The picture is sharp only at rest.
    browser.value("new Promise((done) => setTimeout(done, 1500))");
    browser.screenshot("page.webp", &json!({ "format": "webp", "quality": 88 }));
    let used = browser.value("window.pavior.page.machine.counts().busy").as_u64().unwrap();
    assert!(used > 300, "only {used} nodes are in use");
}

/// Grants and ends leases of all tenants.
fn grant_and_end(client: &mut Client) {
    let mut held: Vec<Value> = Vec::new();
    let mut random = Random(7);
    let mut next = |count: usize| random.below(count as u64) as usize;
    for number in 0..260 {
        if held.len() > 8 && next(100) < if held.len() > 22 { 60 } else { 30 } {
            let lease = held.swap_remove(next(held.len()));
            client.end(&lease);
        }
        let (tenant, name) = TENANTS[next(TENANTS.len())];
        let ttl = [900, 3600, 7200, 18000][next(4)];
        let lease = json!({
            "shape": SHAPES[next(SHAPES.len())], "tenant": tenant,
            "job": format!("{name}-{number}"),
            "ttl_s": ttl, "estimate_s": ttl,
        });
        let answer = client.post("/v1/leases", lease.to_string());
        if answer.status == 201 {
            held.push(answer.json());
        }
        std::thread::sleep(std::time::Duration::from_millis(40));
    }
}
