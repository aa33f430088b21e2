//! Tests startup failures for various options and stored data.

use serde_json::json;

use crate::server::{Server, Setup, fresh};

/// Checks that a new scheduler is recorded only after the server has bound its address.
#[test]
fn a_start_that_fails_records_nothing() {
    let (mut server, setup) = fresh(|setup| setup.scheduler = Some("easy".into()));
    let seq = |server: &Server| server.client().get("/readyz").json()["seq"].clone();
    let before = seq(&server);
    server.kill();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    for listen in [taken.local_addr().unwrap().to_string(), "0.0.0.0:0".to_string()] {
        let other = Setup { strategy: "mbs".into(), scheduler: None, ..setup.clone() };
        Server::refused(&Setup { listen: Some(listen), ..other });
    }
    server.restart(&setup);
    assert_eq!(seq(&server), before, "nothing was recorded");
}

#[test]
fn a_machine_keeps_its_scheduler_while_requests_are_waiting() {
    let (mut server, setup) = fresh(|setup| setup.scheduler = Some("fcfs".into()));
    let mut client = server.client();
    for shape in [[8, 8], [1, 1]] {
        client.lease(json!({ "shape": shape, "wait": true }));
    }
    server.kill();
    let log = Server::refused(&Setup { scheduler: None, ..setup });
    assert!(log.contains("requests are waiting for machine"), "{log}");
}
