//! Tests the job table: sorting, search, columns, and 10,000 jobs.

use pavior_trials::Browser;
use serde_json::json;

use super::set;
use crate::client::batch;
use crate::server::served;

/// The visible names in the job table, in order.
const NAMES: &str =
    "JSON.stringify([...document.querySelectorAll('#jobs .name .text')].map((one) =>
    one.textContent))";

/// Clicks a column header.
fn sort(browser: &mut Browser, title: &str) {
    browser.value(&format!(
        "[...document.querySelectorAll('#jobs thead button')].find((one) =>
           one.textContent.startsWith('{title}')).click()"
    ));
}

#[test]
fn the_job_table_sorts_and_searches() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client) = served(|_| {});
    let jobs =
        [("b10", "alice", [8, 2], 600), ("b9", "bob", [2, 1], 7200), ("a", "bob", [3, 1], 60)];
    for (job, tenant, shape, ttl) in jobs {
        client.lease(json!({ "shape": shape, "tenant": tenant, "job": job, "ttl_s": ttl }));
    }
    client.lease(json!({ "shape": [1, 1], "job": "open" }));
    browser.open(&server.address);
    browser.until("document.querySelectorAll('#jobs .name').length === 4");
    let is = |names: &[&str]| format!("{NAMES} === {}", json!(json!(names).to_string()));
    // Numbers in names are compared as numbers.
    sort(&mut browser, "Job");
    browser.until(&is(&["a", "b9", "b10", "open"]));
    sort(&mut browser, "Job");
    browser.until(&is(&["open", "b10", "b9", "a"]));
    sort(&mut browser, "Nodes");
    browser.until(&is(&["open", "b9", "a", "b10"]));
    // Rows without an end time sort last in both directions.
    sort(&mut browser, "Ends");
    browser.until(&is(&["a", "b10", "b9", "open"]));
    sort(&mut browser, "Ends");
    browser.until(&is(&["b9", "b10", "a", "open"]));
    let head = "document.querySelector('#jobs [aria-sort]').ariaSort";
    assert_eq!(browser.value(head), "descending");
    let row = browser.value(
        "[...document.querySelectorAll('#jobs tbody tr')].find((one) =>
           one.textContent.includes('b9')).textContent",
    );
    let row = row.as_str().unwrap();
    for part in ["bob", "2×1", "0,2", " s", "1.9 h"] {
        let ends = part == "1.9 h" && row.contains("2.0 h");
        assert!(row.contains(part) || ends, "{part}: {row}");
    }
    browser.picture("table");
    set(&mut browser, "search", "bob 3×1");
    browser.until(&is(&["a"]));
    browser.shows("found", "1 row of 4");
    set(&mut browser, "search", "nobody");
    browser.shows("found", "No row contains all of these words");
    set(&mut browser, "search", "");
    browser.until("document.querySelectorAll('#jobs .name').length === 4");
}

#[test]
fn a_click_counts_even_if_the_machine_changes_during_it() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client) = served(|_| {});
    client.lease(json!({ "shape": [8, 2], "job": "first" }));
    browser.open(&server.address);
    browser.shows("jobs", "first");
    // A row that appears during the click must not displace the row under the pointer.
    sort(&mut browser, "Job");
    let place = browser.value(
        "(() => { const b = document.querySelector('#jobs .name').getBoundingClientRect();
          return [b.left + 5, b.top + 5]; })()",
    );
    let mouse = |kind: &str| {
        let (x, y) = (&place[0], &place[1]);
        json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 })
    };
    browser.call("Input.dispatchMouseEvent", &mouse("mousePressed"));
    client.lease(json!({ "shape": [1, 1], "job": "later" }));
    browser.shows("jobs", "later");
    browser.call("Input.dispatchMouseEvent", &mouse("mouseReleased"));
    browser.until("window.pavior.page.job !== null");
}

#[test]
fn a_renewed_lease_ends_later_in_the_table() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client) = served(|_| {});
    let lease = client.lease(json!({ "shape": [1, 1], "job": "renewed", "ttl_s": 60 }));
    browser.open(&server.address);
    browser.shows("jobs", "renewed");
    let renew = format!("/v1/leases/{}/renew", lease["id"]);
    client.post(&renew, json!({ "epoch": lease["epoch"], "ttl_s": 36000 }).to_string());
    browser.until(
        "[...document.querySelectorAll('#jobs tbody tr')].some((one) =>
           /renewed.*(10(\\.0)?|9\\.9) h/.test(one.textContent))",
    );
}

/// Checks that a page with 10,000 jobs uses few elements, and that every job can be reached.
#[test]
fn ten_thousand_jobs_need_few_elements() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client) = served(|setup| setup.machine = "torus:32x32x16".into());
    for part in 0..5 {
        let lease = |index: usize| {
            json!({ "lease": { "shape": [1, 1, 1], "job": 2000 * part + index } }).to_string()
        };
        let leases: Vec<String> = (0..2000).map(lease).collect();
        client.post("/v1/batch", batch(leases));
    }
    browser.open(&server.address);
    browser.shows("counts", "10,000 jobs");
    browser.shows("jobs-total", "10,000");
    let elements = browser.value("document.querySelectorAll('*').length").as_u64().unwrap();
    assert!(elements < 1500, "{elements} elements");
    sort(&mut browser, "Job");
    browser.until("document.querySelector('#jobs .name .text')?.textContent === '0'");
    browser.value("document.getElementById('jobs').scrollTop = 1e9");
    browser.shows("jobs", "9999");
    let rows =
        browser.value("document.querySelectorAll('#jobs tbody tr').length").as_u64().unwrap();
    assert!(rows < 100, "{rows} rows");
    set(&mut browser, "search", "7777");
    browser.until(&format!("{NAMES} === '[\"7777\"]'"));
    browser.value("document.querySelector('#jobs .name').click()");
    browser.until("window.pavior.page.job !== null");
    browser.picture("ten-thousand");
    // The page spends little time on an update, even if drawing is slow.
    let frames = browser.value("window.pavior.frames(1000)");
    println!("32x32x16 nodes and 10,000 jobs: {frames}");
    assert!(frames["build"].as_f64().unwrap() < 500.0, "{frames}");
}
