//! Tests how the page shows forecasts, reservations and slots.

use pavior_trials::Browser;
use serde_json::{Value, json};

use super::{check_accessibility, log_in, set};
use crate::client::{Client, until};
use crate::reservations::at;
use crate::server::{Server, served, served_by, shared};

fn lease(shape: [u16; 3], job: &str) -> Value {
    json!({ "shape": shape, "job": job, "estimate_s": 9000, "wait": true })
}

/// Starts a server for a torus with two jobs, a reservation, and two waiting requests.
fn planned() -> (Server, Client) {
    let (server, mut client) = served_by("easy", |setup| setup.machine = "torus:4x4x2".into());
    client.lease(lease([4, 2, 2], "wide"));
    client.lease(lease([2, 1, 2], "moves"));
    client.lease(lease([4, 4, 2], "all"));
    client.lease(lease([4, 4, 1], "half"));
    let parts = json!([{ "base": [0, 0, 0], "sides": [4, 1, 2] }]);
    let cooling =
        json!({ "parts": parts, "from": at(20_000), "to": at(30_000), "name": "cooling" });
    assert_eq!(client.post("/v1/reservations", cooling).status, 201);
    (server, client)
}

#[test]
fn a_waiting_request_has_a_bar_from_its_earliest_to_its_latest_start() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client) = planned();
    browser.open(&format!("{}/#list=waiting", server.address));
    browser.until("document.querySelectorAll('#waiting .track:not([hidden])').length === 2");
    browser.shows("note", "No forecast has been compared with an actual start yet");
    // Screen readers get the times from the service's answer.
    let queue = client.get("/v1/queue").json();
    let forecast = &queue["waiting"][0]["forecast"];
    let [earliest, latest] = ["earliest", "latest"].map(|name| forecast[name].as_str().unwrap());
    browser.shows("waiting", "now – ");
    browser.shows("waiting", "Probable start (rough estimate): between ");
    let spoken = "document.querySelector('#waiting .unseen').textContent";
    let clock = |time: &str| {
        let text = "new Date('{time}').toTimeString().slice(0, 8)".replace("{time}", time);
        format!("{spoken}.includes({text})")
    };
    browser.until(&format!("{} && {}", clock(earliest), clock(latest)));
    // All bars share a scale that ends at the latest time.
    let ends = "Math.max(...[...document.querySelectorAll('#waiting .reach')].map((one) =>
        (one.getBoundingClientRect().right - one.parentElement.getBoundingClientRect().left)
        / one.parentElement.getBoundingClientRect().width))";
    let ends = browser.value(ends).as_f64().unwrap();
    assert!((0.97..1.03).contains(&ends), "{ends}");
    check_accessibility(&mut browser, "starts");
}

#[test]
fn reservations_are_listed_and_drawn_until_canceled() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client) = planned();
    let parts = json!([{ "base": [0, 3, 0], "sides": [2, 1, 2] }]);
    let later = json!({ "parts": parts, "from": at(40_000), "to": at(50_000), "name": "later" });
    let later = client.post("/v1/reservations", later).json();
    browser.open(&format!("{}/#list=ahead&view=2d", server.address));
    browser.shows("ahead", "cooling");
    browser.shows("ahead", "later");
    browser.until("document.getElementById('ahead-total').textContent === '2'");
    browser.shows("note", "Reserved nodes are violet.");
    browser.until("window.pavior.page.drawn.length === 2");
    check_accessibility(&mut browser, "ahead");
    browser.press("3");
    browser.picture("ahead-3d");
    // Selecting a row shows its text and draws only its box.
    browser.value("document.querySelectorAll('#ahead .name')[1].click()");
    browser.shows("answer", "later: 2×1×2 at 0,3,0 kept free from ");
    assert_eq!(browser.value("window.pavior.page.drawn.length"), 1);
    browser.press("Escape");
    browser.until("window.pavior.page.drawn.length === 2");
    let path = format!("/v1/reservations/{}/cancel", later["id"]);
    assert_eq!(client.post(&path, "").status, 200);
    browser.until("document.getElementById('ahead-total').textContent === '1'");
    browser.until("window.pavior.page.drawn.length === 1");
}

