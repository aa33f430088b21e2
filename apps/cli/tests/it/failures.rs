//! Tests node failures on the command line: their effect on jobs, and the rejection of invalid
//! input.

use serde_json::Value;

use crate::{Folder, good, json, refused_for};

/// Writes a log and a list of failures, and returns the command that uses them.
fn simulation(folder: &Folder, failures: &str) -> String {
    let log = folder.write("log.sim", "0 4 100\n");
    let failures = folder.write("failures.jsonl", failures);
    let run = "simulate --machine mesh:4 --strategy ff --no-timing";
    format!("{run} --trace {log} --failures {failures}")
}

#[test]
fn an_interrupted_job_starts_from_scratch_or_from_its_checkpoint() {
    // The job needs all four nodes. Node 1 fails at 70 and is repaired at 80.
    let failures =
        "{\"op\":\"fail\",\"node\":[1],\"at\":70}\n{\"op\":\"repair\",\"node\":[1],\"at\":80}\n";
    let folder = Folder::new();
    let run = simulation(&folder, failures);
    let end = |more: &str| {
        let placements = folder.path("placements.jsonl");
        good(&format!("{run} --placements {placements} {more}"));
        let line = &folder.json_lines("placements.jsonl")[0];
        [line["start"].as_u64().unwrap(), line["end"].as_u64().unwrap()]
    };
    assert_eq!(end(""), [80, 180]);
    assert_eq!(end("--checkpoint 30"), [80, 80 + 100 - 60]);
    assert_eq!(end("--checkpoint 71"), [80, 180]);
}

#[test]
fn invalid_failure_lists_are_rejected() {
    for (list, expected) in [
        ("{\"op\":\"fail\",\"node\":[4],\"at\":60}\n", "failures.jsonl:1:"),
        ("{\"op\":\"fail\",\"node\":[0,0],\"at\":60}\n", "failures.jsonl:1:"),
        ("{\"op\":\"break\",\"node\":[1],\"at\":60}\n", "failures.jsonl:1:"),
        ("{\"op\":\"fail\",\"node\":[1],\"at\":-1}\n", "failures.jsonl:1:"),
        ("{\"op\":\"fail\",\"node\":[1]}\n", "failures.jsonl:1:"),
        ("{\"op\":\"fail\",\"node\":[1],\"at\":60}\nnonsense\n", "failures.jsonl:2:"),
    ] {
        let folder = Folder::new();
        refused_for(&simulation(&folder, list), expected);
    }
}

#[test]
fn invalid_failure_options_are_rejected() {
    let run = "simulate --jobs 20 --replications 1 --strategy ff";
    for (more, expected) in [
        ("--mttf 100", "--mttr"),
        ("--mttr 1", "--mttf"),
        ("--mttf 0 --mttr 1", "mean time to failure"),
        ("--mttf 100 --mttr -1", "mean time to repair"),
        ("--mttf inf --mttr 1", "mean time to failure"),
        ("--mttf 100 --mttr nan", "mean time to repair"),
        ("--mttf 100 --mttr 1 --failures list.jsonl", "cannot be combined with"),
        ("--failures nowhere.jsonl", "nowhere.jsonl"),
        ("--checkpoint 5", "--checkpoint"),
        ("--mttf 100 --mttr 1 --checkpoint 0", "--checkpoint 0"),
        ("--mttf 100 --mttr 1 --checkpoint -3", "--checkpoint -3"),
        ("--mttf 100 --mttr 1 --service messages:5", "messages"),
        ("--fail-classes chip:9:1,rack:9:1", "unknown failure class `rack`"),
        ("--fail-classes chip:mttf=9", "has no mttr"),
        ("--fail-classes cube:9:1", "mesh:16x16 has no cube"),
        ("--fail-classes chip:9:1 --mttf 9 --mttr 1", "cannot be combined with --mttf"),
        ("--fail-classes chip:9:1 --service messages:5", "messages"),
        ("--spares 1", "--spares requires failures"),
        ("--fail-classes chip:9:1 --spares 1", "mesh:16x16 is not made of 4x4x4-node cubes"),
        ("--slice 16", "mesh:16x16 is not made of 4x4x4-node cubes"),
        ("--slice 17x17", "it does not fit mesh:16x16 in any orientation"),
        ("--slice big", "is not a valid slice"),
    ] {
        refused_for(&format!("{run} {more}"), expected);
    }
    good(&format!("{run} --mttf 100 --mttr 1 --checkpoint 0.5"));
}

#[test]
fn failure_classes_spares_and_slices_affect_results() {
    let pod = "simulate --machine torus:16x16x16 -s tpu,tpu:static --sides pods --load 0.5 --jobs \
               40 --replications 1 --no-timing --format json \
               --metrics utilization,slice_availability,slice_free,jobs_hit \
               --slice 8x8x16 --fail-classes \
               chip:mttf=3000:mttr=2,cube:mttf=40:mttr=2,switch:400:1";
    let run = |more: &str| json(&format!("{pod} {more}"), "");
    let value = |all: &Value, strategy: usize, metric: &str| -> f64 {
        all["results"][strategy]["metrics"][metric]["mean"].as_f64().unwrap()
    };
    let plain = run("");
    let of = |strategy| value(&plain, strategy, "slice_availability");
    assert!([of(0), of(1)].iter().all(|share| (0.1..1.0).contains(share)), "{plain}");
    assert!(value(&plain, 0, "slice_free") < of(0) && value(&plain, 0, "jobs_hit") > 0.0);
    // Here, slices become unavailable only when switches fail, never when cubes fail.
    let spare = value(&run("--spare-switches 3"), 0, "slice_availability");
    assert!(spare > of(0), "{spare}");
    assert!(value(&run("--spares 49"), 0, "slice_availability") < 1e-9);
}
