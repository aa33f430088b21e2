//! Tests the page in a real browser.
//!
//! Needs Debian's `chromium`. If it is not installed, the tests are reported as skipped, unless
//! `PAVIOR_REQUIRE_BROWSER` is set. `PAVIOR_SCREENSHOTS=DIR` saves screenshots.

mod address;
mod ahead;
mod everybody;
mod first;
mod hostile;
mod lists;
mod machines;
mod picture;
mod refusals;
mod tenants;
mod tiles;

use pavior_trials::Browser;
use pavior_viewer::ScheduledJob;
use serde_json::json;

use crate::client::batch;
use crate::server::fresh;

/// Enters a token in the login dialog.
fn log_in(browser: &mut Browser, token: &str) {
    browser.until("document.getElementById('login')?.open");
    browser.value(&format!("document.getElementById('token').value = '{token}'"));
    browser.value("document.querySelector('#login button').click()");
}

/// Checks the page's accessibility on wide and narrow screens, in light and dark mode.
fn look(browser: &mut Browser, name: &str) {
    for (width, dark) in [(1400, false), (1400, true), (400, false), (400, true)] {
        browser.size(width, 900);
        browser.prefer(dark, false);
        browser.value("new Promise((done) => setTimeout(done, 500))");
        browser.picture(&format!("{name}-{width}-{dark}"));
        assert_eq!(browser.barriers().unwrap_or_default(), "", "{name} {width} dark: {dark}");
        let wide = "document.documentElement.scrollWidth <= innerWidth";
        assert_eq!(browser.value(wide), true, "{name} does not fit a width of {width}");
    }
    browser.size(1400, 900);
    browser.prefer(false, false);
}

fn scheduled(name: u64, (start, end): (f64, f64), base: u16, sides: [u16; 2]) -> ScheduledJob {
    let nodes = u32::from(sides[0] * sides[1]);
    let parts = vec![(vec![base, 0], sides.to_vec())];
    ScheduledJob { name: name.into(), submit: 0.0, start, end, nodes, parts }
}

#[test]
fn the_page_shows_the_machine_live_and_as_it_was() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let (server, _) = fresh(|setup| {
        setup.machine = "grid:8x8x4w".into();
        setup.scheduler = Some("fcfs".into());
    });
    let mut client = server.client();
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
    browser.shows("answer", "In the way");
    browser.picture("refusal-3d");
    browser.press("2");
    browser.until("!document.getElementById('flat').hidden");
    browser.picture("refusal-2d");

    moves_are_drawn(&mut browser);

    // Go back to the start, then to the present again.
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

/// Checks that moves are drawn, and described with the jobs' names.
fn moves_are_drawn(browser: &mut Browser) {
    browser.value("document.getElementById('shape').value = '8x4x4'");
    browser.value("document.querySelector('#ask button').click()");
    browser.shows("answer", "Sooner: moving");
    browser.shows("answer", "job first from");
    browser.shows("answer", "job <b>second</b> from");
    assert_eq!(browser.value("window.pavior.page.moves.length"), 2);
    // The moves and the red box belong to the same place.
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

#[test]
fn slots_are_counted_and_drawn() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, _) = fresh(|setup| setup.machine = "torus:8x8x8".into());
    let mut client = server.client();
    for (shape, ttl_s) in [([8, 8, 3], 600), ([4, 8, 4], 900), ([3, 3, 1], 300)] {
        client.lease(json!({ "shape": shape, "ttl_s": ttl_s }));
    }
    browser.open(&server.address);
    browser.shows("counts", "329 busy");
    browser.value("document.getElementById('shape').value = '4x4x4'");
    browser.value("document.getElementById('slots').focus()");
    browser.press("Enter");
    let told = client.get("/v1/slots?shape=4x4x4").json();
    let count = told["slots"].as_u64().unwrap();
    assert!(told["proven"] == true && count > 0, "{told}");
    browser.shows("answer", &format!("{count} box"));
    browser.shows("answer", "no more are possible");
    browser.shows("answer", "based on the known ends");
    assert_eq!(browser.value("window.pavior.page.marks.length"), count);
    look(&mut browser, "slots");
    browser.press("2");
    browser.picture("slots-2d");
    // A node count does not specify a box.
    browser.value("document.getElementById('shape').value = '64'");
    browser.value("document.getElementById('slots').click()");
    browser.shows("answer", "Enter the sides of a box, such as 4x4");
    browser.until("window.pavior.page.marks.length === 0");
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

#[test]
fn a_schedule_plays_without_a_server() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let samples = [(0.0, 8, 56), (5.0, 16, 48), (9.0, 8, 56), (12.0, 0, 64)];
    let samples = samples.map(|(at, busy, largest_free)| pavior_viewer::CurvePoint {
        at,
        busy,
        largest_free: Some(largest_free),
    });
    let jobs = [scheduled(1, (0.0, 9.0), 0, [4, 2]), scheduled(2, (5.0, 12.0), 4, [4, 2])];
    browser.open_text(&pavior_viewer::schedule("mesh:8x8", &jobs, &samples));
    browser.shows("counts", "8 busy");
    browser.shows("counts", "1 waiting");
    browser.shows("pace", "1 s shows 1 s");
    browser.press(" ");
    browser.shows("counts", "16 busy");
    browser.picture("schedule");
    browser.press(" ");
    // At the end of the time axis, no nodes are held.
    browser.value("document.getElementById('seconds').value = 1");
    browser.value("document.getElementById('play').click()");
    browser.shows("counts", "0 busy");
    assert_eq!(browser.value("getComputedStyle(document.getElementById('ask')).display"), "none");
}

