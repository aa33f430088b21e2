//! When requests start, what is reserved ahead, and plans that are carried out, on the page.

use pavior_trials::Browser;
use serde_json::{Value, json};

use crate::client::{Client, until};
use crate::reservations::at;
use crate::server::{Server, fresh};

/// A request for a box that waits if need be.
fn lease(shape: [u16; 3], job: &str) -> Value {
    json!({ "shape": shape, "job": job, "estimate_s": 9000, "wait": true })
}

/// A torus on which a job is to move, nodes are reserved, and two requests wait.
fn planned() -> (Server, Client, Value) {
    let (server, _) = fresh(|setup| {
        setup.machine = "torus:4x4x2".into();
        setup.scheduler = Some("easy".into());
    });
    let mut client = server.client();
    client.lease(lease([4, 2, 2], "wide"));
    let moves = client.lease(lease([2, 1, 2], "moves"));
    client.lease(lease([4, 4, 2], "all"));
    client.lease(lease([4, 4, 1], "half"));
    let parts = json!([{ "base": [0, 0, 0], "sides": [4, 1, 2] }]);
    let cooling =
        json!({ "parts": parts, "from": at(20_000), "to": at(30_000), "name": "cooling" });
    assert_eq!(client.post("/v1/reservations", cooling).status, 201);
    (server, client, moves)
}

/// A plan that frees the nodes of a lease, which goes to some others.
fn plan(client: &mut Client, lease: &Value, to: [u16; 3]) -> Value {
    let base = lease["parts"][0]["base"].clone();
    let to = json!([{ "base": to, "sides": [2, 1, 2] }]);
    let moves = json!([{ "lease": lease["id"], "to": to }]);
    let body = json!({ "drain": [base], "by": at(3000), "for_s": 600, "moves": moves });
    let reply = client.post("/v1/plans", body);
    assert_eq!(reply.status, 201, "{}", reply.text);
    reply.json()
}

/// Looks at the page wide and narrow, in light and dark: nothing keeps people out of it.
fn look(browser: &mut Browser, name: &str) {
    for (width, dark) in [(1400, false), (1400, true), (400, false), (400, true)] {
        browser.size(width, 900);
        browser.prefer(dark, false);
        browser.value("new Promise((done) => setTimeout(done, 500))");
        browser.picture(&format!("{name}-{width}-{dark}"));
        assert_eq!(browser.barriers().unwrap_or_default(), "", "{name} {width} dark: {dark}");
        let wide = "document.documentElement.scrollWidth <= innerWidth";
        assert_eq!(browser.value(wide), true, "{name}: wider than {width} points");
    }
    browser.size(1400, 900);
    browser.prefer(false, false);
}

#[test]
fn who_waits_has_a_bar_from_the_earliest_to_the_latest_start() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client, _) = planned();
    browser.open(&format!("{}/#list=waiting", server.address));
    browser.until("document.querySelectorAll('#waiting .track:not([hidden])').length === 2");
    browser.shows("note", "No promise has been held against what came");
    // As the service says it, in words for those who hear the page, too.
    let queue = client.get("/v1/queue").json();
    let told = &queue["waiting"][0]["forecast"];
    let [earliest, latest] = ["earliest", "latest"].map(|name| told[name].as_str().unwrap());
    browser.shows("waiting", "now – ");
    browser.shows("waiting", "It starts, as far as is known, between ");
    let spoken = "document.querySelector('#waiting .unseen').textContent";
    let clock = |time: &str| {
        let text = "new Date('{time}').toTimeString().slice(0, 8)".replace("{time}", time);
        format!("{spoken}.includes({text})")
    };
    browser.until(&format!("{} && {}", clock(earliest), clock(latest)));
    // Bars have one scale, which ends with the latest of all.
    let ends = "Math.max(...[...document.querySelectorAll('#waiting .reach')].map((one) =>
        (one.getBoundingClientRect().right - one.parentElement.getBoundingClientRect().left)
        / one.parentElement.getBoundingClientRect().width))";
    let ends = browser.value(ends).as_f64().unwrap();
    assert!((0.97..1.03).contains(&ends), "{ends}");
    look(&mut browser, "starts");
}

