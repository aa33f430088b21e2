//! Checks that slow computations do not delay reads, shutdowns or refusals.

use std::sync::mpsc::channel;
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Client, Reply, batch, number, until};
use crate::server::{Server, Setup, fresh, served, shared};

/// Configures a machine whose decisions slow down as the queue grows.
pub(crate) fn configure(setup: &mut Setup) {
    setup.machine = "mesh:24x24".into();
    setup.scheduler = Some("conservative:plain".into());
}

/// Fills the queue and returns a batch that takes about `length` to decide.
pub(crate) fn decision(client: &mut Client, length: Duration) -> String {
    // Failing and repairing the only free node invalidates every plan.
    client.lease(json!({ "shape": [24, 23], "estimate_s": 1e6 }));
    client.lease(json!({ "shape": [23, 1], "estimate_s": 1e6 }));
    let node = |what: &str| format!(r#"{{"{what}":{{"node":[23,23]}}}}"#);
    let rounds = |count: usize| batch((0..count).flat_map(|_| [node("fail"), node("repair")]));
    for _ in 0..100 {
        let waiting = |index| {
            let (width, height) = (2 + index % 7, 3 + index % 5);
            json!({ "lease": {
                "shape": [width, height], "estimate_s": 60 * (1 + index % 9), "wait": true,
            }})
        };
        assert_eq!(client.post("/v1/batch", batch((0..40).map(waiting))).status, 200);
        let began = Instant::now();
        assert_eq!(client.post("/v1/batch", rounds(8)).status, 200);
        let each = began.elapsed().as_secs_f64() / 8.0;
        let count = length.as_secs_f64() / each;
        if count <= 2000.0 {
            return rounds(count.ceil() as usize);
        }
    }
    panic!("no decision takes that long");
}

/// Sends a batch in the background.
pub(crate) fn begin(address: &str, batch: String) -> JoinHandle<std::io::Result<Reply>> {
    let address = address.to_string();
    spawn(move || Client::new(&address).try_post("/v1/batch", batch))
}

#[test]
fn reads_do_not_wait_for_a_decision() {
    let (server, mut client) = served(configure);
    let slow = decision(&mut client, Duration::from_secs(4));
    let before = client.seq();
    let deciding = begin(&server.address, slow);
    sleep(Duration::from_millis(500));
    let (mut reads, mut longest, mut shown) = (0, Duration::ZERO, before);
    while shown == before && !deciding.is_finished() {
        for path in ["/v1/machine", "/v1/leases", "/v1/state", "/metrics"] {
            let began = Instant::now();
            let reply = client.get(path);
            assert_eq!(reply.status, 200, "{path}: {}", reply.text);
            if path != "/metrics" {
                shown = number(&reply.json()["seq"]);
            }
            if shown == before {
                (reads, longest) = (reads + 1, longest.max(began.elapsed()));
            }
        }
        sleep(Duration::from_millis(50));
    }
    println!("{reads} reads during a decision, the longest {longest:?}");
    assert!(reads >= 12, "{reads} reads during the decision");
    assert_eq!(deciding.join().unwrap().unwrap().status, 200);
    // Readers see the batch's changes all at once, at the latest when the reply arrives.
    let after = client.seq();
    assert!(after > before && [before, after].contains(&shown), "{before} {shown} {after}");
}

#[test]
fn commands_behind_a_slow_one_are_answered_one_by_one() {
    let (server, _) = fresh(configure);
    let slow = decision(&mut server.client(), Duration::from_millis(500));
    // If all commands formed one group, then in every attempt, all replies would arrive at the end.
    let mut attempts = (0..3).map(|_| reply_times(&server.address, &slow));
    assert!(attempts.any(|times| times[0] < times[5] / 2), "all replies arrived together");
}

/// Sends the same command six times at once. Returns the times until the replies arrived, in order
/// of arrival.
fn reply_times(address: &str, command: &str) -> Vec<Duration> {
    let (answered, answers) = channel();
    let began = Instant::now();
    for _ in 0..6 {
        let (deciding, answered) = (begin(address, command.to_string()), answered.clone());
        spawn(move || {
            assert_eq!(deciding.join().unwrap().unwrap().status, 200);
            answered.send(began.elapsed()).unwrap();
        });
    }
    answers.iter().take(6).collect()
}

#[test]
fn a_stop_does_not_wait_for_a_decision() {
    let (mut server, setup): (Server, Setup) = fresh(configure);
    let mut client = server.client();
    let slow = decision(&mut client, Duration::from_mins(1));
    let before = client.seq();
    let deciding = begin(&server.address, slow);
    sleep(Duration::from_millis(500));
    let took = server.stop();
    println!("stopped {took:?} after SIGTERM");
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!(deciding.join().unwrap().is_err(), "the batch was not carried out");
    server.restart(&setup);
    assert_eq!(server.client().seq(), before, "nothing was recorded");
}

#[test]
fn refusals_do_not_wait_for_forecasts_which_end_in_time() {
    let (server, mut root) = shared(&["a", "b", "c"], configure);
    decision(&mut root, Duration::from_mins(2));
    let ask = |token: &'static str| {
        let address = server.address.clone();
        let asked = json!({ "shape": [5, 5], "estimate_s": 60 });
        move || Client::of(&address, token).post("/v1/forecast", asked)
    };
    until("past records", || ask("a-secret")().json()["reason"] != "not-yet");
    let forecasts = [spawn(ask("a-secret")), spawn(ask("b-secret"))];
    sleep(Duration::from_millis(500));
    let mut c = server.of("c-secret");
    let mut refusals = 0;
    while !forecasts.iter().all(JoinHandle::is_finished) {
        let refused = c.post("/v1/leases", json!({ "shape": [2, 2] }));
        assert!(refused.status == 409 && refused.json()["diagnosis"].is_object(), "{refused:?}");
        refusals += usize::from(!forecasts.iter().any(JoinHandle::is_finished));
    }
    assert!(refusals > 0, "a refusal was faster than the forecasts");
    for forecast in forecasts {
        let reply = forecast.join().unwrap();
        let is_answered = reply.status == 200 || reply.json()["reason"] == "too-much-work";
        assert!(is_answered, "{}", reply.text);
    }
}
