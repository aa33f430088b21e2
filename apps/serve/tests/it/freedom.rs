//! Tests requests with a placement freedom over HTTP.

use serde_json::{Value, json};

use crate::server::served_by;

#[test]
fn a_request_is_placed_within_its_freedom() {
    let (_server, mut client) = served_by("fcfs", |setup| setup.machine = "mesh:4x4".into());
    // The only free nodes are the seven in column 1 and row 1, and no box of five nodes fits there.
    for [base, sides] in [[[0, 0], [1, 1]], [[2, 0], [2, 1]], [[0, 2], [1, 2]], [[2, 2], [2, 2]]] {
        let hold = json!({ "parts": [{ "base": base, "sides": sides }] });
        assert_eq!(client.post("/v1/hold", hold).status, 201);
    }
    let shaped = |sides: [u16; 2], freedom: &str| json!({ "shape": sides, "freedom": freedom });
    let five = |freedom: &str| json!({ "nodes": 5, "freedom": freedom });
    let granted = |reply: &Value| reply["strategies"][0]["granted"].clone();
    for freedom in ["box", "turned", "any"] {
        let explained = client.post("/v1/explain", shaped([1, 4], freedom)).json();
        assert_eq!(
            (granted(&explained), &explained["request"]["freedom"]),
            (true.into(), &freedom.into())
        );
    }
    for (freedom, fits) in [("any-box", false), ("connected", true), ("any", true)] {
        let answer = client.post("/v1/what-if", five(freedom)).json();
        assert_eq!(granted(&answer), fits, "{freedom}");
    }
    assert_eq!(client.post("/v1/leases", five("any-box")).status, 409);
    // Plans support only boxes.
    assert_eq!(client.post("/v1/unblock", shaped([2, 4], "turned")).status, 200);
    client.post("/v1/unblock", shaped([2, 4], "connected")).is(400, "bad-value");
    for path in ["/v1/explain", "/v1/what-if", "/v1/unblock"] {
        let reply = client.post(path, r#"{"nodes":1,"freedom":"free"}"#);
        reply.is(400, "bad-value");
        assert!(reply.json()["detail"].as_str().unwrap().contains("connected"), "{path}");
    }
    let lease = client.lease(five("connected"));
    assert_eq!((&lease["nodes"], lease["parts"].as_array().unwrap().len() > 1), (&json!(5), true));
    // Waiting requests keep their freedom.
    let waits = client.post("/v1/leases?wait=true", shaped([4, 1], "connected"));
    assert_eq!((waits.status, &waits.json()["freedom"]), (202, &json!("connected")));
}
