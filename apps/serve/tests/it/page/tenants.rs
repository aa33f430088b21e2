//! Tests the colors of tenants, and the pages that tenants see.

use std::collections::BTreeSet;

use pavior_trials::Browser;
use serde_json::json;

use super::log_in;
use crate::server::fresh;

/// The color and pattern of each tenant in the legend.
const LOOKS: &str = "[...document.querySelectorAll('#legend button .patch')].map((one) =>
    [one.style.backgroundColor, getComputedStyle(one).backgroundImage].join())";

#[test]
fn each_of_36_tenants_has_its_own_color_or_pattern() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, _) = fresh(|setup| setup.machine = "torus:8x8x8".into());
    let mut client = server.client();
    for number in 0..36 {
        let tenant = format!("group-{number:02}");
        client.lease(json!({ "shape": [4, 2, 1], "tenant": tenant, "job": format!("j{number}") }));
    }
    browser.open(&format!("{}/#by=tenant&view=2d", server.address));
    browser.until("document.querySelectorAll('#legend button').length === 36");
    for dark in [false, true] {
        browser.prefer(dark, false);
        browser.until(&format!("matchMedia('(prefers-color-scheme: dark)').matches === {dark}"));
        // The legend is updated with the next frame.
        browser.value("new Promise((done) => setTimeout(done, 300))");
        let looks = browser.value(LOOKS);
        let looks: Vec<_> = looks.as_array().unwrap().iter().map(|one| one.as_str()).collect();
        assert_eq!(looks.iter().collect::<BTreeSet<_>>().len(), 36, "{looks:?}");
        for (width, key) in [(1400, "2"), (1400, "3"), (400, "2"), (400, "3")] {
            browser.size(width, 900);
            browser.press(key);
            browser.value("new Promise((done) => setTimeout(done, 800))");
            browser.picture(&format!("tenants-{width}-{key}-{dark}"));
        }
        browser.size(1400, 900);
        assert_eq!(browser.barriers().unwrap_or_default(), "", "dark: {dark}");
    }
    // The nodes have the legend's patterns, so a striped tenant's nodes have two colors.
    browser.press("2");
    let inks = "(() => { const { stage, page } = window.pavior, { flat } = stage;
        const pen = flat.canvas.getContext('2d');
        return [...page.machine.leases.values()].map((lease) => {
          const at = flat.where(page.machine.holder.indexOf(lease.key)), scale = devicePixelRatio;
          const { data } = pen.getImageData((at.x - 5) * scale, (at.y - 5) * scale, 10, 10);
          const found = new Set();
          for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 3).join());
          return found.size; }); })()";
    let inks = browser.value(inks);
    let plain = inks.as_array().unwrap().iter().filter(|one| one.as_u64() == Some(1)).count();
    assert_eq!(plain, 12, "12 tenants have a plain color: {inks}");

    // Further tenants share a gray.
    for number in 36..39 {
        let tenant = format!("group-{number}");
        client.lease(json!({ "shape": [2, 2, 1], "tenant": tenant }));
    }
    browser.shows("legend", "3 more tenants, sharing a color (12)");
    assert_eq!(browser.value("document.querySelectorAll('#legend button').length"), 36);
}

/// Checks the legend of tenants' colors, and the reasons why requests are waiting.
#[test]
fn tenants_have_colors_and_waiting_is_explained() {
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
    browser.shows("answer", "It fits, but would not end before job 17 starts");
    let answer = browser.value("document.getElementById('answer').textContent");
    assert!(!answer.as_str().unwrap().contains("would grant it now"), "{answer}");
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

/// Checks that a tenant's page shows other tenants' leases, although it gets no events about them.
#[test]
fn a_tenants_page_shows_the_leases_of_others() {
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
