//! Tests `pavior trace inspect`, which summarizes a log as text, JSON or a page.

use std::process::Command;

use serde_json::Value;

use crate::{Folder, noted_with, refused_for, stderr, stdout};

const LOG: &str = "\
; MaxNodes: 12
; MaxProcs: 12
1 0 0 100 4 -1 -1 4 200 -1 1 7 1 1 3 1 -1 -1
2 -1 0 100 4 -1 -1 4 200 -1 1 7 1 1 3 1 -1 <script>
3 9 0 100 4 -1 -1 4 200 -1 1 8 1 1 3 1 1 60
4 9 0 -1 4 -1 -1 4 200 -1 1 8 1 1 3 1 77 60
5 700000 0 100 4 -1 -1 4 -1 -1 1 8 1 1 3 1 77 60
";

#[test]
fn all_formats_contain_the_summary() {
    let (folder, path) = Folder::with("a & <b>.swf", LOG);
    let inspect = |more: &[&str]| {
        noted_with(&[&["trace", "inspect", &path, "--lenient"], more].concat(), "").0
    };
    let text = inspect(&["--format", "table"]);
    for line in [
        "format                 Standard Workload Format",
        "kept                   3",
        "malformed              1 (line 4)",
        "no_run_time            1 (line 6)",
        "greatest_use           8",
        "header_nodes           12",
        "with_preceding_job     2 (1 followed, 1 missing)",
        "  malformed, line 4: 2 -1 0 100 4 -1 -1 4 200 -1 1 7 1 1 3 1 -1 <script>",
        "estimate / run time: mean 2, ",
        "       user: 8 (2), 7 (1)",
        "load in % by submission week",
        "--machine mesh:3x2x2 --strategy tff --scheduler easy --dependencies --lenient\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let json: Value = serde_json::from_str(&inspect(&["--format", "json"])).unwrap();
    assert_eq!((&json["kept"], &json["machine_size"]), (&3.into(), &12.into()));
    assert_eq!(json["examples"][1]["line"], 6);
    assert_eq!(json["dependencies"]["missing"], 1);
    assert!(json["replay"].as_str().unwrap().starts_with("pavior simulate --trace '"));
    let csv = inspect(&["--format", "csv"]);
    for row in [
        "greatest_use,8",
        "malformed,1",
        "malformed_line,4",
        "with_preceding_job,2",
        "dependencies_missing,1",
        "estimate_factors_mean,2",
    ] {
        assert!(csv.lines().any(|line| line == row), "{row}\n{csv}");
    }
    let values = csv.lines().skip(1).filter_map(|line| line.split_once(','));
    for (key, value) in values.filter(|(key, _)| !["format", "note"].contains(key)) {
        let number: Option<f64> = value.parse().ok();
        assert!(value.is_empty() || number.is_some(), "{key},{value}");
        let is_same =
            json.get(key).is_none_or(|other| !other.is_number() || other.as_f64() == number);
        assert!(is_same, "{key},{value}: {json}");
    }
    let page = inspect(&["--html"]);
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script>") && !page.contains("<b>"));
    assert_eq!(page.matches("<svg").count(), 5, "sizes, runs, load, jobs, hours, and no weekdays");
    inspect(&["--html", &folder.path("page.html")]);
    assert_eq!(folder.read("page.html"), page);
}

#[test]
fn options_are_checked_before_the_log_is_read() {
    let inspect = "trace inspect missing.swf --html";
    refused_for(&format!("{inspect} x.swf"), "the name must end in .html");
    refused_for(&format!("{inspect} --format csv"), "cannot be used with");
}

/// Runs a `pavior` shell command in a folder, checks that it succeeds, and returns its output.
fn shell(folder: &Folder, line: &str) -> String {
    let line = format!("pavior() {{ '{}' \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_pavior"));
    let output = Command::new("sh").args(["-c", &line]).current_dir(folder.path(".")).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    stdout(&output)
}

#[test]
fn the_replay_command_reads_the_log_as_it_was_summarized() {
    let folder = Folder::new();
    folder.write("-x.swf", LOG);
    for (arguments, input, expected) in [
        ("-- -x.swf", "", "--trace ./-x.swf --machine mesh:3x2x2"),
        ("-", "< ./-x.swf", "--trace - --machine mesh:3x2x2"),
        ("./-x.swf --filter 'user=7,queue=3'", "", "--filter=user=7,queue=3"),
        ("./-x.swf --status -1,1 --first 2", "", "--first=2 --status=-1,1"),
        (
            "./-x.swf --dependencies --processors-per-node 2",
            "",
            " --lenient --dependencies --processors-per-node=2",
        ),
    ] {
        let inspect = format!("pavior trace inspect --format json --lenient {arguments} {input}");
        let summary: Value = serde_json::from_str(&shell(&folder, &inspect)).unwrap();
        let replay = summary["replay"].as_str().unwrap();
        assert!(replay.contains(expected) && replay.contains(" --lenient"), "{replay}");
        let lines = shell(&folder, &format!("{replay} --format json --replications 1 {input}"));
        let _: Value = serde_json::from_str(&lines).unwrap();
    }
}
