//! Tests the page that shows a schedule, which needs no server.

use pavior_trials::Browser;

use super::scheduled;

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
    // Selecting a time stops playback.
    browser.press(",");
    // At the end of the time axis, no nodes are held.
    browser.value("document.getElementById('seconds').value = 1");
    browser.value("document.getElementById('play').click()");
    browser.shows("counts", "0 busy");
    assert_eq!(browser.value("getComputedStyle(document.getElementById('ask')).display"), "none");
}
