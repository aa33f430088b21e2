//! Tests logs in the forms that users have: with unusual names, from standard input, and with sizes
//! in processors.

use std::io::Write as _;

use serde_json::Value;

use crate::{good, pavior, refused, stdout};

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

fn inspected(arguments: &[&str], input: &str) -> Value {
    let all = [&["trace", "inspect"], arguments, &["--format", "json"]].concat();
    let output = pavior(&all, input);
    assert!(output.status.success(), "{all:?} {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[test]
fn content_says_the_format_of_files_and_of_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    for (name, text) in [("log.txt", CORES), ("log", SACCT), ("log.swf", SACCT)] {
        std::fs::write(path(name), text).unwrap();
        assert_eq!(inspected(&[&path(name)], "")["kept"], 2, "{name}");
        assert_eq!(inspected(&["-"], text)["kept"], 2);
        let packed = std::fs::File::create(path(name)).unwrap();
        let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap();
        assert_eq!(inspected(&[&path(name)], "")["kept"], 2, "{name}, packed");
    }
    std::fs::write(path("x"), "hello\n").unwrap();
    let said = refused(&["trace", "inspect", &path("x")]);
    assert!(said.contains("specify --log-format: swf, sim, batsim, sacct"), "{said}");
    let said = refused(&["trace", "inspect", &path("x"), "--log-format", "swf"]);
    assert!(said.contains("`hello` is not a number in field 1"), "{said}");
    let said = refused(&["trace", "inspect", &path("x"), "--log-format", "swff"]);
    assert!(said.contains("swf"), "{said}");
    std::fs::write(path("log.swf.zst"), b"\x28\xb5\x2f\xfd\x00").unwrap();
    let said = refused(&["trace", "inspect", &path("log.swf.zst")]);
    assert!(said.contains("zstd -dc FILE | pavior"), "{said}");
}

#[test]
fn processors_are_divided_on_the_machine_of_the_header() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.swf").to_str().unwrap().to_string();
    std::fs::write(&log, CORES).unwrap();
    let run = |machine: &str, more: &[&str]| {
        let run = ["simulate", "--trace", &log, "-m", machine, "-s", "tff", "--no-timing"];
        let placed = folder.path().join("placed").to_str().unwrap().to_string();
        let out = ["--format", "json", "--placements", &placed];
        let output = pavior(&[&run[..], &out, more].concat(), "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let nodes: Vec<u64> = std::fs::read_to_string(&placed)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["nodes"].as_u64().unwrap())
            .collect();
        (nodes, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (nodes, said) = run("torus:4x4", &[]);
    assert_eq!(nodes, [1, 16]);
    assert!(said.contains("--processors-per-node 1 treats them as nodes"), "{said}");
    let (nodes, said) = run("torus:8x8", &[]);
    assert_eq!(nodes, [4, 64]);
    assert!(said.contains("--processors-per-node 4 divides them"), "{said}");
    let (nodes, said) = run("torus:8x8", &["--processors-per-node", "8"]);
    assert_eq!(nodes, [1, 8]);
    assert!(!said.contains("processors"), "{said}");
    let (nodes, said) = run("torus:4x4", &["--processors-per-node", "1"]);
    assert_eq!(nodes, [4], "the other job is larger than the machine");
    assert!(!said.contains("sizes"), "{said}");
    let sizes =
        |arguments: &[&str]| inspected(&[&[&*log], arguments].concat(), "")["sizes"]["max"].clone();
    assert_eq!((sizes(&["-m", "torus:4x4"]), sizes(&[])), (16.0.into(), 64.0.into()));
    assert_eq!(sizes(&["--nodes-from", "12"]), 7.0);
}

#[test]
fn names_may_be_in_filters_and_rules() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.sacct").to_str().unwrap().to_string();
    std::fs::write(&log, SACCT).unwrap();
    let kept = |filter: &[&str]| inspected(&[&[&*log], filter].concat(), "")["kept"].clone();
    assert_eq!(
        (kept(&["--filter", "partition=gpu"]), kept(&["--status", "TIMEOUT"])),
        (1.into(), 1.into())
    );
    let said = refused(&["trace", "inspect", &log, "--filter", "partition=g"]);
    assert!(said.contains("`g` is not a partition of the log: gpu, cpu"), "{said}");
    let names = &inspected(&[&log], "")["names"];
    assert_eq!((&names[0]["name"], &names[0]["jobs"]), (&"gpu".into(), &1.into()));
    assert!(good(&["trace", "inspect", &log, "--format", "table"]).contains("jobs by partition"));
    let run = ["simulate", "--trace", &log, "-m", "mesh:4x4", "-s", "tff", "--no-timing"];
    good(&[&run[..], &["--freedom", "any:partition=gpu,box"]].concat());
    let said = refused(&[&run[..], &["--freedom", "any:partition=g"]].concat());
    assert!(said.contains("`g` is not a partition of the log"), "{said}");
}

/// Reads every small log in the folder of cases next to the repository, if that folder exists.
#[test]
fn cases_beside_the_repository_are_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases/logs");
    let folder = std::path::Path::new(folder);
    for (name, arguments, nodes) in [
        ("intrepid.swf", &["--machine", "torus:64x32x20"][..], &[512, 32_768][..]),
        ("part.swf", &[], &[16, 16]),
        ("comma.swf", &[], &[64, 4]),
        ("zero.swf", &[], &[64, 4]),
        ("tz.sacct", &[], &[2, 1]),
        ("nl.sacct", &[], &[4, 4]),
        ("c.sacct", &[], &[4]),
        ("sj.json", &[], &[4, 2]),
        ("part.sacct", &["--filter", "partition=gpu"], &[4]),
        ("gz-inside.swf", &[], &[30, 30, 30]),
        ("seq.json", &[], &[2]),
        ("bw.log", &[], &[2]),
    ] {
        let log = folder.join(name);
        if !log.exists() {
            eprintln!("{} is not there", log.display());
            continue;
        }
        let out = tempfile::tempdir().unwrap().path().with_extension("swf");
        let paths = [log.to_str().unwrap(), out.to_str().unwrap()];
        good(&[&["trace", "convert"], &paths[..], arguments].concat());
        let text = std::fs::read_to_string(&out).unwrap();
        std::fs::remove_file(&out).unwrap();
        let jobs = text.lines().filter(|line| !line.starts_with(';'));
        let found: Vec<u32> =
            jobs.map(|line| line.split(' ').nth(7).unwrap().parse().unwrap()).collect();
        assert_eq!(found, nodes, "{name}");
    }
}

#[test]
fn jobs_that_share_routers_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log").to_str().unwrap().to_string();
    let jobs = "03/18/2017 00:01:15;E;1.h;ctime=100 start=160 end=220 exec_host=n0/0-31
03/18/2017 00:01:16;E;2.h;ctime=100 start=170 end=230 exec_host=n1/3+n1/2\n";
    std::fs::write(&log, jobs).unwrap();
    let machine = ["--machine", "mesh:2x1", "--strategy", "ff", "--scheduler", "fcfs"];
    for command in [["simulate", "--trace", &log].as_slice(), &["advise", &log]] {
        let output = pavior(&[command, &machine, &["--placed", "n[0-3]"]].concat(), "");
        let said = String::from_utf8_lossy(&output.stderr);
        let counts = "2 of 2 jobs run on their nodes from the log, 1 starting on a router of";
        assert!(output.status.success() && said.contains(counts), "{command:?} {said}");
    }
}
