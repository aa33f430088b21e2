//! Tests with real job logs, if they are available (`pavior_trials::log`).

use serde_json::Value;

use crate::json;

pub(crate) fn log(name: &str) -> Option<String> {
    pavior_trials::log(name).map(|path| path.display().to_string())
}

/// Returns the metrics of a replayed log.
fn metrics(log: &str, options: &str) -> Value {
    let run = format!("simulate --no-timing --trace {log} {options}");
    json(&run, "")["results"][0]["metrics"].take()
}

#[test]
fn sdsc_paragon_runs_on_its_mesh() {
    let Some(log) = log("SDSC-Par-1996-3.1-cln.swf.gz") else { return };
    for machine in ["mesh:20x20", "mesh:16x22"] {
        let run = |more: &str| metrics(&log, &format!("--machine {machine} --strategy {more}"));
        let turned = run("tff");
        assert_eq!(turned["completed"]["mean"], 32135.0);
        assert_eq!(turned["rejected"]["mean"], 0.0);
        assert_eq!(run("tff:plain --first 3000"), run("tff --first 3000"));
    }
    let batch = metrics(&log, "--machine mesh:16x22 --strategy tff --filter partition=2");
    assert_eq!(batch["completed"]["mean"], 18441.0);
}

#[test]
fn the_head_of_cea_curie_runs_on_a_torus() {
    let Some(log) = log("CEA-Curie-2011-2.1-cln.swf.gz") else { return };
    let metrics = metrics(&log, "--machine torus:48x48x41 --strategy tff --first 5000");
    assert_eq!(metrics["completed"]["mean"], 5000.0);
}
