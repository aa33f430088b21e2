//! Tests of the limits in `docs/limits.md`.

use std::path::Path;
use std::process::Command;

use pavior::Time;
use pavior::experiments::Policy;
use pavior::files::{LONGEST_DOCUMENT, LONGEST_INPUT, LONGEST_LINE};
use pavior::simulation::{ARRIVALS_IN_VAIN, Bounds, CHANGES_IN_VAIN, INTERRUPTIONS_IN_VAIN};
use pavior::text::LONGEST_MESSAGE;

use crate::{Folder, good, gzipped, pavior, refused, refused_for, stderr, stdout};

/// Returns the number at the beginning of a row's value in docs/limits.md.
fn documented(name: &str) -> u64 {
    let page = include_str!("../../../../docs/limits.md");
    let row = page.lines().find_map(|line| line.strip_prefix(&format!("| {name} | ")));
    let row = row.unwrap_or_else(|| panic!("no row for {name}"));
    let digits = row.split(' ').next().unwrap().replace(',', "");
    digits.parse().unwrap_or_else(|_| panic!("{name}: {digits}"))
}

#[test]
fn the_limits_page_states_the_actual_limits() {
    let bounds = Bounds::default();
    for (name, number) in [
        ("line", LONGEST_LINE),
        ("input", LONGEST_INPUT),
        ("document", LONGEST_DOCUMENT),
        ("message", LONGEST_MESSAGE as u64),
        ("waiting jobs", bounds.waiting),
        ("interruptions", bounds.interruptions),
        ("time", Time::LATEST.0),
        ("idle arrivals", ARRIVALS_IN_VAIN),
        ("idle changes", CHANGES_IN_VAIN),
        ("useless interruptions", INTERRUPTIONS_IN_VAIN),
        ("replications", Policy::MOST),
    ] {
        assert_eq!(documented(name), number, "{name}");
    }
}

#[test]
fn an_output_that_is_also_an_input_is_rejected_and_unchanged() {
    let folder = Folder::new();
    let text = "1 0 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 2 -1 -1 -1\n";
    let (log, link) = (folder.write("log.swf", text), folder.path("link.swf"));
    std::os::unix::fs::symlink("log.swf", &link).unwrap();
    let simulate = format!("simulate --machine mesh:4x4 --strategy ff --trace {log}");
    for output in ["--jobs-csv", "--swf", "--placements", "--schedule"] {
        for path in [&log, &link] {
            refused_for(&format!("{simulate} {output} {path}"), "would overwrite --trace");
        }
    }
    for line in [
        format!("trace convert {log} {link}"),
        format!("explain --machine mesh:4x4 --shape 2x2 --busy {log} --svg {link}"),
        format!("plot {log} --out {link}"),
        format!("slots --machine mesh:4x4 --shape 2x2 --busy {log} --svg {link}"),
        format!("unblock --machine mesh:4x4 --shape 2x2 --busy {log} --svg {link}"),
        format!("unblock --machine mesh:4x4 --shape 2x2 --busy - --weights {log} --svg {link}"),
        format!("forecast {log} --machine mesh:4x4 --out {link}"),
        format!("advise {log} --machine mesh:4x4 --out {link}"),
        format!("advise - --machine mesh:4x4 --failures {log} --out {link}"),
        format!("bench --machine mesh:4x4 --trace {log} --chart {link}"),
    ] {
        refused_for(&line, "would overwrite");
    }
    assert_eq!(folder.read("log.swf"), text);
}

#[test]
fn standard_input_is_read_only_once() {
    for line in [
        "unblock --machine mesh:4x4 --shape 2x2 --busy - --weights -",
        "forecast --machine mesh:4x4 --queue - --busy -",
    ] {
        refused_for(line, "cannot both be standard input");
    }
}

#[test]
fn endless_inputs_are_rejected() {
    for line in [
        "explain --machine mesh:4x4 --shape 2x2 --busy /dev/zero",
        "plot /dev/zero",
        "experiment /dev/zero",
    ] {
        refused_for(line, "longer than");
    }
    let long = "x".repeat(3 << 20);
    let input =
        format!("{{\"op\":\"allocate\",\"job\":1,\"nodes\":2}}\n{long}\n{{\"op\":\"show\"}}\n");
    let output = pavior("allocate --machine mesh:4x4 --strategy ff", &input);
    let answers = stdout(&output);
    assert!(answers.contains("the line is longer than 1048576 bytes\",\"line\":2"), "{answers}");
    assert!(answers.lines().last().unwrap().contains("\"busy\":2"), "{answers}");
}

#[test]
fn a_full_standard_error_or_output_does_not_panic() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    for (line, status) in [
        ("simulate --strategy none 2>/dev/full", 2),
        ("--nothing 2>/dev/full", 2),
        ("--help >/dev/full", 1),
        ("--version >/dev/full", 1),
        ("strategies >/dev/full", 1),
        ("simulate --help >/dev/full", 1),
    ] {
        let script = format!("'{}' {line}", env!("CARGO_BIN_EXE_pavior"));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{line}");
    }
}

#[test]
fn a_large_compressed_input_needs_an_option() {
    let folder = Folder::new();
    let line = |number| format!("{number} 0 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 2 -1 -1 -1\n");
    let log = (1..=200).map(line).collect::<String>();
    let path = folder.write("log.swf.gz", gzipped(log.as_bytes()));
    refused_for(&format!("trace inspect {path} --max-input 1000"), "--max-input");
    good(&format!("trace inspect {path} --max-input 100000"));
}

/// Checks limits that are not constants in a library: the value in docs/limits.md must be accepted,
/// and any greater value must be rejected.
#[test]
fn values_beyond_the_documented_limits_are_rejected() {
    let generate = "trace generate lublin --nodes 16 --jobs";
    for jobs in [documented("generated log") + 1, 1_000_000_000] {
        refused(&format!("{generate} {jobs}"));
    }
    let simulate = "simulate --strategy ff --replications";
    refused(&format!("{simulate} {}", documented("replications") + 1));
    let loads = (1..=20).map(|load| load.to_string()).collect::<Vec<_>>().join(",");
    refused(&format!("{simulate} {} --load {loads}", documented("runs") / 20 + 1));
    let shape = "{\"op\":\"allocate\",\"job\":1,\"nodes\":9}\n";
    let allocate = |machine: &str| format!("allocate --strategy gen-alg --machine {machine}");
    refused_for(&allocate("mesh:257x256"), "65536");
    let output = pavior(&allocate("mesh:65535x1"), shape);
    assert!(stdout(&output).contains("\"granted\":true"), "{}", stderr(&output));
}

#[test]
fn meaningless_values_are_rejected() {
    let folder = Folder::new();
    for text in ["metrics = []", "precision = 0.1\nmin-replications = 1"] {
        let text = format!("machine = \"mesh:4x4\"\njobs = 5\n{text}\n");
        let file = folder.write("e.toml", text);
        refused(&format!("experiment {file} --out {}", folder.path("out")));
        assert_eq!(folder.names(), ["e.toml"]);
    }
    for arrivals in ["bursts:0", "bursts:8:within=inf"] {
        refused(&format!("simulate --jobs 5 --arrivals {arrivals}"));
    }
}
