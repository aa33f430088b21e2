//! Tests the page in Chromium: as a single file, with the keyboard, on a phone, and in dark mode.

use pavior_trials::Browser;

fn open(browser: &mut Browser, hash: &str) -> Option<()> {
    let page = crate::built("pavior.html")?;
    browser.open("about:blank");
    browser.open(&format!("file://{}{hash}", page.display()));
    browser.until("window.pavior");
    Some(())
}

/// Starts a browser and opens the page. Returns `None` if either is missing.
fn started(hash: &str) -> Option<Browser> {
    let mut browser = Browser::start(1400, 1000)?;
    open(&mut browser, hash)?;
    Some(browser)
}

const COMPLETED: &str = "window.pavior.sides.map((side) => side.state.completed)";

/// Checks that both machines run in the initial view, that the difference has a confidence interval
/// after enough jobs, and that changing a setting restarts the runs and updates the address.
#[test]
fn two_runs_are_compared() {
    let Some(mut browser) = started("#speed=1024") else { return };
    browser.until(&format!("{COMPLETED}.every((count) => count > 300)"));
    browser.shows("difference", "95% interval");
    browser.shows("shell", "--strategy ff,tff");
    browser.picture("try-1400-light");
    browser.value(
        "(() => {
           const choice = document.getElementById('strategy-0');
           choice.value = 'bf';
           choice.dispatchEvent(new Event('change'));
           return true;
         })()",
    );
    browser.until("window.pavior.sides[0].opened.strategy === 'bf'");
    browser.value("document.getElementById('set-machine').value = 'mesh:16x16'");
    browser.value("document.getElementById('set-load').value = '1'");
    browser.value("document.querySelector('#settings button[type=submit]').click()");
    browser.until("window.pavior.sides[1].opened.machine === 'mesh:16x16'");
    browser
        .until("location.hash.includes('machine=mesh:16x16') && location.hash.includes('load=1')");
    browser.value("document.getElementById('set-load').value = 'x'");
    browser.value("document.querySelector('#settings button[type=submit]').click()");
    browser.until("document.getElementById('set-load').getAttribute('aria-invalid') === 'true'");
    browser.until("document.getElementById('fault').textContent");
}

/// Checks that both machines, after being paused with the space bar, answer a question about a
/// shape.
#[test]
fn questions_can_be_asked_with_the_keyboard() {
    let Some(mut browser) = started("#load=4&speed=64&view=2d&machine=mesh:16x16") else { return };
    browser.until(&format!("{COMPLETED}.every((count) => count > 30)"));
    browser.press(" ");
    browser.until("window.pavior.isPaused");
    browser.value("document.getElementById('shape').focus()");
    for key in ["1", "2", "x", "1", "2", "Enter"] {
        browser.press(key);
    }
    browser.until("location.hash.includes('shape=12x12')");
    browser.until("document.getElementById('answer-0').textContent.includes('12x12')");
    browser.until("document.getElementById('answer-1').textContent.includes('12x12')");
    browser.picture("try-asked");
    let before = browser.value("window.pavior.sides[0].state.now");
    browser.value("document.activeElement.blur()");
    browser.press("s");
    browser.until(&format!("window.pavior.sides[0].state.now > {before}"));
    browser.value("document.getElementById('stage-0').focus()");
    browser.press("ArrowUp");
    browser.shows("answer-0", "Node 0,0");
}

/// Checks that a dropped log is replayed in the background without fetching anything.
#[test]
fn the_page_replays_a_log() {
    let Some(mut browser) = started("#paused=1") else { return };
    browser.value(
        "(() => {
           const job = (n) => `${n} ${60 * n} -1 ${300 + 97 * (n % 41)} ${1 + 13 * n % 60}`;
           const line = (n) => `${job(n)} -1 -1 -1 -1 -1 1 1 1 -1 1 -1 -1 -1`;
           const text = Array.from({ length: 2000 }, (_, n) => line(n + 1)).join('\\n');
           const drop = new DataTransfer();
           drop.items.add(new File([text], 'mine.swf'));
           dispatchEvent(new DragEvent('drop', { dataTransfer: drop, cancelable: true }));
           return true;
         })()",
    );
    browser.shows("summary", "2,000 jobs");
    browser.until("!document.getElementById('replays').hidden");
    browser.value("document.getElementById('replay').click()");
    browser.until("document.querySelectorAll('#replayed tbody tr').length >= 4");
    browser.shows("replayed", "95% interval");
    browser.picture("try-log");
    let fetched = browser.value(
        "performance.getEntriesByType('resource').filter((one) => !one.name.startsWith('blob:'))
           .length",
    );
    assert_eq!(fetched, 0);
}

/// Checks that both views are accessible on wide and narrow screens, in light and dark mode, and
/// that no part of the page is wider than the screen.
#[test]
fn the_page_is_accessible() {
    let Some(mut browser) = Browser::start(1400, 1000) else { return };
    for (view, width, dark) in
        [("3d", 1400, false), ("2d", 1400, true), ("2d", 400, false), ("3d", 400, true)]
    {
        browser.size(width, 900);
        browser.prefer(dark, false);
        if open(&mut browser, &format!("#speed=64&view={view}")).is_none() {
            return;
        }
        browser.until(&format!("{COMPLETED}.every((count) => count > 60)"));
        browser.press(" ");
        browser
            .value("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
        browser.value("document.getElementById('shape').value = '6x6x6'");
        browser.value("document.querySelector('#ask button').click()");
        browser.until("document.getElementById('answer-1').textContent");
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64() <= Some(u64::from(width)), "{wide} at {width}");
        let form = serde_json::json!({ "format": "png", "captureBeyondViewport": width < 500 });
        browser.screenshot(&format!("try-{width}-{view}.png"), &form);
        let Some(found) = browser.barriers() else { return };
        assert!(found.is_empty(), "{view}, {width}, dark {dark}:\n{found}");
    }
}
