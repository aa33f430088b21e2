//! Tests refusals and their reasons, on the timeline and in the list.

use pavior_trials::Browser;
use serde_json::json;

use super::log_in;
use crate::client::Client;
use crate::server::{Server, fresh};

/// Starts a server that has refused two requests of tenant a and one of tenant b.
fn refusing() -> Server {
    let (server, _) = fresh(|setup| {
        setup.quota = Some(40);
        setup.give_tokens(&["a", "b"]);
    });
    server.of("root-secret").lease(json!({ "shape": [8, 4], "job": "wall" }));
    let (mut a, mut b) = (server.of("a-secret"), server.of("b-secret"));
    a.post("/v1/leases", r#"{"shape":[5,8],"job":"tall"}"#);
    a.post("/v1/leases", r#"{"nodes":33,"job":"many"}"#);
    b.post("/v1/leases", r#"{"shape":[8,6],"job":"greedy"}"#);
    // Granted and malformed requests are not refusals.
    b.post("/v1/leases", r#"{"shape":[1,1],"job":"granted"}"#);
    b.post("/v1/leases", r#"{"shape":[1]}"#);
    server
}

#[test]
fn refusals_are_listed_with_reasons() {
    let server = refusing();
    let (mut operator, mut b) = (server.of("root-secret"), server.of("b-secret"));
    let refusals = |client: &mut Client, path: &str| client.get(path).json();
    let all = refusals(&mut operator, "/v1/refusals");
    let names: Vec<_> = all["refusals"].as_array().unwrap().iter().map(|one| &one["job"]).collect();
    assert_eq!(names, ["tall", "many", "greedy"]);
    assert_eq!(all["last"], 3);
    assert_eq!(all["refusals"][2]["reason"], "over-quota");
    assert_eq!(all["refusals"][0]["shape"], json!([5, 8]));
    assert_eq!(all["refusals"][1]["shape"], json!(null));
    // A tenant sees only its own refusals.
    let own = refusals(&mut b, "/v1/refusals?after=1");
    assert_eq!(own["refusals"].as_array().unwrap().len(), 1);
    let batch = r#"{"operations":[{"lease":{"shape":[8,8],"job":"batched"}}]}"#;
    b.post("/v1/batch", batch.to_string());
    assert_eq!(refusals(&mut b, "/v1/refusals?after=3")["refusals"][0]["job"], "batched");
    assert_eq!(refusals(&mut b, "/v1/refusals?after=99")["refusals"].as_array().unwrap().len(), 2);
    assert_eq!(operator.get("/v1/refusals?machine=x").status, 404);
}

#[test]
fn the_timeline_and_the_list_show_refusals() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let server = refusing();
    browser.open(&server.address);
    log_in(&mut browser, "root-secret");
    browser.shows("refused-total", "3");
    browser.until("window.pavior.chart.drawn?.refused.length === 3");
    browser.until("!document.getElementById('refusals').hidden");
    browser.value("document.getElementById('tab-refused').click()");
    browser.shows("refused", "over-quota");
    browser.shows("refused", "tall");
    // Refusals are marked above the curves.
    let painted = "(() => { const { chart } = window.pavior, { left, top } = chart.area();
        const x = Math.round(chart.x(chart.drawn.refused[0]));
        const { data } = chart.canvas.getContext('2d').getImageData(x, top - 9, 1, 1);
        return x >= left && data[3] > 200;
      })()";
    browser.until(painted);
    // The tooltip lists refusals near the pointer.
    browser.value(
        "(() => { const { chart } = window.pavior, b = chart.canvas.getBoundingClientRect();
          const x = b.left + chart.x(chart.drawn.refused[0]);
          const at = { clientX: x, clientY: b.top + 30 };
          chart.canvas.dispatchEvent(new PointerEvent('pointermove', at));
        })() ?? true",
    );
    browser.shows("chart-tip", "refused: ");
    browser.picture("refusals");
    // A click on a row shows that time.
    browser.value("document.querySelector('#refused .name').click()");
    browser.until("!window.pavior.page.live");
    browser.shows("counts", "33 busy");
}
