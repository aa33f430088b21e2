//! Tests logs with unusual names, logs on standard input, and logs that give sizes in processors.

use serde_json::Value;

use crate::{Folder, good, gzipped, json, noted, refused, refused_for};

const CORES: &str = "\
; MaxNodes: 16
; MaxProcs: 64
1 0 -1 60 4 -1 -1 4 90 -1 1 7 -1 -1 -1 -1 -1 -1
2 10 -1 30 64 -1 -1 64 90 -1 1 7 -1 -1 -1 -1 -1 -1
";

const SACCT: &str = "\
JobID,Partition,Submit,Elapsed,NNodes,State
1,gpu,2026-01-05T08:00:00,01:00:00,4,COMPLETED
2,cpu,2026-01-05T08:00:00,01:00:00,2,TIMEOUT
";

fn inspected(line: &str, input: &str) -> Value {
    json(&format!("trace inspect {line}"), input)
}

#[test]
fn log_formats_are_detected_from_the_content() {
    let folder = Folder::new();
    for (name, text) in [("log.txt", CORES), ("log", SACCT), ("log.swf", SACCT)] {
        let path = folder.write(name, text);
        assert_eq!(inspected(&path, "")["kept"], 2, "{name}");
        assert_eq!(inspected("-", text)["kept"], 2);
        folder.write(name, gzipped(text.as_bytes()));
        assert_eq!(inspected(&path, "")["kept"], 2, "{name}, packed");
    }
    let unknown = folder.write("x", "hello\n");
    let packed = folder.write("log.swf.zst", b"\x28\xb5\x2f\xfd\x00");
    for (line, reason) in [
        (unknown.clone(), "specify one with --log-format: swf, sim, batsim, sacct"),
        (format!("{unknown} --log-format swf"), "`hello` is not a number in field 1"),
        (format!("{unknown} --log-format swff"), "swf"),
        (packed, "zstd -dc FILE | pavior"),
    ] {
        refused_for(&format!("trace inspect {line}"), reason);
    }
}

#[test]
fn processors_are_divided_on_the_machine_of_the_header() {
    let (folder, log) = Folder::with("log.swf", CORES);
    let run = |machine: &str, more: &str| {
        let placed = folder.path("placed");
        let run = format!("simulate --trace {log} -m {machine} -s tff --no-timing {more}");
        let (_, notes) = noted(&format!("{run} --placements {placed}"), "");
        let jobs = folder.json_lines("placed").into_iter();
        (jobs.map(|job| job["nodes"].as_u64().unwrap()).collect::<Vec<_>>(), notes)
    };
    let (nodes, error) = run("torus:4x4", "");
    assert_eq!(nodes, [1, 16]);
    assert!(error.contains("--processors-per-node 1 treats sizes as node counts"), "{error}");
    let (nodes, error) = run("torus:8x8", "");
    assert_eq!(nodes, [4, 64]);
    assert!(error.contains("--processors-per-node 4 divides the sizes"), "{error}");
    let (nodes, error) = run("torus:8x8", "--processors-per-node 8");
    assert_eq!(nodes, [1, 8]);
    assert!(!error.contains("processors"), "{error}");
    let (nodes, error) = run("torus:4x4", "--processors-per-node 1");
    assert_eq!(nodes, [4], "the other job is larger than the machine");
    assert!(!error.contains("sizes"), "{error}");
    let sizes = |more: &str| inspected(&format!("{log} {more}"), "")["sizes"]["max"].clone();
    assert_eq!((sizes("-m torus:4x4"), sizes("")), (16.0.into(), 64.0.into()));
    assert_eq!(sizes("--nodes-from 12"), 7.0);
}

#[test]
fn filters_and_rules_accept_names() {
    let (_folder, log) = Folder::with("log.sacct", SACCT);
    for filter in ["--filter partition=gpu", "--status TIMEOUT"] {
        assert_eq!(inspected(&format!("{log} {filter}"), "")["kept"], 1, "{filter}");
    }
    let error = refused(&format!("trace inspect {log} --filter partition=g"));
    assert!(error.contains("the log has no partition `g`, only gpu, cpu"), "{error}");
    let names = &inspected(&log, "")["names"];
    assert_eq!((&names[0]["name"], &names[0]["jobs"]), (&"gpu".into(), &1.into()));
    assert!(good(&format!("trace inspect {log} --format table")).contains("jobs by partition"));
    let run = format!("simulate --trace {log} -m mesh:4x4 -s tff --no-timing --freedom");
    good(&format!("{run} any:partition=gpu,box"));
    refused_for(&format!("{run} any:partition=g"), "the log has no partition `g`, only gpu, cpu");
}

/// Reads every small log in the folder of test cases next to the repository, if that folder exists.
#[test]
fn shared_cases_are_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases/logs");
    let folder = std::path::Path::new(folder);
    for (name, options, nodes) in [
        ("intrepid.swf", "--machine torus:64x32x20", &[512, 32_768][..]),
        ("part.swf", "", &[16, 16]),
        ("comma.swf", "", &[64, 4]),
        ("zero.swf", "", &[64, 4]),
        ("tz.sacct", "", &[2, 1]),
        ("nl.sacct", "", &[4, 4]),
        ("c.sacct", "", &[4]),
        ("sj.json", "", &[4, 2]),
        ("part.sacct", "--filter partition=gpu", &[4]),
        ("gz-inside.swf", "", &[30, 30, 30]),
        ("seq.json", "", &[2]),
        ("bw.log", "", &[2]),
    ] {
        let log = folder.join(name);
        if !log.exists() {
            eprintln!("{} is not there", log.display());
            continue;
        }
        let out = Folder::new();
        good(&format!("trace convert {} {} {options}", log.display(), out.path("out.swf")));
        let text = out.read("out.swf");
        let jobs = text.lines().filter(|line| !line.starts_with(';'));
        let found: Vec<u32> =
            jobs.map(|line| line.split(' ').nth(7).unwrap().parse().unwrap()).collect();
        assert_eq!(found, nodes, "{name}");
    }
}

#[test]
fn jobs_that_share_routers_are_counted() {
    let folder = Folder::new();
    let jobs = "03/18/2017 00:01:15;E;1.h;ctime=100 start=160 end=220 exec_host=n0/0-31
03/18/2017 00:01:16;E;2.h;ctime=100 start=170 end=230 exec_host=n1/3+n1/2\n";
    let log = folder.write("log", jobs);
    let machine = "--machine mesh:2x1 --strategy ff --scheduler fcfs --placed n[0-3]";
    for command in [format!("simulate --trace {log}"), format!("advise {log}")] {
        let (_, notes) = noted(&format!("{command} {machine}"), "");
        let counts = "2 of 2 jobs run on the nodes recorded in the log, 1 starting on a router \
                      that another job uses";
        assert!(notes.contains(counts), "{command} {notes}");
    }
}
