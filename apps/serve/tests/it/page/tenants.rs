//! Tests that each of many tenants has its own color or pattern.

use std::collections::BTreeSet;

use pavior_trials::Browser;
use serde_json::json;

use crate::server::fresh;

/// The color and pattern of each tenant in the legend.
const LOOKS: &str = "[...document.querySelectorAll('#legend button .patch')].map((one) =>
    [one.style.backgroundColor, getComputedStyle(one).backgroundImage].join())";

#[test]
fn each_of_36_tenants_has_its_own() {
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
