//! Tests the service's forecasts: who sees them, when they are updated, and how they are counted.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::client::{Client, find, has, millis, until};
use crate::server::{Setup, fresh, served, shared};
use crate::workload::in_batches;

/// Configures two machines with the `fcfs` scheduler.
fn two(setup: &mut Setup) {
    setup.scheduler = Some("fcfs".into());
    setup.more = vec![("other".into(), "mesh:8x8".into())];
}

/// Returns a request for a whole machine for an hour.
fn whole(machine: &str, job: &str) -> Value {
    json!({ "shape": [8, 8], "estimate_s": 3600, "machine": machine, "job": job, "wait": true })
}

/// Waits for a queued request's forecast, and returns it.
fn forecast(client: &mut Client, request: &Value) -> Value {
    let path = format!("/v1/leases/{}", request["id"]);
    find("a forecast", || {
        Some(client.get(&path).json()["forecast"].clone()).filter(Value::is_object)
    })
}

/// Waits until the service has a forecast for a hypothetical request, and returns it.
fn would(client: &mut Client, asked: &Value) -> Value {
    find("the past", || {
        let reply = client.post("/v1/forecast", asked).json();
        (reply["reason"] != "not-yet").then(|| reply["forecast"].clone())
    })
}

/// Waits until a forecast's planned start is `plan_ms`, and returns the forecast.
fn until_plan(client: &mut Client, asked: &Value, plan_ms: u64) -> Value {
    find("the plan", || {
        Some(would(client, asked)).filter(|one| millis(one["plan"].as_str().unwrap()) == plan_ms)
    })
}

