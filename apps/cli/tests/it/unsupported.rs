//! Tests `--skip-unsupported`. With this option, combinations that do not apply are skipped and
//! reported; without it, they are an error.

use serde_json::{Value, json};

use crate::{Folder, good, noted, refused_for};

/// Commands with a list of strategies, one of which does not work on the machine.
const COMMANDS: [&str; 3] = [
    "simulate --load 1 --jobs 20 --replications 2 --no-timing --machine mesh:4x4x4 --strategy \
     ff,2db,tff",
    "bench --attempts 50 --rounds 1 --machine mesh:4x4x4 --strategy ff,2db,tff",
    "explain --shape 2x2x2 --busy /dev/null --machine mesh:4x4x4 --strategy ff,2db,tff",
];

#[test]
fn errors_name_unsupported_values_and_the_option_to_skip_them() {
    for command in COMMANDS {
        let reason = "2db does not work on mesh:4x4x4: it requires a square mesh";
        refused_for(command, reason);
        refused_for(command, "use --skip-unsupported to skip it");
        let only = command.replace("ff,2db,tff", "2db --skip-unsupported");
        refused_for(&only, "nothing is left to compare: strategy 2db does not work");
    }
}

#[test]
fn skipped_values_are_reported() {
    for command in COMMANDS {
        let (reply, notes) = noted(&format!("{command} --skip-unsupported"), "");
        assert!(notes.contains("note: Left out: strategy 2db does not work"), "{notes}");
        let reply: Value = serde_json::from_str(&reply).unwrap();
        let skipped = &reply["skipped"][0];
        let named = ["parameter", "value", "machine"].map(|key| skipped[key].clone());
        assert_eq!(named, ["strategy", "2db", "mesh:4x4x4"].map(|word| json!(word)), "{reply}");
        let key = if command.starts_with("explain") { "strategies" } else { "results" };
        let rows = &reply[key];
        let left: Vec<&Value> =
            rows.as_array().unwrap().iter().map(|row| &row["strategy"]).collect();
        assert_eq!(left, ["ff", "tff"]);
    }
    let table = good(&format!("{} --skip-unsupported --format table", COMMANDS[0]));
    assert!(table.contains("Left out: strategy 2db does not work on mesh:4x4x4"), "{table}");
    // If nothing is skipped, the list is present but empty.
    let run = COMMANDS[0].replace("ff,2db,tff", "ff");
    let skipped = |line: &str| crate::json(line, "")["skipped"].take();
    assert_eq!(skipped(&format!("{run} --skip-unsupported")), json!([]));
    assert_eq!(skipped(&run), Value::Null);
}

#[test]
fn unsupported_schedulers_are_skipped() {
    let run = "simulate --service messages:5 --jobs 10 --replications 1 --strategy tff --scheduler \
               fcfs,easy-freedom --no-timing";
    refused_for(run, "use --skip-unsupported to skip it");
    let (_, notes) = noted(&format!("{run} --skip-unsupported"), "");
    assert!(notes.contains("Left out: scheduler easy-freedom on"), "{notes}");
}

/// Writes an experiment with two machines. The strategy `2db` works on only one of them.
fn experiment(folder: &Folder, name: &str, skips: &str) -> String {
    let described = format!(
        "{skips}machine = ['mesh:4x4', 'mesh:4x4x4']\nstrategy = ['2db', 'ff']\nload = [1, 2]\n\
         jobs = 20\nreplications = 2\ntiming = false\n[[figure]]\nname = 'f'\ny = 'turnaround'\n\
         where = {{ machine = 'mesh:4x4x4' }}\n"
    );
    folder.write(name, described)
}

#[test]
fn experiments_skip_combinations_and_resume() {
    let folder = Folder::new();
    let file = experiment(&folder, "plain.toml", "");
    let never = format!("experiment {file} --out {}", folder.path("never"));
    refused_for(&never, "or use --skip-unsupported");
    refused_for(&never, "plain.toml:2:13");

    // The option, the key in the file, and both together have the same effect, whether or not
    // shards are used.
    let keyed = experiment(&folder, "keyed.toml", "skip-unsupported = true\n");
    let run = format!("experiment {file} --skip-unsupported --out {}", folder.path("whole"));
    let (reply, notes) = noted(&run, "");
    assert!(notes.contains("Left out: strategy 2db"), "{notes}");
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!(reply["skipped"].as_array().unwrap().len(), 1);
    assert_eq!(reply["results"].as_array().unwrap().len(), 6, "2db runs on the other machine");
    let report = folder.read("whole/report.html");
    // The sentence appears in the introduction and in the figure's description. Lines below the
    // figure are wrapped.
    assert_eq!(report.matches("Left out: strategy 2db does not work on").count(), 2);
    assert_eq!(report.matches("Left out:").count(), 3);
    let shards = ["1/2", "2/2"].map(|part| {
        let out = folder.path(&part.replace('/', "-"));
        good(&format!("experiment {keyed} --shard {part} --skip-unsupported --out {out}"));
        out
    });
    let merged = folder.path("merged");
    good(&format!("merge {} {} --out {merged}", shards[0], shards[1]));
    for name in ["results.csv", "replications.csv", "differences.csv", "f.svg", "experiment.toml"] {
        let [whole, merged] = ["whole", "merged"].map(|out| folder.read(&format!("{out}/{name}")));
        assert!(whole == merged, "{name} differs");
    }
    good(&format!("plot {merged}"));
    good(&format!("{run} --resume"));
    refused_for(&format!("experiment {file}"), "or use --skip-unsupported");
    let off = experiment(&folder, "off.toml", "skip-unsupported = false\n");
    refused_for(&format!("experiment {off} --skip-unsupported"), "sets skip-unsupported = false");
}

#[test]
fn a_skipped_baseline_is_an_error() {
    let folder = Folder::new();
    let described = "machine = 'mesh:4x4x4'\nstrategy = ['2db', 'ff', 'tff']\nbaseline = '2db'\n\
                     skip-unsupported = true\n";
    let file = folder.write("e.toml", described);
    refused_for(&format!("experiment {file}"), "the baseline was skipped: strategy 2db");
}
