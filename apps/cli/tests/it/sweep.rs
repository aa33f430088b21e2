//! Tests `pavior sweep`: the lists of work for other engines, and the results of these engines.

use std::path::Path;

use crate::{good, refused};

const EXPERIMENT: &str = "strategy = ['ff', 'tff']\njobs = 30\nreplications = 5\n";

/// Creates a folder that contains an experiment in `sweep`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sweep")).unwrap();
    std::fs::write(folder.path().join("sweep/experiment.toml"), EXPERIMENT).unwrap();
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn what_is_wanted_has_the_form_of_the_contract_and_can_be_run() {
    let folder = folder();
    let [sweep, spans, part, whole] =
        ["sweep", "spans.json", "part", "whole"].map(|name| folder.path().join(name));
    let wanted = good(&["sweep", "wanted", text(&sweep), "--most", "3", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&wanted).unwrap();
    let expected = serde_json::json!([
        { "point": 0, "first": 0, "last": 2 },
        { "point": 0, "first": 3, "last": 4 },
        { "point": 1, "first": 0, "last": 2 },
        { "point": 1, "first": 3, "last": 4 },
    ]);
    assert_eq!(found, expected);
    std::fs::write(&spans, wanted).unwrap();
    good(&["sweep", "run", text(&sweep), "--spans", text(&spans), "--out", text(&part)]);
    assert_eq!(good(&["sweep", "wanted", text(&sweep), text(&part), "--json"]).trim(), "[]");
    good(&["merge", text(&part), "--out", text(&whole)]);
}

#[test]
fn spans_that_the_experiment_cannot_have_are_refused() {
    let folder = folder();
    let [sweep, spans, part] = ["sweep", "spans.json", "part"].map(|name| folder.path().join(name));
    for wrong in [
        r#"[{"point":2,"first":0,"last":0}]"#,
        r#"[{"point":0,"first":1,"last":0}]"#,
        r#"[{"point":0,"first":0,"last":18446744073709551615}]"#,
        r#"[{"point":0,"first":0}]"#,
        r#"[{"point":0,"first":0,"last":0,"count":1}]"#,
    ] {
        std::fs::write(&spans, wrong).unwrap();
        let run = ["sweep", "run", text(&sweep), "--spans", text(&spans), "--out", text(&part)];
        assert!(refused(&run).contains("spans.json"), "{wrong}");
    }
}

/// Runs the loop in docs/scaling.md unchanged, with `pavior` from this build.
#[cfg(unix)]
#[test]
fn the_loop_of_the_docs_runs_as_it_is_printed() {
    let docs = include_str!("../../../../docs/scaling.md");
    let mut blocks = docs.split("```sh\n").map(|block| block.split("```").next().unwrap());
    let printed = blocks.find(|block| block.contains("sweep wanted")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("examples")).unwrap();
    let experiment = "load = [1, 2]\njobs = 100\nprecision = 0.01\nmax-replications = 30\n";
    std::fs::write(folder.path().join("examples/turning.toml"), experiment).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_pavior")).parent().unwrap();
    let path = format!("{}:{}", text(program), std::env::var("PATH").unwrap());
    let output = std::process::Command::new("sh")
        .args(["-eu", "-c", printed])
        .current_dir(folder.path())
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", crate::stderr(&output));
    assert!(folder.path().join("parts/3").is_dir(), "there were fewer than three turns");
    assert!(folder.path().join("whole/results.csv").is_file());
}
