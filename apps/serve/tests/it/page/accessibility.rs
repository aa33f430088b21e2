//! Tests the page's accessibility: keyboard, screen readers, light and dark mode, reduced motion.

use pavior_trials::Browser;
use serde_json::json;

use super::{check_accessibility, scheduled};
use crate::server::{Server, fresh, served_by};

/// Starts a server with a torus, several tenants, a waiting request and a refused request.
fn busy() -> Server {
    let (server, mut client) = served_by("easy", |setup| setup.machine = "torus:4x4x4".into());
    for (index, tenant) in ["alice", "bob", "carol"].iter().enumerate() {
        let lease = json!({
            "shape": [4, 4, 1], "tenant": tenant, "job": format!("job-{index}"), "ttl_s": 3600,
        });
        client.lease(lease);
    }
    client.post("/v1/nodes/fail", r#"{"node":[3,3,3]}"#);
    client.post("/v1/leases", r#"{"shape":[4,4,2],"job":"large","tenant":"bob"}"#);
    client.lease(json!({ "shape": [4, 4, 2], "job": "patient", "wait": true }));
    server
}

/// Checks every state of the page with axe-core, in light and dark mode, on a large screen and a
/// phone.
#[test]
fn every_state_of_the_page_is_accessible() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let server = busy();
    browser.open(&server.address);
    browser.shows("refused-total", "1");
    browser.until("document.querySelector('#jobs .name')");
    let click = |id: &str| format!("document.getElementById('{id}').click()");
    let states = [
        ("jobs in 3D", String::new()),
        ("an isolated job", "document.querySelector('#jobs .name').click()".into()),
        ("waiting", click("tab-waiting")),
        ("why", "document.querySelector('#waiting .act').click()".into()),
        ("slots", format!("document.getElementById('shape').value = '2x2x2'; {}", click("slots"))),
        ("refused", click("tab-refused")),
        ("2D", click("two")),
        (
            "tenants",
            "document.getElementById('by').value = 'tenant';
                     document.getElementById('by').dispatchEvent(new Event('change'))"
                .into(),
        ),
        ("the help", click("help")),
    ];
    for (name, act) in &states {
        browser.value(&format!("(() => {{ {act} }})() ?? true"));
        check_accessibility(&mut browser, &name.replace(' ', "-"));
    }
    let (empty, _) = fresh(|_| {});
    browser.open(&empty.address);
    browser.shows("first-command", "curl");
    check_accessibility(&mut browser, "empty");
    browser.open_text(&pavior_viewer::schedule("mesh:4x4", &[], &[]));
    let job = scheduled(7, (1.0, 5.0), 0, [2, 2]);
    browser.open_text(&pavior_viewer::schedule("mesh:4x4", &[job], &[]));
    browser.shows("waiting-count", "1");
    let Some(found) = browser.barriers() else { return };
    assert_eq!(found, "", "a schedule");
    pavior_trials::attacked(
        "pages",
        "accessibility barriers, by axe-core",
        4 * states.len() + 5,
        0,
    );
}

/// Checks that Tab reaches all controls in page order, with a visible focus ring.
#[test]
fn every_control_is_reachable_by_keyboard() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let server = busy();
    browser.open(&server.address);
    browser.until("document.querySelectorAll('#jobs .name').length === 3");
    let mut reached = Vec::new();
    for _ in 0..60 {
        browser.press("Tab");
        let at = browser.value(
            "(() => { const one = document.activeElement;
              if (one === document.body) return null;
              const ring = getComputedStyle(one).outlineStyle;
              return [one.id || one.closest('[id]').id, ring]; })()",
        );
        let Some(id) = at[0].as_str().map(str::to_string) else { break };
        assert_eq!(at[1], "solid", "{id} shows that it has the focus");
        reached.push(id);
    }
    let order = "share theme help fits-show two three axis plane by stage live play seconds chart \
                 shape slots tab-jobs search jobs";
    let positions = order.split(' ').map(|id| reached.iter().position(|other| other == id));
    let positions: Vec<_> = positions.collect();
    assert!(positions.iter().all(Option::is_some), "{order}: {reached:?}");
    assert!(positions.is_sorted(), "in the order of the page: {reached:?}");
    assert!(!reached.contains(&"tab-waiting".to_string()), "one stop for the tabs: {reached:?}");
}

/// Checks that nodes, planes, the time slider and lists can be used with the keyboard.
#[test]
fn nodes_times_and_lists_are_reachable_by_keyboard() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let server = busy();
    browser.open(&server.address);
    browser.until("document.querySelectorAll('#jobs .name').length === 3");
    browser.press("2");
    browser.value("document.getElementById('stage').focus() ?? true");
    browser.press("ArrowRight");
    browser.shows("spoken", "Node 0,0,0, job job-");
    browser.press("ArrowRight");
    browser.shows("spoken", "Node 1,0,0");
    for _ in 0..3 {
        browser.press("PageUp");
    }
    browser.shows("spoken", "Node 1,0,3, free");
    browser.press("PageDown");
    browser.press("Enter");
    browser.until("window.pavior.page.job !== null");
    browser.shows("chosen", "4×4×1 (16 nodes)");
    browser.press("Escape");
    // Test the time slider.
    browser.until("window.pavior.page.series.busy.length >= 1");
    browser.value("document.getElementById('chart').focus() ?? true");
    browser.press("ArrowLeft");
    browser.until("!window.pavior.page.live");
    browser.until("Number(document.getElementById('chart').ariaValueNow) < 100");
    browser.press("End");
    browser.until("window.pavior.page.live");
    browser.until("document.getElementById('chart').ariaValueText.startsWith('now')");
    // Test tabs and rows.
    browser.value("document.getElementById('tab-jobs').focus() ?? true");
    browser.press("ArrowRight");
    browser.until("document.activeElement.id === 'tab-waiting'");
    browser.press("Home");
    browser.value("document.querySelector('#jobs .name').focus() ?? true");
    browser.press("ArrowDown");
    let second = "document.activeElement === document.querySelectorAll('#jobs .name')[1]";
    assert_eq!(browser.value(second), true);
    // Single-key shortcuts can be turned off.
    browser.value("document.getElementById('single').click()");
    browser.value("document.activeElement.blur() ?? true");
    browser.press("3");
    assert_eq!(browser.value("window.pavior.stage.isDeep"), false);
    browser.value("document.getElementById('single').click()");
}

/// Checks that playback with reduced motion advances in one-second steps without transitions.
#[test]
fn reduced_motion_plays_in_steps() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    browser.prefer(false, true);
    let jobs = [(1, (0.0, 50.0)), (2, (50.0, 100.0))];
    let jobs = jobs.map(|(name, times)| scheduled(name, times, 0, [2, 2]));
    browser.open_text(&pavior_viewer::schedule("mesh:4x4", &jobs, &[]));
    browser.shows("pace", "in 20 steps, one per second, each of 5 s");
    let still = "getComputedStyle(document.getElementById('play')).transitionDuration";
    assert_eq!(browser.value(still), "0s");
    browser.press(" ");
    browser.until("window.pavior.page.at >= 10000");
    assert_eq!(browser.value("window.pavior.page.at % 5000"), 0);
    browser.press(" ");
}
