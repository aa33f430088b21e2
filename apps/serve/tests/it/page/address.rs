//! Checks that opening a view's URL in another window shows the same view.

use pavior_trials::Browser;
use serde_json::json;

use super::set;
use crate::server::{fresh, served};

/// The part of a view that the URL describes.
const SEEN: &str = "(() => { const { page, stage } = window.pavior; return JSON.stringify({
    at: page.at, live: page.live, by: page.by, plane: page.plane, job: page.job, deep: stage.isDeep,
    eye: stage.eye(), jobs: [...document.querySelectorAll('#jobs .name .text')].map((one) =>
      one.textContent), sort: document.querySelector('#jobs [aria-sort]').textContent,
    search: document.getElementById('search').value, busy: page.machine.counts().busy }); })()";

#[test]
fn the_url_restores_the_view() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client) = served(|setup| setup.machine = "torus:4x4x4".into());
    for (index, nodes) in [4, 1, 3, 2].into_iter().enumerate() {
        let tenant = ["alice", "bob"][index % 2];
        let shape = [nodes, 1, 1];
        client.lease(json!({ "shape": shape, "job": format!("job-{index}"), "tenant": tenant }));
    }
    browser.open(&server.address);
    browser.shows("counts", "10 busy");
    // The view has a plane across y, colors by tenant, a list of one tenant's jobs sorted by size,
    // an isolated job, a different viewpoint, and a past time.
    browser.press("c");
    for (id, value) in [("axis", "1"), ("plane", "0"), ("search", "alice")] {
        set(&mut browser, id, value);
    }
    let nodes = "[...document.querySelectorAll('#jobs thead button')].find((one) => \
                 one.textContent.startsWith('Nodes')).click()";
    browser.value(nodes);
    browser.value(nodes);
    browser.until("document.querySelectorAll('#jobs .name').length === 2");
    browser.value("document.querySelector('#jobs .name').click()");
    browser.value("window.pavior.stage.deep.turn(0.5, 0.2)");
    // The viewpoint is stored when a movement ends.
    browser.press("2");
    browser.press("3");
    browser.until("window.pavior.page.series.busy.length >= 1");
    browser.press(",");
    // Match the URL's parameters by name, because `sort=` also ends with `t=`.
    let part = "new URLSearchParams(location.hash.slice(1)).get";
    browser.until(&format!("!window.pavior.page.live && {part}('t') !== null"));
    browser.until(&format!("{part}('view') === '3d' && {part}('job') === '1'"));
    // Current counts are not shown for past states.
    browser.until("document.getElementById('ahead-total').textContent === ''");
    let (seen, address) = (browser.value(SEEN), browser.value("location.href"));
    browser.picture("sent");
    browser.open("about:blank");
    browser.until("location.href === 'about:blank'");
    browser.open(address.as_str().unwrap());
    browser.until("window.pavior?.page.machine && !window.pavior.page.live");
    browser.until(&format!("{SEEN} === {seen}"));
    // Simulate pasting another URL of the same page.
    browser.value("location.hash = 'view=2d&plane=z3&by=age&sort=job&list=waiting'");
    browser.until("window.pavior.page.live && !window.pavior.stage.isDeep");
    browser.until("document.getElementById('plane').value === '3'");
    browser.until("document.getElementById('tab-waiting').ariaSelected === 'true'");
}

/// Checks that the page ignores invalid parts of a URL.
#[test]
fn invalid_parts_of_a_url_are_ignored() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let (server, _) = fresh(|_| {});
    server.client().lease(r#"{"shape":[3,5]}"#);
    let hostile = "#t=never&view=4d&plane=q9&by=%3Cb%3E&eye=1,2,x&list=all&sort=--a&\
                   job=%3Cimg%20src=x\
                   %20onerror=alert(1)%3E&q=%00%E2%80%AE";
    browser.open(&format!("{}/{hostile}", server.address));
    browser.shows("counts", "15 busy");
    browser.shows("chosen", "holds no nodes at this time");
    assert_eq!(browser.value("document.querySelectorAll('img, b b').length"), 0);
    assert_eq!(browser.value("window.pavior.page.by"), "job");
    browser.press("Escape");
    browser.until("document.getElementById('chosen').hidden");
}
