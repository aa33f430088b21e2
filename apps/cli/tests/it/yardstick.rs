//! Tests `pavior yardstick`: an independent checker accepts its bounds and rejects false ones, and
//! the placements alone suffice to reconstruct its runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::{Folder, good, noted, refused_for, stderr, stdout};

const SCENARIOS: [&str; 3] = ["mesh-light", "mesh-heavy", "mesh-overloaded"];

/// Runs a script from `examples`.
fn script(name: &str, arguments: &[&str]) -> Output {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    Command::new("python3").arg(path).args(arguments).output().unwrap()
}

/// Returns true, and records that the test was skipped, if Python is missing.
fn lacks_python(what: &str) -> bool {
    let is_there = Command::new("python3").arg("--version").output().is_ok();
    if !is_there {
        pavior_trials::skipped(what, "there is no python3", "PAVIOR_REQUIRE_PYTHON");
    }
    !is_there
}

/// Runs the quick yardstick with two strategies. Returns the folder and the rows of the board.
fn quick(folder: &Folder) -> (PathBuf, Vec<Value>) {
    let out = folder.path("yardstick");
    let run = format!("yardstick --quick --strategy ff,mbs --out {out}");
    let rows = serde_json::from_str(&good(&run)).unwrap();
    (out.into(), rows)
}

fn checked(folder: &Path) -> Output {
    script("bounds.py", &[&folder.to_string_lossy()])
}

/// Alters a certificate, and checks the exit status and the output of the checker. Then restores
/// the certificate.
fn planted(folder: &Path, status: i32, message: &str, change: impl FnOnce(&mut Value)) {
    let path = folder.join("bounds.json");
    let whole = std::fs::read_to_string(&path).unwrap();
    let mut certificate: Value = serde_json::from_str(&whole).unwrap();
    change(&mut certificate);
    std::fs::write(&path, certificate.to_string()).unwrap();
    let output = checked(folder);
    std::fs::write(&path, whole).unwrap();
    let text = stdout(&output) + &stderr(&output);
    assert_eq!(output.status.code(), Some(status), "{text}");
    assert!(text.contains(message), "{text}");
}

#[test]
fn certificates_are_verified_and_false_ones_rejected() {
    if lacks_python("certificates of the yardstick") {
        return;
    }
    let folder = Folder::new();
    let (out, rows) = quick(&folder);
    for scenario in SCENARIOS {
        let output = checked(&out.join(scenario));
        assert!(output.status.success(), "{scenario}: {}", stdout(&output));
        assert_eq!(stdout(&output).matches("is proven").count(), 3);
        let own: Vec<&Value> = rows.iter().filter(|row| row["scenario"] == *scenario).collect();
        assert!(own.len() >= 4);
        assert!(own.iter().all(|row| row["gap_h"].as_f64() >= Some(0.0)), "{own:?}");
    }
    let heavy = out.join("mesh-heavy");
    for name in ["completions", "node_completions", "makespan"] {
        let certificate: Value =
            serde_json::from_str(&folder.read("yardstick/mesh-heavy/bounds.json")).unwrap();
        let claim = certificate[name]["claim"].as_i64().unwrap() + 1;
        planted(&heavy, 1, &format!("{name}: {claim} s is not proven"), |bounds| {
            bounds[name]["claim"] = json!(claim);
        });
    }
    planted(&heavy, 2, "-1 is not a whole number from 0", |bounds| {
        bounds["completions"]["proof"]["prices"][3] = json!(-1);
    });
    let other: Value =
        serde_json::from_str(&folder.read("yardstick/mesh-overloaded/bounds.json")).unwrap();
    planted(&heavy, 1, "the certificate is for other jobs", |bounds| *bounds = other.clone());
    // A proof for other jobs is also valid here, but its bound is weaker than the certificate's.
    planted(&heavy, 1, "is not proven", |bounds| {
        bounds["completions"]["proof"] = other["completions"]["proof"].clone();
    });
}

