//! Tests files that commands write atomically.

use std::io::Read;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::{Folder, good, pavior, refused, refused_for, stderr, stdout, words};

const LOG: &str = "\
; a small log that starts late
11 1000 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1
12 1010 -1 30 16 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
13 1010 -1 0 3 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
14 1020 -1 5 17 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
";

#[test]
fn jobs_and_placements_have_the_log_s_own_times() {
    let (folder, log) = Folder::with("log.swf", LOG);
    let [jobs, placements] = ["jobs.csv", "p.jsonl"].map(|name| folder.path(name));
    let run = format!(
        "simulate --trace {log} --machine mesh:4x4 --strategy tff --jobs-csv {jobs} --placements \
         {placements} --no-timing"
    );
    let results = crate::json(&run, "");
    let placed = folder.read("p.jsonl");
    let unit = r#","unit":"s"}"#;
    assert!(placed.lines().all(|line| line.ends_with(unit)), "{placed}");
    assert_eq!(
        format!("\n{}", placed.replace(unit, "}")),
        r#"
{"job":11,"submit":1000,"start":1000,"end":1060,"nodes":4,"parts":[{"base":[0,0],"sides":[2,2]}]}
{"job":12,"submit":1010,"start":1060,"end":1090,"nodes":16,"parts":[{"base":[0,0],"sides":[4,4]}]}
{"job":13,"submit":1010,"start":1090,"end":1090,"nodes":3,"parts":[{"base":[0,0],"sides":[3,1]}]}
"#
    );
    let csv = folder.read("jobs.csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(
        lines[1].starts_with(
            "11,pavior,11,1000,4,90,1,COMPLETED_SUCCESSFULLY,1000,60,1060,0,60,1,0-1 4-5,"
        ),
        "{}",
        lines[1]
    );
    assert!(lines[4].starts_with("14,pavior,14,1020,17,5,0,REJECTED,-1,"), "{}", lines[4]);
    let metrics = &results["results"][0]["metrics"];
    assert_eq!(metrics["completed"]["mean"], 3.0);
    assert_eq!(metrics["rejected"]["mean"], 1.0);
    assert_eq!(metrics["makespan"]["mean"], 1090.0);
    assert_eq!(metrics["turnaround"]["mean"], (60.0 + 80.0 + 80.0) / 3.0);
    // Between 1000 and 1090, 4 of 16 nodes are busy for 60 s, and all 16 for 30 s.
    assert_eq!(metrics["utilization"]["mean"], (4.0 * 60.0 + 16.0 * 30.0) / (16.0 * 90.0));
    assert_eq!(results["results"][0]["load"], Value::Null);
}

/// A short simulation.
const SHORT: &str = "simulate --jobs 20 --replications 1 --strategy";

#[test]
fn file_names_must_distinguish_combinations() {
    let folder = Folder::new();
    let run = |name: &str| format!("{SHORT} ff:turn=all,bl --jobs-csv {}", folder.path(name));
    refused_for(&run("jobs.csv"), "must contain {strategy}");
    good(&run("{strategy}.csv"));
    assert_eq!(folder.names(), ["bl.csv", "ff_turn=all.csv"]);
}

#[test]
fn unknown_placeholders_and_equal_names_are_rejected() {
    let folder = Folder::new();
    let run = |name: &str| format!("{SHORT} ff --jobs-csv {}", folder.path(name));
    refused_for(&run("{foo}.csv"), "braces");
    let both = format!("{} --placements {}", run("same.csv"), folder.path("same.csv"));
    refused_for(&both, "--placements");
}

#[test]
fn unwritable_files_are_reported_before_the_run() {
    let folder = Folder::new();
    let run = |name: &str| format!("{SHORT} ff --jobs-csv {}", folder.path(name));
    refused_for(&run(""), "directory");
    refused(&run("no/such/folder/jobs.csv"));
    assert!(folder.names().is_empty());
}

