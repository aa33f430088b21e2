//! Tests a page with several machines, each with its own jobs, curves, refusals and answers.

use pavior_trials::Browser;
use serde_json::json;

use super::set;
use crate::server::{Server, served_by};

/// Serves a mesh and a torus, each with 64 nodes and some jobs, and an empty row of 16 nodes.
fn three_machines() -> Server {
    let more = vec![("cube".into(), "torus:4x4x4".into()), ("r&d #1".into(), "mesh:16".into())];
    let (server, mut client) = served_by("fcfs", |setup| setup.more = more);
    client.lease(json!({ "shape": [3, 5], "job": "flat", "tenant": "alice" }));
    let job = json!({ "machine": "cube", "shape": [4, 4, 3], "job": "deep", "tenant": "bob" });
    client.lease(job);
    let refused = json!({ "machine": "cube", "shape": [4, 4, 2], "job": "too-large" });
    client.post("/v1/leases", refused.to_string());
    server
}

#[test]
fn each_machine_has_its_own_jobs_refusals_and_view() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let server = three_machines();
    let mut client = server.client();
    browser.open(&server.address);
    browser.shows("counts", "mesh:8x8: 15 busy");
    assert_eq!(browser.value("document.getElementById('machines').hidden"), false);
    let names = "[...document.getElementById('machine').options].map((one) => one.value).join()";
    assert_eq!(browser.value(names), "default,cube,r&d #1");
    browser.shows("jobs", "flat");
    browser.until("document.getElementById('status').textContent === 'connected'");
    // Events on other machines are not shown here.
    client.lease(json!({ "machine": "cube", "shape": [2, 1, 1], "job": "unseen" }));
    client.lease(json!({ "shape": [1, 1], "job": "seen" }));
    browser.shows("counts", "16 busy");
    browser.until("document.getElementById('refused-total').textContent === '0'");

    // Switching to another machine stops isolating the job.
    browser.value("document.querySelector('#jobs .name').click()");
    browser.until("!document.getElementById('chosen').hidden");
    browser.press("c");
    set(&mut browser, "machine", "cube");
    browser.shows("counts", "torus:4x4x4: 50 busy");
    browser.until("window.pavior.stage.isDeep && document.getElementById('chosen').hidden");
    browser.until("document.getElementById('by').value === 'tenant'");
    browser.shows("jobs", "deep");
    browser.shows("refused-total", "1");
    browser.until("window.pavior.page.series.busy.length >= 2");
    browser.until("location.hash.includes('machine=cube')");
    browser.until("document.getElementById('status').textContent === 'connected'");
    browser.picture("machines-3d");
}

#[test]
fn a_question_is_about_the_displayed_machine() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let server = three_machines();
    browser.open(&format!("{}/#machine=cube", server.address));
    browser.shows("counts", "48 busy");
    browser.value("document.getElementById('shape').value = '4x4x2'");
    browser.value("document.querySelector('#ask button').click()");
    browser.shows("answer", "It needs 32 nodes, but only 16 are free");
    set(&mut browser, "machine", "r&d #1");
    browser.shows("counts", "mesh:16: 0 busy");
    browser.until("document.getElementById('answer').textContent === ''");
    browser.shows("first-command", "r&d #1");
    assert_eq!(browser.value("window.pavior.page.marks.length"), 0);
    browser.picture("machines-1d");
    browser.size(400, 900);
    let wide = "document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(browser.value(wide), true, "nothing is wider than the screen");
    browser.picture("machines-400");
}

/// Switches machines so often that leaked watches would exhaust the browser's connections.
#[test]
fn switching_machines_leaves_no_watch_open() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let server = three_machines();
    browser.open(&server.address);
    browser.shows("counts", "15 busy");
    for turn in 0..12 {
        let (name, counts) = [("cube", "48 busy"), ("default", "15 busy")][turn % 2];
        set(&mut browser, "machine", name);
        browser.shows("counts", counts);
    }
    server.client().lease(json!({ "shape": [1, 1], "job": "last" }));
    browser.shows("counts", "16 busy");
}

/// Checks that the URL selects the machine and the time.
#[test]
fn the_url_selects_a_machine() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let server = three_machines();
    let ended = server.client().lease(json!({ "machine": "cube", "shape": [1, 1, 1] }));
    browser.open(&format!("{}/#machine=cube&view=2d&plane=z2", server.address));
    browser.shows("counts", "torus:4x4x4: 49 busy");
    browser.until("!window.pavior.stage.isDeep");
    browser.until("document.getElementById('plane').value === '2'");
    assert_eq!(browser.value("document.getElementById('machine').value"), "cube");
    browser.until("window.pavior.page.series.busy.length >= 2");
    let at = browser.value("window.pavior.page.series.busy.at(-1).at + 5").as_f64().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    server.client().end(&ended);
    browser.shows("counts", "48 busy");
    // Paste a link to another machine at a past time.
    browser.value("location.hash = 'machine=default&view=2d'");
    browser.shows("counts", "mesh:8x8: 15 busy");
    let link = format!("machine=cube&view=3d&t={}", at / 1000.0);
    browser.value(&format!("location.hash = '{link}'"));
    browser.shows("counts", "torus:4x4x4: 49 busy");
    browser.until("!window.pavior.page.live && window.pavior.stage.isDeep");
    browser.press("Home");
    browser.shows("counts", "48 busy");
    // The page reports an unknown machine.
    browser.value("location.hash = 'machine=nowhere'");
    browser.shows("status", "nowhere");
}