#[test]
fn slots_are_counted_and_drawn() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client) = served(|setup| setup.machine = "torus:8x8x8".into());
    for (shape, ttl_s) in [([8, 8, 3], 600), ([4, 8, 4], 900), ([3, 3, 1], 300)] {
        client.lease(json!({ "shape": shape, "ttl_s": ttl_s }));
    }
    browser.open(&server.address);
    browser.shows("counts", "329 busy");
    browser.value("document.getElementById('shape').value = '4x4x4'");
    browser.value("document.getElementById('slots').focus()");
    browser.press("Enter");
    let reply = client.get("/v1/slots?shape=4x4x4").json();
    let count = reply["slots"].as_u64().unwrap();
    assert!(reply["proven"] == true && count > 0, "{reply}");
    browser.shows("answer", &format!("{count} box"));
    browser.shows("answer", "no more are possible");
    browser.shows("answer", "based on known end times");
    assert_eq!(browser.value("window.pavior.page.marks.length"), count);
    check_accessibility(&mut browser, "slots");
    browser.press("2");
    browser.picture("slots-2d");
    // A node count does not define a box.
    browser.value("document.getElementById('shape').value = '64'");
    browser.value("document.getElementById('slots').click()");
    browser.shows("answer", "Enter the sides of a box, such as 4x4");
    browser.until("window.pavior.page.marks.length === 0");
}

/// Checks that the page shows the slots available after moves, and that its URL restores this view.
#[test]
fn the_url_restores_slots_after_moves() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client) = planned();
    browser.open(&server.address);
    browser.shows("counts", "20 busy");
    browser.value("document.getElementById('shape').value = '3x2x2'");
    browser.value("document.getElementById('slots').click()");
    browser.shows("answer", "can be placed side by side (green)");
    set(&mut browser, "moves", "1");
    let reply = client.get("/v1/slots?shape=3x2x2&moves=1").json();
    let (now, after) =
        (reply["slots"].as_u64().unwrap(), reply["after"]["slots"].as_u64().unwrap());
    assert!(after > now, "{reply}");
    browser.shows("answer", "after 1 move (arrows): job moves to");
    let drawn =
        "JSON.stringify([window.pavior.page.marks.length, window.pavior.page.moves.length])";
    assert_eq!(browser.value(drawn), json!([after, 1]).to_string());
    browser.until("location.hash.includes('slots=3x2x2&moves=1')");
    check_accessibility(&mut browser, "slots-after");
    let address = browser.value("location.href");
    browser.open("about:blank");
    browser.until("location.href === 'about:blank'");
    browser.open(address.as_str().unwrap());
    browser.shows("answer", "after 1 move (arrows): job moves to");
    browser.until(&format!("{drawn} === '[{after},1]'"));
    assert_eq!(browser.value("document.getElementById('shape').value"), "3x2x2");
    browser.press("Escape");
    browser.until("!location.hash.includes('slots')");
}

#[test]
fn a_tenant_sees_reservations_and_only_its_own_jobs_and_no_moves() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut root) = shared(&["a", "b"], |setup| setup.scheduler = Some("fcfs".into()));
    root.lease(json!({ "shape": [2, 2], "estimate_s": 9000, "tenant": "a", "job": "theirs" }));
    let parts = json!([{ "base": [0, 0], "sides": [1, 1] }]);
    let body = json!({ "parts": parts, "from": at(3000), "to": at(3060), "name": "cooling" });
    assert_eq!(root.post("/v1/reservations", body).status, 201);
    for (tenant, own) in [("a", true), ("b", false)] {
        browser.open(&format!("{}/#list=ahead", server.address));
        log_in(&mut browser, &format!("{tenant}-secret"));
        browser.shows("ahead", "cooling");
        browser.value("document.querySelector('#ahead .name').click()");
        browser.shows("answer", "cooling: ");
        let job = "document.getElementById('answer').textContent.includes('job theirs')";
        assert_eq!(browser.value(job), own, "tenant {tenant}");
        // Moves of other tenants' leases are not shown.
        browser.value("document.getElementById('shape').value = '4x4'");
        browser.value("document.getElementById('moves').value = '1'");
        browser.value("document.getElementById('slots').click()");
        browser.shows("answer", "only the operator may see plans for moving leases");
        browser.value("sessionStorage.clear() ?? true");
        browser.open("about:blank");
        until("another page", || browser.value("location.href") == "about:blank");
    }
}
