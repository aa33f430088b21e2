//! Tests real job logs, if they are available (`pavior_trials::log`).

use serde_json::Value;

use crate::good;

pub(crate) fn log(name: &str) -> Option<String> {
    pavior_trials::log(name).map(|path| path.display().to_string())
}

fn metrics(arguments: &[&str]) -> Value {
    let results: Value = serde_json::from_str(&good(arguments)).unwrap();
    results["results"][0]["metrics"].clone()
}

#[test]
fn sdsc_paragon_runs_on_its_mesh() {
    let Some(log) = log("SDSC-Par-1996-3.1-cln.swf.gz") else { return };
    for machine in ["mesh:20x20", "mesh:16x22"] {
        let run = ["simulate", "--trace", &log, "--machine", machine, "--no-timing"];
        let turned = metrics(&[&run[..], &["--strategy", "tff"]].concat());
        assert_eq!(turned["completed"]["mean"], 32135.0);
        assert_eq!(turned["rejected"]["mean"], 0.0);
        let plain = metrics(&[&run[..], &["--strategy", "tff:plain", "--first", "3000"]].concat());
        let fast = metrics(&[&run[..], &["--strategy", "tff", "--first", "3000"]].concat());
        assert_eq!(plain, fast);
    }
    let batch = metrics(&[
        "simulate",
        "--trace",
        &log,
        "--machine",
        "mesh:16x22",
        "--strategy",
        "tff",
        "--filter",
        "partition=2",
        "--no-timing",
    ]);
    assert_eq!(batch["completed"]["mean"], 18441.0);
}

#[test]
fn the_head_of_cea_curie_runs_on_a_torus() {
    let Some(log) = log("CEA-Curie-2011-2.1-cln.swf.gz") else { return };
    let metrics = metrics(&[
        "simulate",
        "--trace",
        &log,
        "--machine",
        "torus:48x48x41",
        "--strategy",
        "tff",
        "--first",
        "5000",
        "--no-timing",
    ]);
    assert_eq!(metrics["completed"]["mean"], 5000.0);
}
