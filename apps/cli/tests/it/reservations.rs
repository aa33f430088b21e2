//! Tests advance reservations on the command line.

use crate::{good, refused};

/// Simulates two jobs on a row of four nodes. The first uses all nodes for 100; the second arrives
/// 5 later and uses one node for 10. Returns the results as JSON.
fn simulate(reservations: &str, more: &[&str]) -> Result<serde_json::Value, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (log, list) = (path("log.sim"), path("ahead.jsonl"));
    std::fs::write(&log, "0 4 100\n5 1 10\n").unwrap();
    std::fs::write(&list, reservations).unwrap();
    let fixed = ["simulate", "--machine", "mesh:4", "--strategy", "ff", "--no-timing"];
    let named = ["--trace", &log, "--reservations", &list, "--format", "json"];
    let arguments = [&fixed[..], &named, more].concat();
    if more.is_empty() || more[0] == "--scheduler" {
        Ok(serde_json::from_str(&good(&arguments)).unwrap())
    } else {
        Err(refused(&arguments))
    }
}

#[test]
fn jobs_wait_for_a_reservation_that_they_would_run_into() {
    let list = "{\"nodes\":[[0]],\"from\":60,\"to\":200}\n";
    let waiting = |scheduler: &str| {
        let results = simulate(list, &["--scheduler", scheduler]).unwrap();
        results["results"][0]["metrics"]["waiting"]["mean"].to_string()
    };
    // The first job waits for 200. The second starts immediately, or only after the first.
    assert_eq!(waiting("easy"), "100.0");
    // The result is the mean of 200 and 295.
    assert_eq!(waiting("fcfs"), "247.5");
}

#[test]
fn what_is_wrong_with_a_list_is_said_with_its_place() {
    let told = |list: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ahead.jsonl");
        std::fs::write(&path, list).unwrap();
        let path = path.to_str().unwrap();
        refused(&["simulate", "--machine", "mesh:4", "--reservations", path, "--jobs", "9"])
    };
    let line = "{\"nodes\":[[0]],\"from\":6,\"to\":7}\n";
    let late = told(&format!("{line}{}", line.replace('7', "6")));
    assert!(late.contains("ahead.jsonl:2:") && late.contains("must be later"), "{late}");
    let outside = told(&line.replace("[0]", "[4]"));
    assert!(outside.contains("is not on mesh:4"), "{outside}");
    let moving = simulate(line, &["--migration", "1"]).unwrap_err();
    assert!(moving.contains("advance reservations cannot be combined"), "{moving}");
}
