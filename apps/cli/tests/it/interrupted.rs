//! Tests that `pavior reproduce all` produces the same statements, figures and tables if it is
//! killed at any stage and resumed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use pavior::experiments::{JournalEntry, Policy, Sample};
use pavior_studies::Paper;

use crate::{Folder, good};

const ALL: &str = "reproduce all --quick --resume --out";

fn start(line: &str) -> Child {
    crate::start(&format!("{line} --threads 1"))
}

/// Kills a run as soon as a file reaches a given length, using SIGKILL so that the run cannot clean
/// up. Returns true if the run was still in progress.
fn kill_when(mut run: Child, file: &Path, bytes: u64) -> bool {
    let there = || std::fs::metadata(file).is_ok_and(|file| file.len() >= bytes);
    while !there() {
        if let Some(end) = run.try_wait().unwrap() {
            assert!(end.success(), "the run failed: {end}");
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    run.kill().unwrap();
    !run.wait().unwrap().success()
}

/// Stores fake replications with identical values, so that a paper's long runs can be skipped.
fn keep_made_up(paper: &str, directory: &Path) {
    let journal = directory.join("journal");
    let run = start(&format!("reproduce {paper} --quick --out {}", directory.display()));
    assert!(kill_when(run, &journal, 0), "the run ended before its journal was seen");
    let paper = Paper::built_in().iter().find(|one| one.name == paper).unwrap();
    let experiment = paper.specification(true).unwrap();
    let sample = Sample {
        values: vec![Some(1.0); experiment.metrics.len()],
        arrived: 1000,
        waiting: 0,
        rejected: 0,
        rejected_set: 0,
        allocation_ns: experiment.timing.then_some(1.0),
    };
    let fingerprint =
        pavior::experiments::directory::note(directory).unwrap().unwrap().run.fingerprint;
    let mut lines = String::new();
    for point in 0..experiment.points.len() {
        let (Policy::Fixed(runs) | Policy::Precision { least: runs, .. }) =
            experiment.policy_at(point);
        for replication in 0..runs {
            let entry = JournalEntry { point, replication, sample: sample.clone() };
            lines += &entry.line(&fingerprint);
            lines.push('\n');
        }
    }
    std::fs::write(journal, lines).unwrap();
}

/// Returns all files of a quick run, keyed by name. If a file contains measured times, its contents
/// are omitted.
fn unmeasured(folder: &Path) -> BTreeMap<String, String> {
    let mut timed: Vec<String> =
        ["timings.csv", "run.json", "report.html"].map(String::from).to_vec();
    for paper in Paper::published() {
        let figures = paper.specification(true).unwrap().figures.into_iter();
        let figures = figures.filter(|figure| figure.y == "allocation_ns");
        let files =
            figures.flat_map(|figure| ["svg", "vl.json"].map(|end| (figure.name.clone(), end)));
        timed.extend(files.map(|(name, end)| format!("{}/{name}.{end}", paper.name)));
    }
    let mut files = BTreeMap::new();
    let mut folders = vec![String::new()];
    while let Some(within) = folders.pop() {
        for entry in std::fs::read_dir(folder.join(&within)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{within}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                folders.push(name + "/");
            } else if timed.iter().any(|end| name.ends_with(end)) {
                files.insert(name, String::new());
            } else {
                files.insert(name, std::fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    files
}

#[test]
fn killed_and_resumed_papers_give_the_same_verdicts() {
    if pavior_trials::left_out("runs of all papers that are killed") {
        return;
    }
    let folder = Folder::new();
    let [whole, killed] = ["whole", "killed"].map(|name| PathBuf::from(folder.path(name)));
    for out in [&whole, &killed] {
        for paper in ["gabl", "nas"] {
            keep_made_up(paper, &out.join(paper));
        }
    }
    good(&format!("{ALL} {}", whole.display()));
    // Kill the command during a paper's runs, while its files are written, between papers, and
    // before the last file is written.
    let moments = [
        ("tbl/journal", 1),
        ("tbl/journal", 9000),
        ("tbl/results.csv", 0),
        ("gabl/results.csv", 0),
        ("nas/report.html", 0),
        ("mfa/journal", 1),
        ("mfa/statements.csv", 0),
        ("statements.csv", 0),
    ];
    let mut kills = 0;
    for (file, bytes) in moments {
        let run = start(&format!("{ALL} {}", killed.display()));
        kills += i32::from(kill_when(run, &killed.join(file), bytes));
    }
    eprintln!("killed {kills} times");
    assert!(kills > 0, "it was never killed in time");
    let printed = good(&format!("{ALL} {} --format csv", killed.display()));
    let read = |path: &Path| std::fs::read_to_string(path.join("statements.csv")).unwrap();
    assert_eq!(printed, read(&killed));
    // The report on all papers contains the statements of each paper.
    let own = Paper::published().into_iter().map(|paper| read(&killed.join(&paper.name)));
    let rows: Vec<String> =
        own.flat_map(|own| own.lines().skip(1).map(String::from).collect::<Vec<_>>()).collect();
    assert_eq!(printed.lines().skip(1).collect::<Vec<_>>(), rows);
    let (whole, killed) = (unmeasured(&whole), unmeasured(&killed));
    assert_eq!(whole.keys().collect::<Vec<_>>(), killed.keys().collect::<Vec<_>>());
    for (name, bytes) in &whole {
        assert!(killed[name] == *bytes, "{name} differs");
    }
}
