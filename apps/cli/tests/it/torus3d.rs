//! `pavior slurm lint` and `pavior slurm generate`.

use std::path::Path;

use serde_json::Value;

use crate::{good, pavior, refused_for, stderr, stdout};

const MACHINE: &str = "machine = \"torus:4x4x4\"\nnodes = \"n{:03}\"\npartition = \"mesh\"\n";

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

#[test]
fn a_generated_file_is_clean_and_places_its_mix() {
    let folder = tempfile::tempdir().unwrap();
    let config = written(folder.path(), "pavior.toml", MACHINE);
    let topology = folder.path().join("topology.yaml");
    let topology = topology.to_str().unwrap();
    let mix = ["--mix", "1:3,4x4x1,8,64"];
    let generate = ["slurm", "--config", &config, "generate", "--out", topology];
    assert_eq!(good(&[&generate[..], &mix].concat()), "");
    let lint = ["slurm", "lint", topology, "--nodes", "n[000-063]"];
    let told: Value = serde_json::from_str(&good(&[&lint[..], &mix].concat())).unwrap();
    assert_eq!(told["findings"].as_array().unwrap().len(), 0);
    let fates: Vec<&Value> =
        told["mix"].as_array().unwrap().iter().map(|one| &one["fate"]).collect();
    assert_eq!(fates, ["placed"; 4]);
    // The same from a file, and other sizes from a log.
    let sizes = written(folder.path(), "sizes", "1:3\n4x4x1 # flat\n8 64\n");
    let listed = good(&["slurm", "--config", &config, "generate", "--mix-file", &sizes]);
    assert_eq!(listed, std::fs::read_to_string(topology).unwrap());
    let log = "1 0 0 10 7 -1 -1 7 10 -1 1 1 1 1 1 -1 -1 -1\n".repeat(2);
    let log = written(folder.path(), "log.swf", &log);
    let output = pavior(&[&lint[..], &["--log", &log]].concat(), "");
    let told: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((output.status.code(), &told["mix"][0]["fate"]), (Some(1), &"refused".into()));
}

#[test]
fn findings_have_lines_and_a_status() {
    let folder = tempfile::tempdir().unwrap();
    let shallow = "- topology: t\n  torus3d:\n    toruses:\n      - name: p\n        \
                   dims: {x: 2, y: 1, z: 1}\n        nodes: n[0-1]\n    placements:\n      \
                   - dims: {x: 1, y: 1, z: 1}\n";
    let path = written(folder.path(), "a\u{202e}.yaml", shallow);
    let output = pavior(&["slurm", "lint", &path, "--format", "table"], "");
    let told = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains(".yaml:7:5: ignored [unknown-key]: Slurm ignores `placements`"),
        "{told}"
    );
    assert!(
        told.contains(".yaml:4:9: ignored [no-placements]") && !told.contains('\u{202e}'),
        "{told}"
    );
    assert_eq!(stderr(&output), "error: 2 findings\n");
    let rows = stdout(&pavior(&["slurm", "lint", &path, "--format", "csv"], ""));
    assert!(
        rows.starts_with("file,line,column,effect,rule,message\n") && rows.lines().count() == 3
    );
}

#[test]
fn what_cannot_be_read_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "t.yaml", "- a: &x 1\n  b: *x\n");
    refused_for(&["slurm", "lint", &path], "an alias");
    refused_for(&["slurm", "lint", &path], "t.yaml:2:6:");
    refused_for(&["slurm", "lint", "/nowhere.yaml"], "nowhere");
    let path = written(folder.path(), "t.yaml", "- topology: t\n  flat: true\n");
    refused_for(&["slurm", "lint", &path, "--mix", "4,0"], "neither a number of nodes nor a box");
    refused_for(&["slurm", "lint", &path, "--nodes", "n["], "no list");
    refused_for(&["slurm", "lint", &path, "--first", "3"], "--log");
    refused_for(&["slurm", "generate", "--mix", "4"], "--config");
    let config = written(folder.path(), "pavior.toml", MACHINE);
    refused_for(&["slurm", "--config", &config, "generate"], "--mix");
    refused_for(&["slurm", "--config", &config, "generate", "--mix", "7"], "no size");
    let output = pavior(&["slurm", "--config", &config, "generate", "--mix", "7,8"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("1 size of the mix in no box of the machine: 7"));
    let endless = written(folder.path(), "long.yaml", &"# \n".repeat(2 << 20));
    refused_for(&["slurm", "lint", &endless], "long.yaml");
}