#[test]
fn a_plan_is_followed_step_by_step() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client, lease) = planned();
    let one = plan(&mut client, &lease, [2, 3, 0]);
    browser.open(&format!("{}/#list=ahead&view=2d", server.address));
    browser.shows("ahead", "0 of 1 steps done");
    browser.shows("ahead", "1. job moves");
    browser.shows("ahead", "cooling");
    browser.until("document.getElementById('ahead-total').textContent === '2'");
    browser.shows("note", "What is kept free is violet");
    // The room, the nodes where the job goes, and the reservation; one arrow.
    browser.until("window.pavior.page.drawn.marks.length === 3");
    assert_eq!(browser.value("window.pavior.page.drawn.moves.length"), 1);
    look(&mut browser, "ahead");
    browser.press("3");
    browser.picture("ahead-3d");
    browser.value("document.querySelectorAll('#ahead .name')[1].click()");
    browser.shows("answer", "Step 1 of plan");
    browser.shows("answer", "goes to 2×1×2 at 2,3,0. Its holder is asked to.");
    assert_eq!(browser.value("window.pavior.page.drawn.marks.length"), 1);
    // Its holder does what is asked.
    let path = format!("/v1/leases/{}/move", lease["id"]);
    let moved = client.post(&path, json!({ "epoch": lease["epoch"] }));
    assert_eq!(moved.status, 200, "{}", moved.text);
    browser.shows("ahead", "the room is free");
    browser.shows("ahead", "done");
    // Another one is given up: the page says why.
    let path = format!("/v1/reservations/{}/cancel", one["reservation"]);
    assert_eq!(client.post(&path, "").status, 200);
    let lease = moved.json();
    plan(&mut client, &lease, [0, 2, 0]);
    browser.shows("ahead", "0 of 1 steps done");
    client.end(&lease);
    browser.shows("ahead", "given up: lease");
    browser.value(
        "[...document.querySelectorAll('#ahead tr')].find((one) =>
           one.textContent.includes('given up')).querySelector('button').click()",
    );
    browser.shows("answer", "It was given up: lease 2 has ended.");
    look(&mut browser, "given-up");
}

/// Slots after moves are asked for on the page, and stand in its address.
#[test]
fn slots_after_moves_can_be_sent_to_a_colleague() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, mut client, _) = planned();
    browser.open(&server.address);
    browser.shows("counts", "20 busy");
    browser.value("document.getElementById('shape').value = '3x2x2'");
    browser.value("document.getElementById('slots').click()");
    browser.shows("answer", "can be placed side by side (green)");
    browser.value(
        "(() => { const one = document.getElementById('moves'); one.value = '1';
           one.onchange(); })() ?? true",
    );
    let told = client.get("/v1/slots?shape=3x2x2&moves=1").json();
    let (now, after) = (told["slots"].as_u64().unwrap(), told["after"]["slots"].as_u64().unwrap());
    assert!(after > now, "{told}");
    browser.shows("answer", "after 1 move (arrows): job moves to");
    let drawn =
        "JSON.stringify([window.pavior.page.marks.length, window.pavior.page.moves.length])";
    assert_eq!(browser.value(drawn), json!([after, 1]).to_string());
    browser.until("location.hash.includes('slots=3x2x2&moves=1')");
    look(&mut browser, "slots-after");
    let address = browser.value("location.href");
    browser.open("about:blank");
    browser.until("location.href === 'about:blank'");
    browser.open(address.as_str().unwrap());
    browser.shows("answer", "after 1 move (arrows): job moves to");
    browser.until(&format!("{drawn} === '[{after},1]'"));
    assert_eq!(browser.value("document.getElementById('shape').value"), "3x2x2");
    browser.press("Escape");
    browser.until("!location.hash.includes('slots')");
}

/// A tenant sees what is reserved, and of a plan the steps of its own jobs alone.
#[test]
fn a_tenant_is_shown_its_own_steps() {
    let Some(mut browser) = Browser::start(1400, 900) else { return };
    let (server, _) = fresh(|setup| {
        setup.machine = "mesh:8x8".into();
        setup.scheduler = Some("fcfs".into());
        setup.give_tokens(&["a", "b"]);
    });
    let mut root = server.of("root-secret");
    let lease = json!({ "shape": [2, 2], "estimate_s": 9000, "tenant": "a", "job": "theirs" });
    let lease = root.lease(lease);
    let to = json!([{ "base": [4, 4], "sides": [2, 2] }]);
    let moves = json!([{ "lease": lease["id"], "to": to }]);
    let body = json!({ "drain": [[0, 0]], "by": at(3000), "for_s": 60, "moves": moves });
    assert_eq!(root.post("/v1/plans", body).status, 201);
    for (tenant, own) in [("a", true), ("b", false)] {
        browser.open(&format!("{}/#list=ahead", server.address));
        browser.until("document.getElementById('login')?.open");
        browser.value(&format!("document.getElementById('token').value = '{tenant}-secret'"));
        browser.value("document.querySelector('#login button').click()");
        browser.shows("ahead", "plan ");
        let steps = "document.getElementById('ahead').textContent.includes('job theirs')";
        assert_eq!(browser.value(steps), own, "tenant {tenant}");
        // Moves of others are not told.
        browser.value("document.getElementById('shape').value = '4x4'");
        browser.value("document.getElementById('moves').value = '1'");
        browser.value("document.getElementById('slots').click()");
        browser.shows("answer", "only the operator may see how to move leases");
        browser.value("sessionStorage.clear() ?? true");
        browser.open("about:blank");
        until("another page", || browser.value("location.href") == "about:blank");
    }
}