#[test]
fn a_full_disk_leaves_no_partial_file() {
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        let why = "there is no /dev/full";
        return pavior_trials::skipped("outputs on a full disk", why, "PAVIOR_REQUIRE_MOUNT");
    }
    let output = pavior(&format!("{SHORT} ff --jobs-csv /dev/full"), "");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/dev/full"), "{}", stderr(&output));
    let output = Command::new(env!("CARGO_BIN_EXE_pavior"))
        .args(words(&format!("{SHORT} ff")))
        .stdout(std::fs::OpenOptions::new().write(true).open(full).unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    for arguments in [&["strategies"][..], &["simulate", "--jobs", "20"], &["manual"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pavior"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let status = child.wait().unwrap();
        let mut message = String::new();
        child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        assert_eq!((status.code(), message.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_closed_pipe_stops_the_network() {
    let line = |at: u32, flits: u32| {
        format!("{{\"at\":{at},\"from\":[0],\"to\":[1],\"flits\":{flits}}}\n")
    };
    // The simulation of the last message takes minutes, so it must not start.
    let messages = (0..1000).map(|at| line(9 * at, 1)).collect::<String>() + &line(9000, u32::MAX);
    let (_folder, path) = Folder::with("messages.jsonl", messages);
    let mut child = Command::new(env!("CARGO_BIN_EXE_pavior"))
        .args(["network", "--machine", "mesh:2", "--engine", "flit"])
        .stdin(std::fs::File::open(path).unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn jobs_that_never_start_are_reported_and_a_log_runs_once() {
    let (folder, log) = Folder::with("log.swf", LOG);
    let list = folder.write("f.jsonl", "{\"op\":\"fail\",\"node\":[0,0],\"at\":1005}\n");
    let run = format!("simulate --trace {log} --machine mesh:4x4 --strategy tff");
    let run = |more: &str| pavior(&format!("{run} {more}"), "");
    let stuck = run(&format!("--failures {list}"));
    assert!(stuck.status.success());
    // Job 12 needs all 16 nodes, and job 13 waits behind it.
    assert!(stderr(&stuck).contains("2 jobs never started"), "{}", stderr(&stuck));
    // With more than one result, jobs that never start are an error, because the averages would
    // cover different sets of jobs.
    let both = run(&format!("--failures {list} --scheduler fcfs,scan-all"));
    assert_eq!(both.status.code(), Some(1));
    assert!(stdout(&both).contains("scan-all") && stderr(&both).contains("compared"));
    let first = |output: &Output| -> Value {
        let mut all: Value = serde_json::from_str(&stdout(output)).unwrap();
        all["results"][0].take()
    };
    let once = run("--replications 5");
    assert!(stderr(&once).contains("only one replication is run"), "{}", stderr(&once));
    assert_eq!(first(&once)["replications"], 1);
    assert_eq!(first(&run("--replications 3 --shape-rule random"))["replications"], 3);
    // If too few jobs start for the warm-up to complete, there are no results.
    let warm = first(&run("--warmup 3"));
    assert_eq!(warm["metrics"]["completed"]["mean"], 0.0);
    assert_eq!(warm["metrics"]["turnaround"], Value::Null);
}

#[test]
fn jobs_with_enormous_estimates_all_run() {
    let folder = Folder::new();
    let line = |id| format!("{id} 0 -1 5 16 -1 -1 16 1000000000000 -1 1 1 1 1 1 -1 -1 -1\n");
    let log = folder.write("log.swf", (1..=60).map(line).collect::<String>());
    for scheduler in ["conservative", "conservative:count", "easy"] {
        let run = format!("simulate --trace {log} -m mesh:4x4 -s tff --scheduler {scheduler}");
        let results = crate::json(&run, "");
        let completed = &results["results"][0]["metrics"]["completed"]["mean"];
        assert_eq!(*completed, 60.0, "{scheduler}");
    }
}
