//! Tests files that commands write atomically.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::{good, refused, refused_for};

const LOG: &str = "\
; a small log that starts late
11 1000 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1
12 1010 -1 30 16 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
13 1010 -1 0 3 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
14 1020 -1 5 17 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
";

#[test]
fn jobs_and_placements_have_the_log_s_own_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    std::fs::write(path("log.swf"), LOG).unwrap();
    let (log, jobs, placements) = (path("log.swf"), path("jobs.csv"), path("p.jsonl"));
    let arguments = [
        "simulate",
        "--trace",
        &log,
        "--machine",
        "mesh:4x4",
        "--strategy",
        "tff",
        "--jobs-csv",
        &jobs,
        "--placements",
        &placements,
        "--no-timing",
    ];
    let results = good(&arguments);
    let placed = std::fs::read_to_string(&placements).unwrap();
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
    let csv = std::fs::read_to_string(&jobs).unwrap();
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
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    let metrics = &results["results"][0]["metrics"];
    assert_eq!(metrics["completed"]["mean"], 3.0);
    assert_eq!(metrics["rejected"]["mean"], 1.0);
    assert_eq!(metrics["makespan"]["mean"], 1090.0);
    assert_eq!(metrics["turnaround"]["mean"], (60.0 + 80.0 + 80.0) / 3.0);
    // 4 of 16 nodes are busy for 60 s, and all 16 for 30 s, from 1000 to 1090.
    assert_eq!(metrics["utilization"]["mean"], (4.0 * 60.0 + 16.0 * 30.0) / (16.0 * 90.0));
    assert_eq!(results["results"][0]["load"], serde_json::Value::Null);
}

#[test]
fn several_combinations_need_names_that_tell_them_apart() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let run = ["simulate", "--jobs", "20", "--replications", "1", "--strategy", "ff:turn=all,bl"];
    refused_for(&[&run[..], &["--jobs-csv", &at("jobs.csv")]].concat(), "must contain {strategy}");
    good(&[&run[..], &["--jobs-csv", &at("{strategy}.csv")]].concat());
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["bl.csv", "ff_turn=all.csv"]);
}

#[test]
fn names_of_files_that_cannot_be_meant_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let run = ["simulate", "--jobs", "20", "--replications", "1", "--strategy", "ff"];
    refused_for(&[&run[..], &["--jobs-csv", &at("{foo}.csv")]].concat(), "braces");
    let both = at("same.csv");
    refused_for(
        &[&run[..], &["--jobs-csv", &both, "--placements", &both]].concat(),
        "--placements",
    );
}

#[test]
fn what_cannot_be_written_is_said_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let run = ["simulate", "--jobs", "20", "--replications", "1", "--strategy", "ff", "--jobs-csv"];
    refused_for(&[&run[..], &[folder.path().to_str().unwrap()]].concat(), "directory");
    let nowhere = folder.path().join("no/such/folder/jobs.csv");
    refused(&[&run[..], &[nowhere.to_str().unwrap()]].concat());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_full_disk_leaves_no_file_that_looks_whole() {
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        let why = "there is no /dev/full";
        return pavior_trials::skipped("outputs on a full disk", why, "PAVIOR_REQUIRE_MOUNT");
    }
    let run = ["simulate", "--jobs", "20", "--replications", "1", "--strategy", "ff"];
    let output = crate::pavior(&[&run[..], &["--jobs-csv", "/dev/full"]].concat(), "");
    assert_eq!(output.status.code(), Some(1));
    assert!(crate::stderr(&output).contains("/dev/full"), "{}", crate::stderr(&output));
    let output = Command::new(env!("CARGO_BIN_EXE_pavior"))
        .args(run)
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
fn jobs_that_never_start_are_said_and_a_log_is_run_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    std::fs::write(at("log.swf"), LOG).unwrap();
    std::fs::write(at("f.jsonl"), "{\"op\":\"fail\",\"node\":[0,0],\"at\":1005}\n").unwrap();
    let run = ["simulate", "--trace", &at("log.swf"), "--machine", "mesh:4x4", "--strategy", "tff"];
    let stuck = crate::pavior(&[&run[..], &["--failures", &at("f.jsonl")]].concat(), "");
    assert!(stuck.status.success());
    // Job 12 needs all 16 nodes, and job 13 waits behind it.
    assert!(crate::stderr(&stuck).contains("2 jobs never started"), "{}", crate::stderr(&stuck));
    // With a second result, this is an error, because the averages cover different jobs.
    let failures = at("f.jsonl");
    let both = ["--failures", &failures, "--scheduler", "fcfs,scan-all"];
    let both = crate::pavior(&[&run[..], &both].concat(), "");
    assert_eq!(both.status.code(), Some(1));
    assert!(crate::stdout(&both).contains("scan-all") && crate::stderr(&both).contains("compared"));
    let once = crate::pavior(&[&run[..], &["--replications", "5"]].concat(), "");
    assert!(crate::stderr(&once).contains("it runs once"), "{}", crate::stderr(&once));
    let results: serde_json::Value = serde_json::from_str(&crate::stdout(&once)).unwrap();
    assert_eq!(results["results"][0]["replications"], 1);
    let drawn = good(&[&run[..], &["--replications", "3", "--shape-rule", "random"]].concat());
    let results: serde_json::Value = serde_json::from_str(&drawn).unwrap();
    assert_eq!(results["results"][0]["replications"], 3);
    // There are no results if too few jobs start to complete the warm-up.
    let warm = good(&[&run[..], &["--warmup", "3"]].concat());
    let results: serde_json::Value = serde_json::from_str(&warm).unwrap();
    assert_eq!(results["results"][0]["metrics"]["completed"]["mean"], 0.0);
    assert_eq!(results["results"][0]["metrics"]["turnaround"], serde_json::Value::Null);
}

#[test]
fn jobs_with_estimates_beyond_the_end_of_time_all_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.swf");
    let line = |id| format!("{id} 0 -1 5 16 -1 -1 16 1000000000000 -1 1 1 1 1 1 -1 -1 -1\n");
    std::fs::write(&log, (1..=60).map(line).collect::<String>()).unwrap();
    let log = log.to_str().unwrap();
    for scheduler in ["conservative", "conservative:count", "easy"] {
        let run = ["simulate", "--trace", log, "--machine", "mesh:4x4", "--strategy", "tff"];
        let output = good(&[&run[..], &["--scheduler", scheduler]].concat());
        let results: serde_json::Value = serde_json::from_str(&output).unwrap();
        let completed = &results["results"][0]["metrics"]["completed"]["mean"];
        assert_eq!(*completed, 60.0, "{scheduler}");
    }
}
