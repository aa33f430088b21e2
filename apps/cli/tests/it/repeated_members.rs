//! Tests that every parser of untrusted JSON rejects repeated members, with a message that contains
//! the member's name.

use crate::{Folder, good_input, refused, refused_for, refused_input_for};

#[test]
fn repeated_keys_are_rejected_by_the_live_allocator() {
    for (line, name) in [
        (r#"{"op":"show","op":"list"}"#, "op"),
        (r#"{"op":"allocate","job":7,"nodes":4,"nodes":1}"#, "nodes"),
        (r#"{"op":"allocate","job":7,"j\u006fb":8,"nodes":1}"#, "job"),
        (r#"{"op":"hold","job":7,"parts":[{"base":[0,0],"base":[1,1],"sides":[1,1]}]}"#, "base"),
        (r#"{"op":"fail","node":[0,0],"node":[1,1]}"#, "node"),
        (r#"{"op":"drain","nodes":[[0,0]],"nodes":[]}"#, "nodes"),
    ] {
        let input = format!("{line}\n{{\"op\":\"show\"}}\n");
        let answers = good_input("allocate --machine mesh:4x4 --strategy ff", &input);
        let error = format!("{{\"error\":\"the member `{name}` appears twice (column ");
        assert!(answers.starts_with(&error), "{line}: {answers}");
        assert!(answers.contains("\"free\":16,\"busy\":0,\"failed\":0"), "{line}: {answers}");
    }
}

#[test]
fn repeated_keys_are_rejected_in_busy_jobs_and_weights() {
    let held = r#"{"job":1,"parts":[{"base":[0,0],"sides":[4,2],"base":[1,1]}]}"#;
    for command in ["explain", "unblock"] {
        let shape = format!("{command} --machine mesh:4x4 --busy - --shape 2x2");
        refused_input_for(&shape, held, "`base` appears twice");
    }
    let (_folder, weights) =
        Folder::with("weights.jsonl", "{\"job\":1,\"weight\":1,\"weight\":9}\n");
    let run = format!("unblock --machine mesh:4x4 --busy - --shape 2x2 --weights {weights}");
    let held = r#"{"job":1,"parts":[{"base":[0,0],"sides":[4,2]}]}"#;
    refused_input_for(&run, held, "`weight` appears twice");
}

#[test]
fn repeated_keys_are_rejected_in_other_inputs() {
    let message = r#"{"at":0,"from":[0,0],"to":[1,1],"to":[2,2]}"#;
    refused_input_for("network --machine mesh:4x4", message, "`to` appears twice");

    let folder = Folder::new();
    let simulate = "simulate --machine mesh:4x4 --strategy ff --trace";
    let log = folder.write("log.sim", "0 4 100\n");
    let line = r#"{"op":"fail","node":[0,0],"at":60,"at":6}"#;
    let failures = folder.write("failures.jsonl", format!("{line}\n"));
    refused_for(&format!("{simulate} {log} --failures {failures}"), "`at` appears twice");

    let line = r#"{"job":1,"start":0,"end":9,"end":5,"parts":[{"base":[0,0],"sides":[1,1]}]}"#;
    let placements = folder.write("placements.jsonl", format!("{line}\n"));
    refused_for(&format!("plot {placements} --machine mesh:4x4"), "`end` appears twice");

    let job = r#"{"id":"1","subtime":0,"res":4,"profile":"d"}"#;
    let profiles = r#"{"d":{"type":"delay","delay":60}}"#;
    let text = format!("{{\"nb_res\":16,\"jobs\":[{job}],\n\"profiles\":{profiles}}}");
    for (from, to, name, place) in [
        ("\"res\":4", "\"res\":4,\"extra_data\":{\"shape\":[2,2],\"shape\":[1,4]}", "shape", ":1:"),
        (
            "\"res\":4",
            r#""res":4,"extra_data":"{\"shape\":[2,2],\"shape\":[1,4]}""#,
            "shape",
            ":1:",
        ),
        ("\"res\":4", "\"res\":4,\"walltime\":9,\"walltime\":8", "walltime", ":1:"),
        ("60}", "60},\"d\":{\"type\":\"delay\",\"delay\":6}", "d", ":2:"),
        ("60}", "60,\"delay\":6}", "delay", ":2:"),
    ] {
        let workload = folder.write("workload.json", text.replacen(from, to, 1));
        let error = refused(&format!("{simulate} {workload}"));
        let place = format!("workload.json{place}");
        assert!(error.contains(&format!("`{name}` appears twice")), "{error}");
        assert!(error.contains(&place), "{error}");
    }
}
