//! Compares the page's summary tiles with the service's numbers.

use pavior_trials::Browser;
use serde_json::json;

use crate::random::Random;
use crate::server::{served, served_by};

/// Checks that the page and the service find equally large free boxes. The machines, with and
/// without wraparound, are nearly empty or nearly full and have failed nodes.
#[test]
fn the_page_finds_a_free_box_as_large_as_the_service() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let mut random = Random(7);
    let machines = ["mesh:9", "mesh:8x6", "torus:7x5", "mesh:4x5x3", "torus:5x4x4", "grid:6wx4x3"];
    let (mut tried, mut failed) = (0, 0);
    for machine in machines {
        let (server, mut client) = served(|setup| setup.machine = machine.into());
        let axes = machine.matches('x').count() + 1;
        browser.open(&server.address);
        for round in 0..pavior_trials::size(6, 6, 40) {
            let shape: Vec<u64> =
                (0..axes).map(|_| 1 + random.below(2 + round as u64 % 2)).collect();
            client.post("/v1/leases", json!({ "shape": shape, "job": round }).to_string());
            let sides = machine.trim_start_matches(|one: char| !one.is_ascii_digit()).split('x');
            let node: Vec<u64> = sides
                .map(|side| random.below(side.trim_end_matches('w').parse().unwrap()))
                .collect();
            client.post("/v1/nodes/fail", json!({ "node": node }).to_string());
            let reply = client.get("/v1/machine").json();
            let largest = reply["largest_free"].as_array().unwrap();
            let volume: u64 = largest.iter().map(|side| side.as_u64().unwrap()).product();
            browser.until(&format!("window.pavior?.page.machine?.seq >= {}", reply["seq"]));
            let found = browser.value(
                "(() => { const { pavior } = window, found = pavior.largestFree();
                  const { machine } = pavior.page;
                  if (!found) return 0;
                  const nodes = [...pavior.nodesOf(machine.grid, found)];
                  const isFree = nodes.every((node) => machine.isFree(node));
                  return isFree ? new Set(nodes).size : -1; })()",
            );
            tried += 1;
            failed += usize::from(found != volume);
        }
    }
    pavior_trials::attacked("pages", "the largest free box", tried, failed);
}

#[test]
fn the_tiles_show_the_numbers_of_the_service() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let (server, mut client) = served_by("fcfs", |_| {});
    client.lease(json!({ "shape": [8, 4], "job": "half" }));
    client.post("/v1/nodes/fail", r#"{"node":[0,4]}"#);
    client.post("/v1/nodes/drain", r#"{"node":[0,0]}"#);
    client.lease(json!({ "shape": [8, 8], "job": "whole", "wait": true }));
    browser.open(&server.address);
    browser.shows("used-share", "50%");
    browser.shows("used-more", "32 of 64 nodes, 1 job");
    browser.shows("waiting-count", "1");
    browser.shows("waiting-more", "64 nodes requested; longest wait: whole, ");
    browser.shows("fits-size", "7×4");
    browser.shows("fits-more", "28 nodes of 31 free");
    browser.shows("lost-count", "1");
    browser.shows("lost-more", "1 failed: (0,4); 1 drained held by jobs: (0,0)");
    browser.value("document.getElementById('fits-show').click()");
    browser.until("window.pavior.page.marks.length === 1");
    browser.picture("tiles");
    browser.value("document.getElementById('fits-show').click()");
    browser.until("window.pavior.page.marks.length === 0");
    // History can be played back.
    browser.until("window.pavior.page.series.busy.length >= 2");
    browser.value("document.getElementById('seconds').value = 2");
    browser.press(" ");
    browser.until("!window.pavior.page.live");
    browser.until("window.pavior.page.live");
    browser.shows("used-share", "50%");
}