/// Returns a machine's counter from the metrics.
fn counter(client: &mut Client, name: &str, machine: &str) -> u64 {
    let text = client.get("/metrics").text;
    let begins = format!("pavior_{name}_total{{machine=\"{machine}\"}} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&begins));
    line.and_then(|value| value.parse().ok()).unwrap_or(0)
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_millis() as u64
}

#[test]
fn a_waiting_request_gets_an_interval_and_a_fitting_one_starts_now() {
    let (_server, mut client) = served(two);
    let runs = client.lease(whole("default", "runs"));
    let waits = client.lease(whole("default", "waits"));
    let answer = forecast(&mut client, &waits);
    let time = |name: &str| millis(answer[name].as_str().expect("the member is a time"));
    assert!(time("earliest") <= time("median") && time("median") <= time("latest"), "{answer}");
    assert!(time("median") > now_ms(), "{answer}");
    assert_eq!(time("plan"), millis(runs["start"].as_str().unwrap()) + 3_600_000);
    // The reply shows that the service has not seen any run times yet.
    has(&answer, &json!({ "calibrated": false, "kept": 0, "broken": 0, "runs": 0 }));
    assert_eq!(client.get("/v1/queue").json()["waiting"][0]["forecast"], answer);
    // A second, identical request would start after the first one.
    let like = json!({ "shape": [8, 8], "estimate_s": 3600 });
    let behind = would(&mut client, &like);
    assert_eq!(millis(behind["plan"].as_str().unwrap()), time("plan") + 3_600_000);
    // A lease with a time to live is expected to run until it expires.
    client.lease(json!({ "shape": [8, 8], "ttl_s": 600, "wait": true }));
    let behind = until_plan(&mut client, &like, time("plan") + 4_200_000);
    has(&behind, &json!({ "calibrated": false }));

    let before = now_ms();
    let fits = would(&mut client, &json!({ "nodes": 4, "machine": "other" }));
    let now = fits["median"].as_str().unwrap();
    // The service reads the wall clock only at startup, so the two times may differ slightly.
    assert!((before - 1000..=now_ms() + 1000).contains(&millis(now)), "{fits}");
    has(&fits, &json!({ "earliest": now, "latest": now, "plan": now }));

    client.post("/v1/forecast", json!({ "nodes": 65 })).is(409, "larger-than-machine");
    client.post("/v1/forecast", json!({ "nodes": 1, "shape": [1, 1] })).is(400, "bad-value");
    client.post("/v1/forecast", json!({ "nodes": 1, "machine": "x" })).is(404, "unknown-machine");
    let (_server, mut client) = served(|_| {});
    would(&mut client, &json!({ "nodes": 1 }));
    client.post("/v1/forecast", json!({ "nodes": 1 })).is(400, "no-scheduler");
}

#[test]
fn an_event_renews_only_forecasts_that_it_can_change() {
    let (_server, mut client) = served(two);
    client.lease(whole("default", "runs"));
    let elsewhere = client.lease(whole("other", "runs-there"));
    let first = client.lease(whole("default", "first"));
    let second = client.lease(whole("default", "second"));
    let there = client.lease(whole("other", "there"));
    for one in [&first, &second, &there] {
        forecast(&mut client, one);
    }
    let made = |client: &mut Client| ["default", "other"].map(|m| counter(client, "forecasts", m));
    assert_eq!(made(&mut client), [2, 1]);
    let answer = forecast(&mut client, &first);
    // A new request gets its own forecast; existing forecasts already allow for later arrivals.
    let third = client.lease(whole("default", "third"));
    forecast(&mut client, &third);
    assert_eq!((made(&mut client), forecast(&mut client, &first)), ([3, 1], answer));
    // Events on another machine do not affect the forecasts for this machine.
    assert_eq!(client.end(&elsewhere).status, 200);
    until("the known run", || {
        would(&mut client, &json!({ "nodes": 1, "machine": "other" }))["runs"] == 1
    });
    assert_eq!(made(&mut client), [3, 1]);
    // A failed node may change all forecasts.
    assert_eq!(client.post("/v1/nodes/drain", json!({ "node": [0, 0] })).status, 200);
    until("the new forecasts", || made(&mut client) == [6, 1]);
}

/// Checks that no start is forecast while node [1, 1], part of every 3x3 box, is unavailable.
#[test]
fn a_request_that_cannot_start_has_no_time() {
    let (_server, mut client) = served(|setup| {
        two(setup);
        setup.machine = "mesh:4x4".into();
    });
    let (asked, node) = (json!({ "shape": [3, 3] }), json!({ "node": [1, 1] }));
    let none = json!({ "earliest": null, "median": null, "latest": null, "plan": null });
    let place = json!({ "base": [0, 0], "sides": [3, 3] });
    would(&mut client, &asked);
    for runs in 0..2 {
        if runs > 0 {
            let lease = client.lease(json!({ "shape": [4, 4], "estimate_s": 60 }));
            assert_eq!(client.end(&lease).status, 200);
        }
        assert_eq!(client.post("/v1/nodes/drain", node.clone()).status, 200);
        let answer = client.post("/v1/forecast", asked.clone()).json()["forecast"].clone();
        has(&answer, &none);
        has(&answer, &json!({ "obstacle": "unavailable", "place": place, "runs": runs }));
        assert_eq!(client.post("/v1/nodes/repair", node.clone()).status, 200);
        let answer = client.post("/v1/forecast", asked.clone()).json()["forecast"].clone();
        assert_eq!((&answer["obstacle"], &answer["place"]), (&Value::Null, &Value::Null));
        assert!(millis(answer["plan"].as_str().unwrap()) <= now_ms() + 1000, "{answer}");
    }
    // A waiting request gets the same answer. The next request in the queue reports a different
    // obstacle.
    assert_eq!(client.post("/v1/nodes/drain", node).status, 200);
    let waits = client.lease(json!({ "shape": [3, 3], "wait": true }));
    let answer = forecast(&mut client, &waits);
    has(&answer, &none);
    has(&answer, &json!({ "obstacle": "unavailable", "place": place }));
    let behind = client.lease(json!({ "nodes": 1, "wait": true }));
    let answer = forecast(&mut client, &behind);
    has(&answer, &none);
    has(&answer, &json!({ "obstacle": "horizon", "place": null }));
    assert_eq!(counter(&mut client, "promises", "default"), 0, "nothing was promised");
}

/// Checks that a forecast is updated once its median has passed, even if nothing else happens.
#[test]
fn a_forecast_is_renewed_after_its_median() {
    let (_server, mut client) = served(two);
    let brief = json!({ "shape": [8, 8], "estimate_s": 1, "wait": true });
    client.lease(brief.clone());
    let waits = client.lease(brief);
    let answer = forecast(&mut client, &waits);
    let seq = client.seq();
    until("a new forecast", || forecast(&mut client, &waits) != answer);
    let later = forecast(&mut client, &waits);
    assert!(later["median"].as_str().unwrap() > answer["median"].as_str().unwrap(), "{later}");
    assert_eq!(client.seq(), seq, "nothing has happened");
    assert_eq!(counter(&mut client, "promises", "default"), 1, "the first is what was promised");
}

#[test]
fn promises_are_counted_and_run_times_outlast_a_restart() {
    let (mut server, setup) = fresh(two);
    let mut client = server.client();
    for _ in 0..3 {
        let lease = client.lease(json!({ "shape": [8, 8], "estimate_s": 60 }));
        assert_eq!(client.end(&lease).status, 200);
    }
    let runs = client.lease(whole("default", "runs"));
    let waits = client.lease(whole("default", "waits"));
    forecast(&mut client, &waits);
    assert_eq!(client.end(&runs).status, 200);
    let small = json!({ "nodes": 4, "estimate_s": 60 });
    until("the kept promise", || would(&mut client, &small)["kept"] == 1);
    let expected = json!({ "broken": 0, "runs": 4, "calibrated": false });
    has(&would(&mut client, &small), &expected);
    let counters = ["promises", "promises_kept", "promises_broken"];
    until("the counters", || {
        counters.map(|name| counter(&mut client, name, "default")) == [1, 1, 0]
    });
    // Run times are recorded, but forecasts are not.
    server.restart(&setup);
    let answer = would(&mut server.client(), &small);
    has(&answer, &json!({ "runs": 4, "kept": 0, "broken": 0, "calibrated": false }));
}

#[test]
fn a_new_scheduler_is_used_from_its_start() {
    let (mut server, setup) = fresh(two);
    let mut client = server.client();
    client.lease(json!({ "shape": [8, 4], "estimate_s": 3600 }));
    let head = client.lease(whole("default", "head"));
    forecast(&mut client, &head);
    let small = json!({ "shape": [8, 2], "estimate_s": 60 });
    let plan = |answer: Value| millis(answer["plan"].as_str().expect("the member is a time"));
    assert!(plan(would(&mut client, &small)) > now_ms() + 3_600_000, "behind the head");
    server.restart(&Setup { scheduler: Some("easy".into()), ..setup });
    assert!(plan(would(&mut server.client(), &small)) <= now_ms() + 1000, "beside it");
}

#[test]
fn requests_do_not_wait_while_past_records_are_read() {
    let (mut server, setup) = fresh(|setup| {
        two(setup);
        setup.machine = "mesh:32x32".into();
    });
    in_batches(&server.address, 512, |count| count >= 60_000);
    server.restart(&setup);
    let (mut client, mut refused) = (server.client(), 0);
    let answer = loop {
        let reply = client.post("/v1/forecast", r#"{"nodes":1}"#);
        if reply.status == 200 {
            break reply.json();
        }
        reply.is(503, "not-yet");
        refused += 1;
        assert!(refused < 100_000, "the past is never read");
    };
    assert!(refused > 0, "60,000 records are read in no time");
    assert_eq!(answer["forecast"]["runs"], 20_000, "the last 20,000 runs are known");
}

#[test]
fn a_tenant_sees_no_forecasts_of_others() {
    let (server, mut root) = shared(&["a", "b"], two);
    let (mut a, mut b) = (server.of("a-secret"), server.of("b-secret"));
    a.lease(whole("default", "secret-runs"));
    let theirs = a.lease(whole("default", "secret-waits"));
    let own = b.lease(whole("default", "own"));
    forecast(&mut a, &theirs);
    forecast(&mut b, &own);
    let seen = b.get("/v1/queue").json();
    let waiting = seen["waiting"].as_array().unwrap();
    assert_eq!((waiting.len(), &waiting[0]["id"]), (1, &own["id"]));
    assert!(waiting[0]["forecast"].is_object());
    assert_eq!(waiting[0]["waits_for"]["by"], json!({ "id": null, "job": null }));
    assert!(!seen.to_string().contains("secret"), "{seen}");
    assert_eq!(b.get(&format!("/v1/leases/{}", theirs["id"])).status, 404);
    let asked = b.post("/v1/forecast", json!({ "shape": [8, 8] }));
    assert_eq!(asked.status, 200);
    assert!(!asked.text.contains("secret"), "{}", asked.text);
    // A tenant cannot use another tenant's name.
    b.post("/v1/forecast", json!({ "nodes": 1, "tenant": "a" })).is(400, "bad-value");
    assert_eq!(root.get("/v1/queue").json()["total"], 2);
}
