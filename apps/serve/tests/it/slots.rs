//! Tests the number of boxes that fit at once, as reported over HTTP and in the metrics.

use serde_json::{Value, json};

use crate::server::served;

#[test]
fn slots_are_counted_now_after_moves_and_later() {
    let (_server, mut client) = served(|setup| setup.slots = vec![[3, 2, 1], [8, 8, 1], [2, 2, 2]]);
    let gauges = |client: &mut crate::client::Client| -> Vec<String> {
        let text = client.get("/metrics").text;
        let mut lines: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with("pavior_slots"))
            .map(String::from)
            .collect();
        lines.sort();
        lines
    };
    // The third shape has too many axes.
    assert_eq!(
        gauges(&mut client),
        [
            "pavior_slots_bound{machine=\"default\",shape=\"3x2\"} 10",
            "pavior_slots_bound{machine=\"default\",shape=\"8x8\"} 1",
            "pavior_slots{machine=\"default\",shape=\"3x2\"} 10",
            "pavior_slots{machine=\"default\",shape=\"8x8\"} 1",
        ]
        .map(String::from)
    );
    let hold = r#"{"parts":[{"base":[3,0],"sides":[2,8]}],"ttl_s":600}"#;
    let lease = client.post("/v1/hold", hold).json();
    let found = client.get("/v1/slots?shape=8x3&moves=1").json();
    let number = |value: &Value| value.as_u64().unwrap();
    assert_eq!((number(&found["slots"]), number(&found["bound"])), (2, 2), "{found}");
    assert_eq!(found["proven"], true);
    let boxes = json!([{"base": [0, 0], "sides": [3, 8]}, {"base": [5, 0], "sides": [3, 8]}]);
    assert_eq!(found["boxes"], boxes);
    assert_eq!(found["next"], json!(null), "no more fit even on the empty machine");
    let after = client.get("/v1/slots?shape=6x4&moves=1").json();
    assert_eq!((number(&after["slots"]), number(&after["after"]["slots"])), (0, 2), "{after}");
    assert_eq!(after["after"]["moves"][0]["job"], lease["id"]);
    assert_eq!(after["after"]["proven"], true);
    assert_eq!(after["next"], json!({"at": lease["expires"], "slots": 2, "proven": true}));
    assert_eq!(client.get("/v1/slots?shape=6x4").json()["after"], json!(null));
    let slots = gauges(&mut client);
    assert!(slots.contains(&"pavior_slots{machine=\"default\",shape=\"8x8\"} 0".to_string()));
    for (path, status) in [
        ("/v1/slots", 400),
        ("/v1/slots?shape=4", 400),
        ("/v1/slots?shape=4x0", 400),
        ("/v1/slots?shape=4x70000", 400),
        ("/v1/slots?shape=4x4&moves=5", 400),
        ("/v1/slots?shape=4x4&machine=no", 404),
        ("/v1/slots?shape=4x4&turn=no", 400),
    ] {
        assert_eq!(client.get(path).status, status, "{path}");
    }
    assert_eq!(number(&client.get("/v1/slots?shape=9x9").json()["bound"]), 0);
}
