//! Tests the page, queries and metrics of an active replica and an observer.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::cluster::objects::{JOBS, job};
use crate::cluster::{Cluster, User};

/// Returns an address on which no server is listening.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn ask(address: &str, path: &str) -> (String, String) {
    crate::cluster::plain_http::request(address, "GET", path, "")
}

fn state(address: &str) -> Value {
    serde_json::from_str(&ask(address, "/v1/state").1).unwrap_or_default()
}

#[test]
fn the_page_shows_holders_and_waiting_jobs() {
    let Some(mut cluster) = Cluster::start("the page of pavior kube", [4, 4, 1]) else { return };
    let (acts, looks) = (free_address(), free_address());
    cluster.machine_with("mesh:4x4x1", &json!({ "slots": ["2x2x1"] }));
    cluster.start_replica_as("pavior", "always", &[&acts]);
    cluster.grant("pavior-observe", "Group", "observers");
    cluster.start_replica_as("observer", "observe", &[&looks]);
    cluster.job("first", "4x3x1", 600);
    cluster.until("it is shown", || state(&acts)["leases"][0]["id"] == "Job default/first");
    cluster.good(User::Alice, "POST", JOBS, &job("second", "2x2x1", 1));
    for address in [&acts, &looks] {
        cluster.until("the second waits", || {
            let state = state(address);
            state["waiting"][0]["id"] == "default/second" && state["leases"][0]["nodes"] == 12
        });
        let (head, page) = ask(address, "/");
        assert!(head.contains("content-security-policy") && page.contains("<html"), "{head}");
        assert_eq!(state(address)["observer"], "kubernetes");
        let why = ask(address, "/v1/why/default/second").1;
        assert!(why.contains("Job default/first"), "{why}");
        assert!(ask(address, "/v1/why/default/third").0.contains("404"));
        let metrics = ask(address, "/metrics").1;
        for line in [
            "pavior_kube_nodes_free{machine=\"pod\"} 4",
            "pavior_kube_jobs_waiting{machine=\"pod\"} 1",
            "pavior_kube_slots{shape=\"2x2x1\"} 0",
        ] {
            assert!(metrics.contains(line), "{line}: {metrics}");
        }
        let slots: Value = serde_json::from_str(&ask(address, "/v1/slots?shape=4x1x1").1).unwrap();
        assert_eq!(slots["slots"], 1, "{slots}");
    }
}
