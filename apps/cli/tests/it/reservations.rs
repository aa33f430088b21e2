//! Tests advance reservations on the command line.

use crate::{Folder, json, refused};

/// Simulates two jobs on a row of four nodes. The first uses all nodes for 100 s; the second
/// arrives 5 s later and uses one node. Returns the result of running the command with `run`.
fn simulate<T>(reservations: &str, more: &str, run: fn(&str) -> T) -> T {
    let (folder, log) = Folder::with("log.sim", "0 4 100\n5 1 10\n");
    let list = folder.write("ahead.jsonl", reservations);
    let fixed = "simulate --machine mesh:4 --strategy ff --no-timing --format json";
    run(&format!("{fixed} --trace {log} --reservations {list} {more}"))
}

#[test]
fn jobs_that_would_overlap_a_reservation_wait() {
    let list = "{\"nodes\":[[0]],\"from\":60,\"to\":200}\n";
    let waiting = |scheduler: &str| {
        let results = simulate(list, &format!("--scheduler {scheduler}"), |run| json(run, ""));
        results["results"][0]["metrics"]["waiting"]["mean"].to_string()
    };
    // The first job waits for 200 s. With `easy`, the second starts immediately.
    assert_eq!(waiting("easy"), "100.0");
    // With `fcfs`, the second job waits for the first to end, so the mean is (200 + 295) / 2.
    assert_eq!(waiting("fcfs"), "247.5");
}

#[test]
fn errors_in_reservation_lists_have_a_place() {
    let error = |list: &str| {
        let (_folder, path) = Folder::with("ahead.jsonl", list);
        refused(&format!("simulate --machine mesh:4 --reservations {path} --jobs 9"))
    };
    let line = "{\"nodes\":[[0]],\"from\":6,\"to\":7}\n";
    let late = error(&format!("{line}{}", line.replace('7', "6")));
    assert!(late.contains("ahead.jsonl:2:") && late.contains("must be later"), "{late}");
    let outside = error(&line.replace("[0]", "[4]"));
    assert!(outside.contains("is not on mesh:4"), "{outside}");
    let moving = simulate(line, "--migration 1", refused);
    assert!(moving.contains("advance reservations cannot be combined"), "{moving}");
}