#[test]
fn runs_can_be_reproduced_from_placements() {
    if lacks_python("runs of the yardstick, made again from placements") {
        return;
    }
    let folder = Folder::new();
    let (out, rows) = quick(&folder);
    let placed = folder.path("placed.jsonl");
    for (scenario, strategy, scheduler) in [
        ("mesh-light", "ff", "fcfs"),
        ("mesh-heavy", "mbs", "easy"),
        ("mesh-overloaded", "ff", "easy"),
    ] {
        let jobs = out.join(scenario).join("jobs.json").to_string_lossy().into_owned();
        let machine = "mesh:16x16";
        let run = format!("simulate --trace {jobs} --machine {machine} --placements {placed}");
        good(&format!("{run} --strategy {strategy} --scheduler {scheduler}"));
        let output = script("placements.py", &[&placed, machine, &jobs]);
        assert!(output.status.success(), "{}", stdout(&output));
        let text = stdout(&output);
        assert!(text.contains("60 jobs started, 60 of them ended, 0 faults"), "{text}");
        let turnaround = text.lines().find_map(|line| line.strip_prefix("turnaround: ")).unwrap();
        let hours = turnaround.parse::<f64>().unwrap() / 3600.0;
        let names = |row: &Value| ["scenario", "strategy", "scheduler"].map(|key| row[key].clone());
        let row = rows.iter().find(|row| names(row) == [scenario, strategy, scheduler]).unwrap();
        assert_eq!(row["jobs"], 60);
        assert!((row["turnaround_h"].as_f64().unwrap() - hours).abs() < 1e-4, "{row}: {hours}");
        for (fault, text) in forged(&folder) {
            let output = script("placements.py", &[&fault, machine, &jobs]);
            assert!(stdout(&output).contains(text), "{text}: {}", stdout(&output));
        }
    }
}

/// Writes four incorrect copies of a correct file of placements. Returns their paths, each with the
/// error message that the checker should print.
fn forged(folder: &Folder) -> [(String, &'static str); 4] {
    let lines = folder.json_lines("placed.jsonl");
    let change = |name: &str, change: &dyn Fn(&mut Vec<Value>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        folder.write(name, lines.join("\n"))
    };
    let left_out = change("left-out.jsonl", &|lines| drop(lines.pop()));
    let short = change("short.jsonl", &|lines| {
        let middle = lines[0]["start"].as_f64().unwrap() + 1.0;
        lines[0]["end"] = middle.into();
    });
    let early = change("early.jsonl", &|lines| {
        for key in ["submit", "start", "end"] {
            let later = lines[59][key].as_f64().unwrap() - 1e5;
            lines[59][key] = later.into();
        }
    });
    let twice = change("twice.jsonl", &|lines| {
        let mut again = lines[0].clone();
        for key in ["start", "end"] {
            again[key] = (again[key].as_f64().unwrap() + 1e9).into();
        }
        lines.push(again);
    });
    [
        (left_out, "never starts"),
        (short, "runs for 1.0 of "),
        (early, "is submitted at"),
        (twice, "occurs twice"),
    ]
}

#[test]
fn statements_about_skipped_runs_are_not_judged() {
    let folder = Folder::new();
    let out = folder.path("yardstick");
    let (_, text) = noted(&format!("yardstick --quick --strategy ff --out {out}"), "");
    assert!(text.contains("note: statements not evaluated because their runs were skipped: Y1, "));
    assert!(!text.contains("statements hold"), "{text}");
    let table = folder.read("yardstick/statements.csv");
    assert_eq!(table, "id,verdict,ours,half_width,stated,what\n");
    let parts = folder.read("yardstick/parts.csv");
    let costs: Vec<&str> = parts.lines().nth(1).unwrap().split(',').collect();
    // With only 60 jobs, there are no confidence intervals for the costs.
    assert!(costs[7].parse::<f64>().is_ok() && costs[9].parse::<f64>().is_ok(), "{parts}");
    assert!([4, 6, 8, 10].iter().all(|&width| costs[width].is_empty()), "{parts}");
}

#[test]
fn mistakes_are_refused() {
    let folder = Folder::new();
    let run = format!("yardstick --out {}", folder.path("out"));
    refused_for(&format!("{run} --strategy tlb"), "did you mean `tbl`");
    refused_for(&format!("{run} --quick --threads 0"), "must be at least 1");
    let lock = pavior::files::Lock::take(Path::new(&folder.path("out"))).unwrap();
    refused_for(&format!("{run} --quick"), "is in use by another process");
    drop(lock);
    folder.write("out/notes.txt", "mine");
    refused_for(&run, "is not empty");
}
