//! Tests the page in a real browser.
//!
//! Needs Debian's `chromium`. If `chromium` is not installed, the tests are reported as skipped,
//! unless `PAVIOR_REQUIRE_BROWSER` is set. `PAVIOR_SCREENSHOTS=DIR` saves screenshots.

mod accessibility;
mod address;
mod ahead;
mod first_command;
mod hostile;
mod large;
mod lists;
mod live;
mod machines;
mod picture;
mod refusals;
mod schedule;
mod tenants;
mod tiles;

use pavior_trials::Browser;
use pavior_viewer::ScheduledJob;

/// Enters a token in the login dialog.
fn log_in(browser: &mut Browser, token: &str) {
    browser.until("document.getElementById('login')?.open");
    browser.value(&format!("document.getElementById('token').value = '{token}'"));
    browser.value("document.querySelector('#login button').click()");
}

/// Sets the value of an input or a choice, as a user would.
fn set(browser: &mut Browser, id: &str, value: &str) {
    let value = serde_json::json!(value);
    browser.value(&format!(
        "(() => {{ const one = document.getElementById('{id}'); one.value = {value};
          for (const kind of ['input', 'change']) one.dispatchEvent(new Event(kind)); }})() ?? true"
    ));
}

/// Checks the page's accessibility on wide and narrow screens, in light and dark mode.
fn check_accessibility(browser: &mut Browser, name: &str) {
    for (width, dark) in [(1400, false), (1400, true), (400, false), (400, true)] {
        browser.size(width, 900);
        browser.prefer(dark, false);
        browser.value("new Promise((done) => setTimeout(done, 500))");
        browser.picture(&format!("{name}-{width}-{dark}"));
        // If axe-core is not installed, the test is reported as skipped.
        if let Some(found) = browser.barriers() {
            assert_eq!(found, "", "{name} {width} dark: {dark}");
        }
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
