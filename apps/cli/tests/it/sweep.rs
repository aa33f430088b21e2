//! Tests `pavior sweep`, which lets other programs list and run an experiment's replications.

use std::path::Path;

use crate::{Folder, good, refused_for};

const EXPERIMENT: &str = "strategy = ['ff', 'tff']\njobs = 30\nreplications = 5\n";

#[test]
fn wanted_spans_have_the_documented_form_and_can_be_run() {
    let (folder, _) = Folder::with("sweep/experiment.toml", EXPERIMENT);
    let [sweep, part, whole] = ["sweep", "part", "whole"].map(|name| folder.path(name));
    let wanted = good(&format!("sweep wanted {sweep} --most 3 --json"));
    let found: serde_json::Value = serde_json::from_str(&wanted).unwrap();
    let expected = serde_json::json!([
        { "point": 0, "first": 0, "last": 2 },
        { "point": 0, "first": 3, "last": 4 },
        { "point": 1, "first": 0, "last": 2 },
        { "point": 1, "first": 3, "last": 4 },
    ]);
    assert_eq!(found, expected);
    // The spans may also overlap.
    let again = r#"{"point":0,"first":1,"last":3},{"point":0,"first":2,"last":2}]"#;
    let spans =
        folder.write("spans.json", wanted.trim().trim_end_matches(']').to_string() + "," + again);
    good(&format!("sweep run {sweep} --spans {spans} --out {part}"));
    assert_eq!(folder.read("part/journal").lines().count(), 10);
    assert_eq!(good(&format!("sweep wanted {sweep} {part} --json")).trim(), "[]");
    good(&format!("merge {part} --out {whole}"));
}

#[test]
fn impossible_spans_are_rejected() {
    let (folder, _) = Folder::with("sweep/experiment.toml", EXPERIMENT);
    let [sweep, part] = ["sweep", "part"].map(|name| folder.path(name));
    for wrong in [
        r#"[{"point":2,"first":0,"last":0}]"#,
        r#"[{"point":0,"first":1,"last":0}]"#,
        r#"[{"point":0,"first":0,"last":18446744073709551615}]"#,
        r#"[{"point":0,"first":0}]"#,
        r#"[{"point":0,"first":0,"last":0,"count":1}]"#,
    ] {
        let spans = folder.write("spans.json", wrong);
        refused_for(&format!("sweep run {sweep} --spans {spans} --out {part}"), "spans.json");
    }
}

/// Runs the loop in docs/scaling.md unchanged, with `pavior` from this build.
#[cfg(unix)]
#[test]
fn the_documented_loop_runs() {
    let docs = include_str!("../../../../docs/scaling.md");
    let mut blocks = docs.split("```sh\n").map(|block| block.split("```").next().unwrap());
    let printed = blocks.find(|block| block.contains("sweep wanted")).unwrap();
    let folder = Folder::new();
    let experiment = "load = [1, 2]\njobs = 100\nprecision = 0.01\nmax-replications = 30\n";
    folder.write("examples/turning.toml", experiment);
    let program = Path::new(env!("CARGO_BIN_EXE_pavior")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let output = std::process::Command::new("sh")
        .args(["-eu", "-c", printed])
        .current_dir(folder.path(""))
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", crate::stderr(&output));
    assert!(Path::new(&folder.path("parts/3")).is_dir(), "there were fewer than three turns");
    assert!(Path::new(&folder.path("whole/results.csv")).is_file());
}
