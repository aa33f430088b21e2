//! Tests `--skip-unsupported`. With the option, combinations that do not apply are left out of a
//! comparison, and reported. Without the option, they are an error.

use std::path::Path;

use serde_json::{Value, json};

use crate::{good, pavior, refused_for, stderr, stdout};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns every command that takes a list of strategies. One strategy in the list does not work on
/// the machine.
fn commands(busy: &str) -> [Vec<&str>; 3] {
    let list = ["--machine", "mesh:4x4x4", "--strategy", "ff,2db,tff"];
    let commands: [&[&str]; 3] = [
        &["simulate", "--load", "1", "--jobs", "20", "--replications", "2", "--no-timing"],
        &["bench", "--attempts", "50", "--rounds", "1"],
        &["explain", "--shape", "2x2x2", "--busy", busy],
    ];
    commands.map(|command| [command, &list].concat())
}

#[test]
fn an_error_names_what_does_not_apply_and_the_option() {
    let folder = tempfile::tempdir().unwrap();
    let busy = folder.path().join("busy");
    std::fs::write(&busy, "").unwrap();
    for command in commands(text(&busy)) {
        let reason = "2db does not work on mesh:4x4x4: it divides a square mesh";
        refused_for(&command, reason);
        refused_for(&command, "--skip-unsupported leaves it out");
        let only = command.iter().map(|one| if *one == "ff,2db,tff" { "2db" } else { one });
        let mut only: Vec<&str> = only.collect();
        only.push("--skip-unsupported");
        refused_for(&only, "nothing is left to compare: strategy 2db does not work");
    }
}

#[test]
fn what_is_left_out_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let busy = folder.path().join("busy");
    std::fs::write(&busy, "").unwrap();
    for command in commands(text(&busy)) {
        let run = |more: &[&str]| pavior(&[&command, more].concat(), "");
        let output = run(&["--skip-unsupported", "--format", "json"]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains("note: Left out: strategy 2db does not work"));
        let told: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let skipped = &told["skipped"][0];
        let named = ["parameter", "value", "machine"].map(|key| skipped[key].clone());
        assert_eq!(named, ["strategy", "2db", "mesh:4x4x4"].map(|word| json!(word)), "{told}");
        let rows = if command[0] == "explain" { &told["strategies"] } else { &told["results"] };
        let left: Vec<&Value> =
            rows.as_array().unwrap().iter().map(|row| &row["strategy"]).collect();
        assert_eq!(left, ["ff", "tff"]);
    }
    let command = ["simulate", "--jobs", "20", "--replications", "2", "--no-timing"];
    let more = ["--machine", "mesh:4x4x4", "--strategy", "2db,ff", "--format", "table"];
    let table = good(&[&command[..], &more, &["--skip-unsupported"]].concat());
    assert!(table.contains("Left out: strategy 2db does not work on mesh:4x4x4"), "{table}");
    // If nothing is left out, the list is present but empty.
    let json = good(&[&command[..], &["--strategy", "ff", "--skip-unsupported"]].concat());
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["skipped"], json!([]));
    let json = good(&[&command[..], &["--strategy", "ff"]].concat());
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["skipped"], Value::Null);
}

#[test]
fn schedulers_that_do_not_apply_are_left_out() {
    let run = ["simulate", "--service", "messages:5", "--jobs", "10", "--replications", "1"];
    let more = ["--strategy", "tff", "--scheduler", "fcfs,easy-freedom", "--no-timing"];
    let command = [&run[..], &more].concat();
    refused_for(&command, "--skip-unsupported leaves it out");
    let output = pavior(&[&command[..], &["--skip-unsupported"]].concat(), "");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("Left out: scheduler easy-freedom on"), "{}", stderr(&output));
}

/// Writes an experiment with two machines. The strategy `2db` works on only one of them.
fn experiment(folder: &Path, name: &str, skips: &str) -> String {
    let file = folder.join(name);
    let described = format!(
        "{skips}machine = ['mesh:4x4', 'mesh:4x4x4']\nstrategy = ['2db', 'ff']\nload = [1, 2]\n\
         jobs = 20\nreplications = 2\ntiming = false\n[[figure]]\nname = 'f'\ny = 'turnaround'\n\
         where = {{ machine = 'mesh:4x4x4' }}\n"
    );
    std::fs::write(&file, described).unwrap();
    text(&file).to_string()
}

#[test]
fn experiments_leave_out_combinations_and_go_on_with_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let file = experiment(folder.path(), "plain.toml", "");
    refused_for(&["experiment", &file, "--out", text(&at("never"))], "--skip-unsupported does");
    let refused = pavior(&["experiment", &file, "--out", text(&at("never"))], "");
    assert!(stderr(&refused).contains("plain.toml:2:13"), "{}", stderr(&refused));

    // The option, the key in the file, and both together have the same effect, with and without
    // shards.
    let keyed = experiment(folder.path(), "keyed.toml", "skip-unsupported = true\n");
    let whole = at("whole");
    let output = pavior(&["experiment", &file, "--skip-unsupported", "--out", text(&whole)], "");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("Left out: strategy 2db"), "{}", stderr(&output));
    let told: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(told["skipped"].as_array().unwrap().len(), 1);
    assert_eq!(told["results"].as_array().unwrap().len(), 6, "2db runs on the other machine");
    let report = std::fs::read_to_string(whole.join("report.html")).unwrap();
    // The sentence appears in the introduction and in the figure's description. Lines below the
    // figure are wrapped.
    assert_eq!(report.matches("Left out: strategy 2db does not work on").count(), 2);
    assert_eq!(report.matches("Left out:").count(), 3);
    let shards = ["1/2", "2/2"].map(|part| {
        let out = at(&part.replace('/', "-"));
        let run =
            ["experiment", &keyed, "--shard", part, "--skip-unsupported", "--out", text(&out)];
        good(&run);
        out
    });
    let merged = at("merged");
    good(&["merge", text(&shards[0]), text(&shards[1]), "--out", text(&merged)]);
    let read = |folder: &Path, name: &str| std::fs::read(folder.join(name)).unwrap();
    for name in ["results.csv", "replications.csv", "differences.csv", "f.svg", "experiment.toml"] {
        assert!(read(&whole, name) == read(&merged, name), "{name} differs");
    }
    good(&["plot", text(&merged)]);
    let again = ["experiment", &file, "--skip-unsupported", "--resume", "--out", text(&whole)];
    good(&again);
    refused_for(&again[..2], "--skip-unsupported does");
    let off = experiment(folder.path(), "off.toml", "skip-unsupported = false\n");
    refused_for(&["experiment", &off, "--skip-unsupported"], "has skip-unsupported = false");
}

#[test]
fn a_baseline_that_is_left_out_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("e.toml");
    let described = "machine = 'mesh:4x4x4'\nstrategy = ['2db', 'ff', 'tff']\nbaseline = '2db'\n\
                     skip-unsupported = true\n";
    std::fs::write(&file, described).unwrap();
    refused_for(&["experiment", text(&file)], "the baseline is left out: strategy 2db");
}
