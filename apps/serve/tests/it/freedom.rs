//! How free a request is to be placed, over HTTP.

use serde_json::{Value, json};

use crate::client::Client;
use crate::server::fresh;

#[test]
fn a_request_says_how_free_it_is() {
    let (server, _) = fresh(|setup| {
        setup.machine = "mesh:4x4".into();
        setup.scheduler = Some("fcfs".into());
    });
    let mut client = Client::new(&server.address);
    // Column 1 and row 1 are free: a cross of seven nodes, in which no box has five.
    for [base, sides] in [[[0, 0], [1, 1]], [[2, 0], [2, 1]], [[0, 2], [1, 2]], [[2, 2], [2, 2]]] {
        let hold = json!({ "parts": [{ "base": base, "sides": sides }] }).to_string();
        assert_eq!(client.post("/v1/hold", &hold).unwrap().status, 201);
    }
    let asked = |freedom: &str| json!({ "shape": [1, 4], "freedom": freedom }).to_string();
    let mut status = |path: &str, body: &str| client.post(path, body).unwrap();
    let granted = |reply: &Value| reply["strategies"][0]["granted"].clone();
    for (freedom, fits) in [("box", true), ("turned", true), ("any", true)] {
        let explained = status("/v1/explain", &asked(freedom)).json();
        assert_eq!(
            (granted(&explained), &explained["request"]["freedom"]),
            (fits.into(), &json!(freedom))
        );
    }
    let five = |freedom: &str| json!({ "nodes": 5, "freedom": freedom }).to_string();
    for (freedom, fits) in [("any-box", false), ("connected", true), ("any", true)] {
        assert_eq!(
            granted(&status("/v1/what-if", &five(freedom)).json()),
            json!(fits),
            "{freedom}"
        );
    }
    let lying = |freedom: &str| json!({ "shape": [4, 1], "freedom": freedom }).to_string();
    assert_eq!(status("/v1/leases", &five("any-box")).status, 409);
    // A plan is for boxes.
    let plan = |freedom: &str| json!({ "shape": [2, 4], "freedom": freedom }).to_string();
    assert_eq!(status("/v1/unblock", &plan("turned")).status, 200);
    let sets = status("/v1/unblock", &plan("connected"));
    assert_eq!((sets.status, &sets.json()["reason"]), (400, &json!("bad-value")));
    for path in ["/v1/explain", "/v1/what-if", "/v1/unblock"] {
        let reply = status(path, r#"{"nodes":1,"freedom":"free"}"#);
        assert_eq!((reply.status, &reply.json()["reason"]), (400, &json!("bad-value")), "{path}");
        assert!(reply.json()["detail"].as_str().unwrap().contains("connected"), "{path}");
    }
    let lease = status("/v1/leases", &five("connected")).json();
    assert_eq!((&lease["nodes"], lease["parts"].as_array().unwrap().len() > 1), (&json!(5), true));
    // What waits keeps its freedom.
    let waits = status("/v1/leases?wait=true", &lying("connected"));
    assert_eq!((waits.status, &waits.json()["freedom"]), (202, &json!("connected")));
}
