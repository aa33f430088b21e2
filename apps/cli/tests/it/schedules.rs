//! Tests schedulers on the command line by replaying `.sim` logs and checking the output files.

use serde_json::{Value, json};

use crate::{Folder, good, refused_for};

/// Replays a log. For each job that started, returns its number, its start time, and the first node
/// of its first part.
fn starts(log: &str, machine: &str, strategy: &str, scheduler: &str) -> Vec<[u64; 3]> {
    let folder = Folder::new();
    let (log, placed) = (folder.write("log.sim", log), folder.path("placements.jsonl"));
    let run = format!("simulate --trace {log} --machine {machine} --strategy {strategy}");
    good(&format!("{run} --scheduler {scheduler} --no-timing --placements {placed}"));
    let start = |line: &Value| {
        [&line["job"], &line["start"], &line["parts"][0]["base"][0]]
            .map(|value| value.as_u64().unwrap())
    };
    let mut starts: Vec<[u64; 3]> =
        folder.json_lines("placements.jsonl").iter().map(start).collect();
    starts.sort_unstable();
    starts
}

/// A log for a row of six nodes. Three jobs hold nodes 0 and 1 until time 4, nodes 2 and 3 until
/// time 1, and nodes 4 and 5 until time 9. The next job needs three adjacent nodes, and the last
/// one, which may be backfilled, needs one node for 20 time units.
const TRAP: &str = "\
# arrival processors run
0 2 4
0 2 1
0 2 9
1 3 5
1 1 20
";

#[test]
fn strategies_differ_in_the_geometric_trap() {
    let by_count = starts(TRAP, "mesh:6", "ff", "easy:count");
    assert_eq!(by_count[3..], [[3, 9, 3], [4, 1, 2]], "the head waits for the third job");
    let geometric = starts(TRAP, "mesh:6", "ff", "easy");
    assert_eq!(geometric[3..], [[3, 4, 0], [4, 1, 3]], "the candidate goes beside the promise");
    let conservative = starts(TRAP, "mesh:6", "ff", "conservative");
    assert_eq!(conservative[3..], geometric[3..]);
    let booked_by_count = starts(TRAP, "mesh:6", "ff", "conservative:count");
    assert_eq!(booked_by_count[3..], by_count[3..], "three nodes, not in a row, are booked");
    // A strategy that does not need adjacent nodes can plan by counting free nodes.
    let scattered = starts(TRAP, "mesh:6", "naive", "easy:count");
    assert_eq!(scattered[3][1], 4);
}

#[test]
fn broken_promises_are_counted() {
    let folder = Folder::new();
    let run = format!(
        "simulate --trace {} --machine mesh:6 --strategy ff --scheduler \
         easy:count,easy,conservative --metrics broken_guarantees --no-timing",
        folder.write("log.sim", TRAP)
    );
    let results = crate::json(&run, "");
    let broken: Vec<&Value> = results["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["metrics"]["broken_guarantees"]["mean"])
        .collect();
    assert_eq!(broken, [1.0, 0.0, 0.0]);
}

#[test]
fn no_job_overtakes_from_outside_the_window() {
    // Job 0 leaves one of four nodes free, and job 1 needs all four. The small jobs fit.
    let log = "0 3 100\n1 4 10\n2 1 1\n3 1 1\n4 1 1\n5 1 1\n";
    let started = |scheduler: &str| -> Vec<u64> {
        starts(log, "mesh:4", "ff", scheduler).iter().map(|start| start[1]).collect()
    };
    assert_eq!(started("fcfs"), [0, 100, 110, 110, 110, 110]);
    assert_eq!(started("window:1"), started("fcfs"));
    // The window of 3 begins at job 1 and ends at job 3, even after jobs 2 and 3 have started.
    assert_eq!(started("window:3"), [0, 100, 2, 3, 110, 110]);
    assert_eq!(started("scan-all"), [0, 100, 2, 3, 4, 5]);
    // Jobs 2 to 5 end before job 1 can start.
    assert_eq!(started("easy"), started("scan-all"));
}

const LOG: &str = "\
11 1000 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1
12 1010 -1 30 16 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
14 1020 -1 5 17 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
13 1025 -1 7.5 3 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
";

/// Replays a log with one strategy, writing an output file. Returns the metrics.
fn simulate(log: &str, option: &str, file: &str) -> Value {
    let run = format!("simulate --trace {log} --machine mesh:4x4 --no-timing --strategy tff");
    let mut results = crate::json(&format!("{run} {option} {file}"), "");
    results["results"][0]["metrics"].take()
}

#[test]
fn a_schedule_file_has_the_keys_of_batsim() {
    let folder = Folder::new();
    let (log, schedule) = (folder.write("log.swf", LOG), folder.path("schedule.json"));
    simulate(&log, "--schedule", &schedule);
    let schedule: Value = serde_json::from_str(&folder.read("schedule.json")).unwrap();
    // The turnarounds are 60, 80 and 72.5 s.
    assert_eq!(
        schedule,
        json!({
            "makespan": 1097.5,
            "max_slowdown": 72.5 / 7.5,
            "max_turnaround_time": 80,
            "max_waiting_time": 65,
            "mean_slowdown": (1.0 + 80.0 / 30.0 + 72.5 / 7.5) / 3.0,
            "mean_turnaround_time": 212.5 / 3.0,
            "mean_waiting_time": 115.0 / 3.0,
            "nb_computing_machines": 16,
            "nb_jobs": 4,
            "nb_jobs_finished": 3,
            "nb_jobs_killed": 0,
            "nb_jobs_rejected": 1,
            "nb_jobs_success": 3,
            "success_rate": 0.75,
        })
    );
}

#[test]
fn a_schedule_can_be_replayed_as_a_log() {
    let folder = Folder::new();
    let (log, out) = (folder.write("log.swf", LOG), folder.path("out.swf"));
    let first = simulate(&log, "--swf", &out);
    let text = folder.read("out.swf");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with(';')).collect();
    assert_eq!(
        lines,
        [
            "11 1000 0 60 4 -1 -1 4 90 -1 1 -1 -1 -1 -1 -1 -1 -1",
            "12 1010 50 30 16 -1 -1 16 30 -1 1 -1 -1 -1 -1 -1 -1 -1",
            "14 1020 -1 -1 -1 -1 -1 17 5 -1 5 -1 -1 -1 -1 -1 -1 -1",
            "13 1025 65 7.5 3 -1 -1 3 7.5 -1 1 -1 -1 -1 -1 -1 -1 -1",
        ]
    );
    assert!(text.contains("; MaxProcs: 16\n"), "{text}");
    let again = simulate(&out, "--swf", &folder.path("again.swf"));
    for metric in ["waiting", "slowdown", "utilization", "makespan", "completed"] {
        assert_eq!(first[metric]["mean"], again[metric]["mean"], "{metric}");
    }
}

#[test]
fn schedule_names_must_distinguish_combinations() {
    for option in ["--schedule", "--swf"] {
        refused_for(&format!("simulate --scheduler fcfs,easy {option} one.out"), "must contain {");
    }
}
