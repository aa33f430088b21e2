//! Tests `--dependencies` and the sessions written by `trace convert`.

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::{good, pavior, refused_for};

const LOG: &str = "\
; MaxProcs: 16
1 0 -1 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1
2 0 -1 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 1 60
";

fn folder(log: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.swf");
    std::fs::write(&path, log).unwrap();
    let path = path.to_str().unwrap().to_string();
    (folder, path)
}

fn simulate(log: &str, more: &[&str]) -> Output {
    let plain = ["simulate", "--trace", log, "--machine", "mesh:4x4", "--strategy", "tff"];
    let plain = plain.iter().chain(&["--scheduler", "fcfs", "--no-timing"]);
    pavior(&plain.chain(more).copied().collect::<Vec<&str>>(), "")
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_string).collect()
}

#[test]
fn placements_and_schedules_have_the_simulated_submit_time() {
    let (folder, log) = folder(LOG);
    let path = |name: &str| folder.path().join(name);
    let [placed, swf] = [path("placed.jsonl"), path("out.swf")];
    let files = ["--placements", placed.to_str().unwrap(), "--swf", swf.to_str().unwrap()];
    let output = simulate(&log, &[&["--dependencies"], &files[..]].concat());
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("note: 1 of 2 jobs refer to preceding jobs: 1 followed"), "{said}");
    let last: Value = serde_json::from_str(&lines(&placed)[1]).unwrap();
    assert_eq!(
        (&last["job"], &last["submit"], &last["start"]),
        (&2.into(), &160.into(), &160.into())
    );
    assert!(lines(&swf).last().unwrap().starts_with("2 160 0 100 4 "));
    let off = simulate(&log, &[]);
    assert_eq!(simulate(&log, &["--metrics", "makespan"]).status.code(), off.status.code());
    assert!(!String::from_utf8(off.stderr).unwrap().contains("follow"));
}

#[test]
fn what_is_not_followed_is_said() {
    let more = "3 5 -1 9 4 -1 -1 4 -1 -1 1 1 1 1 1 1 4 1\n\
                4 6 -1 9 99 -1 -1 99 -1 -1 1 1 1 1 1 1 3 1\n\
                5 7 -1 9 4 -1 -1 4 -1 -1 1 1 1 1 1 1 4 1\n\
                6 8 -1 9 4 -1 -1 4 -1 -1 1 1 1 1 1 1 77 1\n";
    let (_folder, log) = folder(&(LOG.to_string() + more));
    let output = simulate(&log, &["--dependencies"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains(
            "note: 5 of 6 jobs refer to preceding jobs: 3 followed, 1 filtered out, skipped or \
             not in \
             the log, 1 not before their job in the log (1 cycle)"
        ),
        "{said}"
    );
    assert!(said.contains("note: 1 preceding jobs are not followed"), "{said}");
    let (_folder, log) = folder(&LOG.replace(" 1 60\n", " -1 -1\n"));
    let said = String::from_utf8(simulate(&log, &["--dependencies"]).stderr).unwrap();
    assert!(said.contains("note: no job in the log refers to a preceding job"), "{said}");
}

#[test]
fn sessions_are_written_and_followed() {
    let user = "1 0 50 100 4 -1 -1 4 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n\
                2 200 0 100 4 -1 -1 4 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n\
                3 900 0 100 4 -1 -1 4 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n";
    let (folder, log) = folder(user);
    let to = folder.path().join("sessions.swf");
    let to = to.to_str().unwrap();
    for (time, ends) in
        [("60s", [" -1 -1", " 1 50", " -1 -1"]), ("20m", [" -1 -1", " 1 50", " 2 600"])]
    {
        good(&["trace", "convert", "--sessions", time, &log, to]);
        let written = lines(Path::new(to));
        assert!(written.iter().zip(ends).all(|(line, end)| line.ends_with(end)), "{written:?}");
        assert!(written[0].starts_with("1 0 50 100 4 "));
    }
    let output = simulate(to, &["--dependencies", "--metrics", "makespan"]);
    assert!(output.status.success(), "{output:?}");
    refused_for(&["trace", "convert", "--sessions", "20m", &log, "x.json"], "only .swf logs");
    refused_for(&["trace", "convert", "--sessions", "soon", &log, "x.swf"], "such as 20m");
}
