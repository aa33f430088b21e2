//! Tests the live view and past states of a machine.

use pavior_trials::Browser;

use crate::server::{fresh, served_by};

#[test]
fn the_page_shows_the_present_and_the_past() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let (server, mut client) = served_by("fcfs", |setup| setup.machine = "grid:8x8x4w".into());
    client.post("/v1/leases", r#"{"shape":[4,4,4],"job":"first"}"#);
    client.post("/v1/nodes/fail", r#"{"node":[7,7,3]}"#);
    browser.open(&server.address);
    browser.shows("counts", "64 busy");
    browser.until("document.getElementById('status').textContent === 'connected'");
    assert_eq!(browser.value("document.getElementById('deep').hidden"), false, "3D works");

    // A grant is drawn without a reload.
    let lease = client.lease(r#"{"shape":[4,4,2],"job":"<b>second</b>"}"#);
    browser.shows("counts", "96 busy");
    browser.shows("jobs", "<b>second</b>");
    browser.picture("live-3d");

    client.post("/v1/leases", r#"{"shape":[8,8,4],"job":"large","wait":true}"#);
    browser.value("document.getElementById('tab-waiting').click()");
    browser.until("document.querySelector('#waiting .act')");
    browser.value("document.querySelector('#waiting .act').click()");
    browser.shows("answer", "It needs 256 nodes, but only 159 are free");
    browser.shows("answer", "nearest free box");
    browser.shows("answer", "Blocked there by");
    browser.picture("refusal-3d");
    browser.press("2");
    browser.until("!document.getElementById('flat').hidden");
    browser.picture("refusal-2d");

    moves_are_drawn(&mut browser);

    // Go back to the start, then return to the present.
    client.end(&lease);
    browser.until("window.pavior.page.series.busy.length >= 2");
    browser.value(
        "(() => { const { chart } = window.pavior, c = chart.canvas, b = c.getBoundingClientRect();
          const left = b.left + chart.x(chart.begins());
          const at = { clientX: left, clientY: b.top + 40, buttons: 1, pointerId: 1 };
          c.setPointerCapture = () => {};
          c.dispatchEvent(new PointerEvent('pointerdown', at)); })() ?? true",
    );
    browser.until("!window.pavior.page.live");
    browser.shows("counts", "0 busy");
    browser.until("document.getElementById('when').textContent !== 'now'");
    browser.picture("history");
    browser.press("Home");
    browser.until("document.getElementById('when').textContent === 'now'");
    browser.shows("counts", "64 busy");

    browser.press("c");
    browser.until("document.getElementById('by').value === 'tenant'");
    browser.press("l");
    browser.until("document.getElementById('plane').value === '0'");
    for theme in ["light", "dark"] {
        browser.press("t");
        browser.until(&format!("document.documentElement.dataset.theme === '{theme}'"));
    }
    browser.picture("dark-2d");
}

/// Checks that the page draws the moves and describes them by job name.
fn moves_are_drawn(browser: &mut Browser) {
    browser.value("document.getElementById('shape').value = '8x4x4'");
    browser.value("document.querySelector('#ask button').click()");
    browser.shows("answer", "Moving");
    browser.shows("answer", "job first from");
    browser.shows("answer", "job <b>second</b> from");
    assert_eq!(browser.value("window.pavior.page.moves.length"), 2);
    // The answer mentions the box that is marked in red.
    let red = "(() => { const [{ part }] = window.pavior.page.marks;
      return `${part.sides.join('x')} at ${part.base.join(',')}`; })()";
    let red = browser.value(red);
    browser.shows("answer", red.as_str().unwrap());
    browser.picture("moves-2d");
    browser.press("3");
    browser.until("document.getElementById('flat').hidden");
    browser.picture("moves-3d");
    browser.press("2");
}

/// Checks that the time axis ends at the current time, even if nothing happens or a past state is
/// shown.
#[test]
fn the_time_axis_ends_at_the_current_time() {
    let Some(mut browser) = Browser::start(400, 900) else { return };
    let (server, _) = fresh(|_| {});
    server.client().lease(r#"{"shape":[3,5]}"#);
    browser.open(&server.address);
    browser.until("window.pavior?.page.series.busy.length >= 1");
    let last = "window.pavior.page.series.busy.at(-1).at";
    let ends_now = format!(
        "window.pavior.chart.span()[1] > {last} + 3000 && Math.abs(window.pavior.chart.span()[1] - \
         Date.now()) < 3000"
    );
    browser.until(&format!("window.pavior.chart.drawn?.isNow && {ends_now}"));
    browser.press(",");
    browser
        .until("!window.pavior.page.live && document.getElementById('when').textContent !== 'now'");
    browser.until(&format!("window.pavior.chart.drawn?.isNow && {ends_now}"));
    browser.picture("past-phone");
}

#[test]
fn the_live_button_stops_playback() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let (server, _) = fresh(|_| {});
    server.client().lease(r#"{"shape":[3,5]}"#);
    browser.open(&server.address);
    browser.until("window.pavior?.page.series.busy.length >= 1");
    browser.press(" ");
    browser.until("!window.pavior.page.live");
    browser.value("document.getElementById('live').click()");
    assert_eq!(browser.value("document.getElementById('play').textContent"), "▶ Play");
}

#[test]
fn errors_are_not_marked_as_out_of_date() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let (server, _) = fresh(|_| {});
    browser.open(&server.address);
    for (shape, answer) in [("2x2", "It would be placed at"), ("2x2x2", "expected 2 sides")] {
        browser.until("window.pavior?.page.machine");
        browser.value(&format!("document.getElementById('shape').value = '{shape}'"));
        browser.value("document.querySelector('#ask button').click()");
        browser.shows("answer", answer);
    }
    server.client().lease(r#"{"shape":[3,5]}"#);
    browser.shows("counts", "15 busy");
    let text = browser.value("document.getElementById('answer').textContent");
    assert!(!text.as_str().unwrap().contains("has changed"), "{text}");
}

#[test]
fn the_page_fits_a_phone() {
    let Some(mut browser) = Browser::start(390, 844) else { return };
    let (server, _) = fresh(|_| {});
    server.client().post("/v1/leases", r#"{"shape":[3,5]}"#);
    browser.open(&server.address);
    browser.shows("counts", "15 busy");
    let wide = browser.value("document.documentElement.scrollWidth <= window.innerWidth");
    assert_eq!(wide, true, "nothing is wider than the screen");
    browser.picture("phone");
}
