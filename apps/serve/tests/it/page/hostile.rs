//! Checks that user text is never treated as HTML, and that the page contacts only its own service.

use pavior_trials::Browser;
use serde_json::json;

use crate::reservations::at;
use crate::server::served_by;

#[test]
fn names_are_never_treated_as_html() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client) = served_by("easy", |_| {});
    let names = [
        "<img src=x onerror=alert(1)>",
        "\"><script>alert(1)</script>",
        "a\u{202e}gnp.exe",
        "</style><style>*{display:none}",
        "${alert(1)}",
    ];
    let mut tried = 0;
    for (index, name) in names.iter().enumerate() {
        let lease = json!({ "shape": [8, 1], "job": name, "ttl_s": 3600 });
        let answer = client.post("/v1/leases", lease.to_string());
        // The service rejects some of these texts; the rest must be harmless on the page.
        tried += usize::from(answer.status == 201);
        let wait = json!({ "shape": [8, 8], "job": format!("{name}{index}"), "wait": true });
        client.post("/v1/leases", wait.to_string());
        let refused = json!({ "shape": [8, 7], "job": format!("{index}{name}") });
        client.post("/v1/leases", refused.to_string());
        let parts = json!([{ "base": [0, 7], "sides": [1, 1] }]);
        let ahead = json!({ "parts": parts, "from": at(9000), "to": at(9900), "name": name });
        client.post("/v1/reservations", ahead);
    }
    assert!(tried > 0, "the service accepts some of the names");
    let before = "document.querySelectorAll('img, script, style').length";
    browser.open(&server.address);
    browser.until("document.querySelectorAll('#jobs .name').length > 0");
    let count = browser.value(before);
    for list in ["waiting", "refused", "ahead", "jobs"] {
        browser.value(&format!("document.getElementById('tab-{list}').click()"));
        browser.until(&format!("document.querySelectorAll('#{list} .name').length > 0"));
    }
    browser.value("document.querySelector('#ahead .name').click()");
    browser.shows("answer", "kept free from");
    browser.value("document.querySelector('#jobs .name').click()");
    browser.until("!document.getElementById('chosen').hidden");
    browser.press("2");
    browser.value("document.getElementById('stage').focus() ?? true");
    browser.press("ArrowRight");
    browser.until("!document.getElementById('tip').hidden");
    browser.picture("hostile");
    assert_eq!(browser.value(before), count, "no element comes from a name");
    let turned = "[...document.querySelectorAll('main, #spoken')].some((one) => \
                  one.textContent.includes('\u{202e}'))";
    assert_eq!(browser.value(turned), false, "no name changes the text direction");
    let strangers = "performance.getEntriesByType('resource').map(({ name }) => name)\
                     .filter((name) => !name.startsWith(location.origin))";
    assert_eq!(browser.value(strangers), json!([]));
    pavior_trials::attacked("pages", "names with HTML elements", 4 * names.len(), 0);
}