/// Measures the drawing of a large machine. The times are not checked, because they depend on the
/// load, and software draws here. The rest is checked: only visible faces are drawn, and the
/// picture is sharp at rest.
#[test]
fn a_large_machine_is_drawn() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let (server, _) = fresh(|setup| setup.machine = "torus:16x16x16".into());
    let mut client = server.client();
    let leases = batch(vec![r#"{"lease":{"shape":[1,2,1]}}"#; 2000]);
    let answers = client.post("/v1/batch", leases).json();
    let granted = answers["answers"].as_array().unwrap().iter().filter(|one| one["status"] == 201);
    assert_eq!(granted.count(), 2000);
    browser.open(&server.address);
    browser.shows("counts", "2,000 jobs");
    let frames = browser.value("window.pavior.frames(3000)");
    let [rate, work, build, triangles] =
        ["rate", "work", "build", "triangles"].map(|name| frames[name].as_f64().unwrap());
    println!(
        "16x16x16 nodes and 2,000 jobs: {rate:.1} frames per second in software; the page's \
         own work takes {work:.2} ms per frame, {build:.1} ms to rebuild; {triangles} triangles"
    );
    // Two triangles per face of three sides of the machine, and around the 96 free nodes.
    assert!(triangles <= f64::from(2 * (3 * 256 + 3 * 96)), "{triangles} triangles are drawn");
    browser.until(
        "document.getElementById('deep').width === document.getElementById('deep').clientWidth",
    );
    browser.picture("large");
}

/// Checks the legend of tenants' colors, and the reasons why requests are waiting.
#[test]
fn colours_are_told_and_waiting_is_explained() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, _) = fresh(|setup| {
        setup.scheduler = Some("easy".into());
        setup.strategy = "gabl".into();
    });
    let mut client = server.client();
    let names = ["alice", "bob", "carol", "dave", "erin", "frank", "grace"];
    for (index, tenant) in names.iter().enumerate() {
        client
            .lease(json!({ "shape": [8, 1], "tenant": tenant, "job": index, "estimate_s": 3600 }));
    }
    let head = json!({ "shape": [8, 8], "job": 17, "wait": true, "estimate_s": 1800 });
    client.lease(head);
    let behind = json!({ "shape": [2, 1], "job": "small", "wait": true, "estimate_s": 7200 });
    client.lease(behind);
    browser.open(&server.address);
    browser.shows("counts", "56 busy");
    browser.press("c");
    browser.shows("legend", "alice (8)");
    let patches = "new Set([...document.querySelectorAll('#legend i')].slice(0, 7).map((one) => \
                   one.style.backgroundColor)).size";
    assert_eq!(browser.value(patches), 7, "no two tenants share a color");
    browser.value("document.getElementById('tab-waiting').click()");
    browser.shows("waiting", "reserved: 17");
    browser.value("document.querySelectorAll('#waiting .act')[1].click()");
    browser.shows("answer", "It fits, but job 17 has nodes reserved from");
    let told = browser.value("document.getElementById('answer').textContent");
    assert!(!told.as_str().unwrap().contains("would grant it now"), "{told}");
    browser.picture("tenants-light");
    browser.prefer(true, false);
    browser.picture("tenants-dark");
    browser.press("c");
    browser.until("document.querySelector('#legend .scale')");
    browser.picture("age-dark");
    browser.prefer(false, false);
    browser.picture("age-light");

    client.post("/v1/nodes/fail", r#"{"node":[7,7]}"#);
    browser.shows("legend", "failed");

    // The operator has a color like any tenant.
    client.post("/v1/leases", r#"{"shape":[1,1],"tenant":"heidi"}"#);
    browser.press("c");
    browser.press("c");
    browser.shows("legend", "heidi (1)");
    browser.shows("legend", "operator (2)");
}

/// Checks that the time axis ends at the current time, even if nothing happens or history is shown.
#[test]
fn the_axis_ends_now() {
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
    browser.until(&format!("window.pavior.chart.drawn.isNow && {ends_now}"));
    browser.press(",");
    browser
        .until("!window.pavior.page.live && document.getElementById('when').textContent !== 'now'");
    browser.until(&format!("window.pavior.chart.drawn.isNow && {ends_now}"));
    browser.picture("past-phone");
}

/// Checks that a tenant's page shows other tenants' leases, although it gets no events about them.
#[test]
fn a_tenants_page_keeps_up_with_the_others() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let (server, _) = fresh(|setup| setup.give_tokens(&["a", "b"]));
    browser.open(&server.address);
    log_in(&mut browser, "a-secret");
    browser.shows("counts", "64 free");
    let mut other = server.of("b-secret");
    let lease = other.lease(r#"{"shape":[4,4],"job":"hidden"}"#);
    browser.shows("counts", "16 busy");
    browser.press("c");
    browser.shows("legend", "other tenants (16)");
    assert_eq!(
        browser.value("document.getElementById('lists').textContent.includes('hidden')"),
        false
    );
    other.end(&lease);
    browser.shows("counts", "64 free");
}
