//! Tests of the limits in `docs/limits.md`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use pavior::Time;
use pavior::experiments::Policy;
use pavior::files::{LONGEST_DOCUMENT, LONGEST_INPUT, LONGEST_LINE};
use pavior::simulation::{ARRIVALS_IN_VAIN, Bounds, CHANGES_IN_VAIN, INTERRUPTIONS_IN_VAIN};
use pavior::text::LONGEST_MESSAGE;

use crate::{pavior, stderr};

#[test]
fn the_page_has_the_numbers_in_force() {
    let page = include_str!("../../../../docs/limits.md");
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
        let row = page.lines().find(|line| line.starts_with(&format!("| {name} |")));
        let row = row.unwrap_or_else(|| panic!("no row for {name}"));
        let digits: String =
            row.split('|').nth(2).unwrap().chars().filter(char::is_ascii_digit).collect();
        assert_eq!(digits, number.to_string(), "{row}");
    }
}

#[test]
fn an_output_that_is_an_input_is_refused_and_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.swf");
    let text = "1 0 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 2 -1 -1 -1\n";
    std::fs::write(&log, text).unwrap();
    std::os::unix::fs::symlink("log.swf", folder.path().join("link.swf")).unwrap();
    let (log, link) = (log.to_str().unwrap(), folder.path().join("link.swf"));
    let link = link.to_str().unwrap();
    let simulate = ["simulate", "--machine", "mesh:4x4", "--strategy", "ff", "--trace", log];
    for output in ["--jobs-csv", "--swf", "--placements", "--schedule"] {
        for path in [log, link] {
            let output = pavior(&[&simulate[..], &[output, path]].concat(), "");
            assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
            assert!(stderr(&output).contains("would overwrite --trace"), "{}", stderr(&output));
        }
    }
    for arguments in [
        vec!["trace", "convert", log, link],
        vec!["explain", "--machine", "mesh:4x4", "--shape", "2x2", "--busy", log, "--svg", link],
        vec!["plot", log, "--out", link],
    ] {
        let output = pavior(&arguments, "");
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("would overwrite"), "{}", stderr(&output));
    }
    assert_eq!(std::fs::read_to_string(log).unwrap(), text);
}

#[test]
fn endless_inputs_end() {
    for arguments in [
        vec!["explain", "--machine", "mesh:4x4", "--shape", "2x2", "--busy", "/dev/zero"],
        vec!["plot", "/dev/zero"],
        vec!["experiment", "/dev/zero"],
    ] {
        let output = pavior(&arguments, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains("longer than"), "{}", stderr(&output));
    }
    let long = "x".repeat(3 << 20);
    let input =
        format!("{{\"op\":\"allocate\",\"job\":1,\"nodes\":2}}\n{long}\n{{\"op\":\"show\"}}\n");
    let output = pavior(&["allocate", "--machine", "mesh:4x4", "--strategy", "ff"], &input);
    let answers = crate::stdout(&output);
    assert!(answers.contains("the line is longer than 1048576 bytes\",\"line\":2"), "{answers}");
    assert!(answers.lines().last().unwrap().contains("\"busy\":2"), "{answers}");
}

#[test]
fn a_full_standard_error_or_output_is_no_panic() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let run = |arguments: &[&str], out: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pavior"));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let full = full.try_clone().unwrap();
        if out {
            command.stdout(full)
        } else {
            command.stderr(full)
        };
        command.status().unwrap().code()
    };
    assert_eq!(run(&["simulate", "--strategy", "none"], false), Some(2));
    assert_eq!(run(&["--nothing"], false), Some(2));
    for arguments in [&["--help"][..], &["--version"], &["strategies"], &["simulate", "--help"]] {
        assert_eq!(run(arguments, true), Some(1), "{arguments:?}");
    }
}

#[test]
fn a_compressed_input_beyond_the_limit_is_refused_and_an_option_lifts_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.swf.gz");
    let file = std::fs::File::create(&path).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    for number in 1..=200 {
        writeln!(encoder, "{number} 0 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 2 -1 -1 -1").unwrap();
    }
    encoder.finish().unwrap();
    let path = path.to_str().unwrap();
    let inspect = |most: &str| pavior(&["trace", "inspect", path, "--max-input", most], "");
    assert_eq!(inspect("1000").status.code(), Some(2));
    assert!(stderr(&inspect("1000")).contains("--max-input"));
    assert!(inspect("100000").status.success());
}

/// Checks limits that are not constants in a library. The value in docs/limits.md is accepted, and
/// a greater value is rejected.
#[test]
fn what_lies_beyond_a_limit_of_the_page_is_refused() {
    let page = include_str!("../../../../docs/limits.md");
    let number = |name: &str| -> u64 {
        let row = page.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        let cell = row.split('|').nth(2).unwrap().trim();
        let digits = |c: &char| c.is_ascii_digit() || *c == ',';
        cell.chars().take_while(digits).filter(|c| *c != ',').collect::<String>().parse().unwrap()
    };
    let refused = |arguments: &[&str]| {
        let output = pavior(arguments, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        stderr(&output)
    };
    let above = (number("generated log") + 1).to_string();
    refused(&["trace", "generate", "lublin", "--nodes", "16", "--jobs", &above]);
    refused(&["trace", "generate", "lublin", "--nodes", "16", "--jobs", "1000000000"]);
    let above = (number("replications") + 1).to_string();
    refused(&["simulate", "--strategy", "ff", "--replications", &above]);
    let each = (number("runs") / 20 + 1).to_string();
    let loads = (1..=20).map(|load| load.to_string()).collect::<Vec<_>>().join(",");
    refused(&["simulate", "--strategy", "ff", "--load", &loads, "--replications", &each]);
    let shape = "{\"op\":\"allocate\",\"job\":1,\"nodes\":9}\n";
    let allocate = |machine| ["allocate", "--strategy", "gen-alg", "--machine", machine];
    assert!(refused(&allocate("mesh:257x256")).contains("65536"));
    let output = pavior(&allocate("mesh:65535x1"), shape);
    assert!(crate::stdout(&output).contains("\"granted\":true"), "{}", stderr(&output));
}

#[test]
fn what_means_nothing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("e.toml");
    let file = file.to_str().unwrap();
    for text in ["metrics = []", "precision = 0.1\nmin-replications = 1"] {
        std::fs::write(file, format!("machine = \"mesh:4x4\"\njobs = 5\n{text}\n")).unwrap();
        let out = folder.path().join("out");
        let output = pavior(&["experiment", file, "--out", out.to_str().unwrap()], "");
        assert_eq!(output.status.code(), Some(2), "{text}: {}", stderr(&output));
        assert!(!out.exists());
    }
    for arguments in [["--arrivals", "bursts:0"], ["--arrivals", "bursts:8:within=inf"]] {
        let output = pavior(&[&["simulate", "--jobs", "5"], &arguments[..]].concat(), "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}
