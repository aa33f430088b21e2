//! Tests tenant colors, and the pages that tenants see.

use std::collections::BTreeSet;

use pavior_trials::Browser;
use serde_json::json;

use super::{check_accessibility, log_in};
use crate::server::{Server, fresh, served, served_by};

/// The color and pattern of each tenant in the legend.
const LOOKS: &str = "[...document.querySelectorAll('#legend button .patch')].map((one) =>
    [one.style.backgroundColor, getComputedStyle(one).backgroundImage].join())";

/// The number of colors at the center of each lease's first node in 2D; 1 means no pattern. The
/// sampled square is larger than one repeat of a pattern but smaller than a node.
const INKS: &str = "(() => { const { stage, page } = window.pavior, { flat } = stage;
    const pen = flat.canvas.getContext('2d'), side = 10, channels = 4;
    return [...page.machine.leases.values()].map((lease) => {
      const at = flat.where(page.machine.holder.indexOf(lease.key)), scale = devicePixelRatio;
      const [left, top] = [at.x, at.y].map((center) => (center - side / 2) * scale);
      const { data } = pen.getImageData(left, top, side, side), colors = new Set();
      for (let i = 0; i < data.length; i += channels) {
        const [red, green, blue] = data.slice(i);
        colors.add([red, green, blue].join());
      }
      return colors.size; }); })()";

/// Returns the tenants' colors and patterns, after checking that they all differ.
fn different_looks(browser: &mut Browser) -> BTreeSet<String> {
    let looks = browser.value(LOOKS);
    let looks: Vec<String> = serde_json::from_value(looks).expect("looks are texts");
    let different: BTreeSet<String> = looks.iter().cloned().collect();
    assert_eq!(different.len(), looks.len(), "{looks:?}");
    different
}

#[test]
fn each_of_36_tenants_has_its_own_color_or_pattern() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client) = served(|setup| setup.machine = "torus:8x8x8".into());
    for number in 0..36 {
        let tenant = format!("group-{number:02}");
        client.lease(json!({ "shape": [4, 2, 1], "tenant": tenant, "job": format!("j{number}") }));
    }
    browser.open(&format!("{}/#by=tenant&view=2d", server.address));
    browser.until("document.querySelectorAll('#legend button').length === 36");
    let light = different_looks(&mut browser);
    let before = browser.value(LOOKS);
    browser.prefer(true, false);
    browser.until(&format!("{LOOKS}.every((look, index) => look !== {before}[index])"));
    assert_eq!((light.len(), different_looks(&mut browser).len()), (36, 36));
    for (key, name) in [("3", "tenants-3d"), ("2", "tenants-2d")] {
        browser.press(key);
        check_accessibility(&mut browser, name);
    }
    // The nodes have the same patterns as the legend, so only 12 tenants have a plain color.
    browser.until(&format!("{INKS}.filter((inks) => inks === 1).length === 12"));

    // Any further tenants share a gray.
    for number in 36..39 {
        let tenant = format!("group-{number}");
        client.lease(json!({ "shape": [2, 2, 1], "tenant": tenant }));
    }
    browser.shows("legend", "3 more tenants, sharing a color (12)");
    assert_eq!(browser.value("document.querySelectorAll('#legend button').length"), 36);
}

/// Starts a server on which seven tenants hold all but eight nodes.
fn seven_tenants() -> Server {
    let (server, mut client) = served_by("easy", |setup| setup.strategy = "gabl".into());
    let names = ["alice", "bob", "carol", "dave", "erin", "frank", "grace"];
    for (index, tenant) in names.iter().enumerate() {
        client
            .lease(json!({ "shape": [8, 1], "tenant": tenant, "job": index, "estimate_s": 3600 }));
    }
    server
}

#[test]
fn the_operator_has_a_color_like_any_tenant() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let server = seven_tenants();
    browser.open(&server.address);
    browser.shows("counts", "56 busy");
    browser.press("c");
    browser.shows("legend", "alice (8)");
    assert_eq!(different_looks(&mut browser).len(), 7);
    browser.picture("tenants-light");
    browser.prefer(true, false);
    browser.picture("tenants-dark");
    let mut client = server.client();
    client.lease(json!({ "shape": [1, 1], "tenant": "heidi" }));
    client.lease(json!({ "shape": [2, 1] }));
    browser.shows("legend", "heidi (1)");
    browser.shows("legend", "operator (2)");
    assert_eq!(different_looks(&mut browser).len(), 9);
}

#[test]
fn the_page_explains_why_a_request_is_waiting() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let server = seven_tenants();
    let mut client = server.client();
    client.lease(json!({ "shape": [8, 8], "job": 17, "wait": true, "estimate_s": 1800 }));
    client.lease(json!({ "shape": [2, 1], "job": "small", "wait": true, "estimate_s": 7200 }));
    browser.open(&server.address);
    browser.shows("counts", "56 busy");
    browser.value("document.getElementById('tab-waiting').click()");
    browser.shows("waiting", "reserved: 17");
    browser.value(
        "[...document.querySelectorAll('#waiting tbody tr')].find((row) =>
           row.querySelector('.name')?.textContent === 'small').querySelector('.act').click()",
    );
    browser.shows("answer", "It fits, but would not end before job 17 starts");
    let answer = browser.value("document.getElementById('answer').textContent");
    assert!(!answer.as_str().unwrap().contains("would grant it now"), "{answer}");
}

#[test]
fn the_legend_explains_ages_and_failed_nodes() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let server = seven_tenants();
    browser.open(&format!("{}/#by=age", server.address));
    browser.until("document.querySelector('#legend .scale')");
    browser.picture("age-light");
    browser.prefer(true, false);
    browser.picture("age-dark");
    server.client().post("/v1/nodes/fail", json!({ "node": [7, 7] }));
    browser.shows("legend", "failed");
}

/// Checks that a tenant's page shows other tenants' leases, even though the page gets no events for
/// these leases.
#[test]
fn a_tenants_page_shows_the_leases_of_others() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let (server, _) = fresh(|setup| setup.give_tokens(&["a", "b"]));
    browser.open(&server.address);
    log_in(&mut browser, "a-secret");
    browser.shows("counts", "64 free");
    let mut other = server.of("b-secret");
    let lease = other.lease(json!({ "shape": [4, 4], "job": "of-tenant-b" }));
    browser.shows("counts", "16 busy");
    browser.press("c");
    browser.shows("legend", "other tenants (16)");
    for known in [
        "document.documentElement.outerHTML",
        "JSON.stringify([...window.pavior.page.machine.leases.values()])",
    ] {
        assert_eq!(browser.value(&format!("{known}.includes('of-tenant-b')")), false, "{known}");
    }
    other.end(&lease);
    browser.shows("counts", "64 free");
}
