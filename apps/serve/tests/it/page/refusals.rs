//! Tests how refusals appear on the timeline and in the list.

use pavior_trials::Browser;
use serde_json::json;

use super::log_in;
use crate::refusals::refusing;

/// True if the first refusal's mark is painted above the curves, that is, if there is an opaque
/// pixel in the triangle whose tip is 3 pixels above the chart area.
const IS_MARKED: &str = "(() => { const { chart } = window.pavior, { left, top } = chart.area();
    const x = Math.round(chart.x(chart.drawn.refused[0])), inMark = top - 9, opaque = 200;
    const { data } = chart.canvas.getContext('2d').getImageData(x, inMark, 1, 1);
    return x >= left && data[3] > opaque; })()";
/// A script that moves the pointer to the first refusal's time on the chart.
const POINT_AT_REFUSAL: &str = "(() => { const { chart } = window.pavior, { top } = chart.area();
    const box = chart.canvas.getBoundingClientRect(), x = chart.x(chart.drawn.refused[0]);
    const at = { clientX: box.left + x, clientY: box.top + top + 13 };
    chart.canvas.dispatchEvent(new PointerEvent('pointermove', at)); })()";

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
    browser.until(IS_MARKED);
    browser.value(POINT_AT_REFUSAL);
    browser.shows("chart-tip", "refused: ");
    browser.picture("refusals");
    // Clicking a row shows the state at the time of the refusal, when fewer nodes were busy than
    // now.
    server.of("root-secret").lease(json!({ "shape": [2, 2] }));
    browser.shows("counts", "37 busy");
    browser.value("document.querySelector('#refused .name').click()");
    browser.until("!window.pavior.page.live");
    browser.shows("counts", "33 busy");
    let is_then = "window.pavior.chart.drawn.refused.includes(window.pavior.page.machine.now)";
    assert_eq!(browser.value(is_then), true, "the time of a refusal");
}
