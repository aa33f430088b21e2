//! Tests `pavior experiment` and `merge`. An experiment produces the same bytes if it is killed,
//! resumed, run in shards, locked, or run on a full disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::{good, pavior, refused, refused_for, stderr};

/// An experiment of a few hundred replications that takes about a second on one thread.
const SWEEP: &str = "machine = 'mesh:16x16'\nstrategy = ['ff', 'tff', 'bl']\nload = [0.5, 1, 2]\n\
    jobs = 2000\nprecision = 0.01\nmax-replications = 50\n[[figure]]\nname = 'turnaround'\n\
    y = 'turnaround'\n";

/// A short experiment.
const SMALL: &str = "machine = 'mesh:8x8'\nstrategy = ['ff', 'tff']\nload = [1, 2, 3]\njobs = 60\n\
    replications = 4\n[[figure]]\nname = 'f'\ny = 'utilization'\n";

fn experiment(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("sweep.toml");
    std::fs::write(&file, text).unwrap();
    file
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the files whose bytes must not depend on when, where and how often the experiment ran.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if !["timings.csv", "run.json", ".lock"].contains(&name.as_str()) {
            files.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    files
}

#[test]
fn killed_at_many_moments_and_resumed_the_bytes_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(folder.path(), SWEEP);
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    good(&["experiment", text(&file), "--out", text(&whole)]);
    let mut kills = 0;
    // The pauses are not evenly distributed, but they are the same in every run. The speed of the
    // machine varies anyway.
    let pauses = (0..pavior_trials::size(3, 20, 20))
        .map(|moment: u64| Duration::from_millis(3 + moment * 7919 % 61));
    for pause in pauses {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pavior"))
            .args(["experiment", text(&file), "--resume", "--out", text(&killed)])
            .args(["--threads", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(pause);
        // SIGKILL leaves the program no chance to clean up.
        child.kill().unwrap();
        kills += i32::from(!child.wait().unwrap().success());
    }
    eprintln!("killed {kills} times");
    assert!(kills > 0, "it was never killed in time");
    good(&["experiment", text(&file), "--resume", "--out", text(&killed)]);
    assert!(files(&whole) == files(&killed), "the bytes differ");
    assert!(!killed.join("journal").exists());
    // Resuming a finished run changes nothing, not even the recorded time of the run.
    let run = std::fs::read_to_string(killed.join("run.json")).unwrap();
    good(&["experiment", text(&file), "--resume", "--out", text(&killed), "--threads", "1"]);
    assert!(files(&whole) == files(&killed));
    assert_eq!(std::fs::read_to_string(killed.join("run.json")).unwrap(), run);
}

#[test]
fn a_torn_journal_loses_only_what_was_torn() {
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(folder.path(), SMALL);
    let (whole, torn) = (folder.path().join("whole"), folder.path().join("torn"));
    good(&["experiment", text(&file), "--out", text(&whole)]);
    good(&["experiment", text(&file), "--out", text(&torn), "--shard", "1/2"]);
    // This is the state after a kill in the middle of writing a line.
    let replications = std::fs::read_to_string(torn.join("replications.csv")).unwrap();
    let mut cut = replications.lines().take(3).collect::<Vec<_>>().join("\n");
    cut.push('\n');
    std::fs::write(torn.join("replications.csv"), cut).unwrap();
    std::fs::write(torn.join("journal"), b"1 0 60 0 0 cbf29ce4 \xff").unwrap();
    good(&["experiment", text(&file), "--out", text(&torn), "--resume"]);
    assert!(files(&whole) == files(&torn));
}

#[test]
fn shards_merge_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(folder.path(), SMALL);
    let whole = folder.path().join("whole");
    good(&["experiment", text(&file), "--out", text(&whole), "--threads", "1"]);
    let shard = |index: usize| folder.path().join(format!("shard-{index}"));
    let run = |index: usize| {
        let part = format!("{index}/4");
        good(&["experiment", text(&file), "--shard", &part, "--out", text(&shard(index))]);
    };
    run(4);
    run(2);
    let merged = folder.path().join("merged");
    let shards: Vec<PathBuf> = (1..=4).map(shard).collect();
    let merge = ["merge", text(&shards[1]), text(&shards[3]), "--out", text(&merged)];
    refused_for(&merge, "3 of 6 points are not finished");
    assert!(!merged.exists(), "nothing was written");
    run(1);
    run(3);
    let all: Vec<&str> = shards.iter().map(|shard| text(shard)).collect();
    good(&[&["merge"][..], &all, &["--out", text(&merged)]].concat());
    assert!(files(&whole) == files(&merged), "the bytes differ");
    // Measured times are also kept.
    let lines = |path: &Path| std::fs::read_to_string(path).unwrap().lines().count();
    assert_eq!(lines(&merged.join("timings.csv")), lines(&whole.join("timings.csv")));
    // A different experiment cannot be merged with this one.
    let other = folder.path().join("other");
    let changed = experiment(folder.path(), &SMALL.replace("jobs = 60", "jobs = 61"));
    good(&["experiment", text(&changed), "--out", text(&other)]);
    let again = folder.path().join("again");
    refused_for(
        &["merge", all[0], text(&other), "--out", text(&again)],
        "not parts of the same experiment",
    );
}

#[test]
fn directories_are_not_mixed_up() {
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(folder.path(), SMALL);
    let out = folder.path().join("out");
    good(&["experiment", text(&file), "--out", text(&out)]);
    refused_for(&["experiment", text(&file), "--out", text(&out)], "--resume");
    let changed = experiment(folder.path(), &SMALL.replace("jobs = 60", "jobs = 61"));
    refused_for(
        &["experiment", text(&changed), "--out", text(&out), "--resume"],
        "another experiment",
    );
    let full = folder.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("thesis.tex"), "years of work").unwrap();
    for resume in [&["--resume"][..], &[]] {
        let run = [&["experiment", text(&file), "--out", text(&full)], resume].concat();
        assert!(refused(&run).contains("not empty"));
    }
    assert_eq!(std::fs::read_dir(&full).unwrap().count(), 1, "what is another's is not touched");
    refused_for(&["experiment", text(&file), "--out", text(&file)], "cannot write");
    for shard in ["0/3", "4/3", "x", "1/0"] {
        refused(&["experiment", text(&file), "--shard", shard, "--out", "never"]);
    }
}

#[test]
fn one_process_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(folder.path(), SMALL);
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let lock = std::fs::File::create(out.join(".lock")).unwrap();
    lock.lock().unwrap();
    refused_for(&["experiment", text(&file), "--out", text(&out)], "in use by another process");
    drop(lock);
    good(&["experiment", text(&file), "--out", text(&out)]);
}

#[test]
fn a_full_disk_keeps_what_was_finished() {
    if pavior_trials::left_out("an experiment on a full disk") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(folder.path(), SWEEP);
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=96k", "tmpfs", text(&disk)])
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        let why = "no small file system can be mounted";
        return pavior_trials::skipped("an experiment on a full disk", why, "PAVIOR_REQUIRE_MOUNT");
    }
    let out = disk.join("out");
    let output = pavior(&["experiment", text(&file), "--out", text(&out)], "");
    let message = stderr(&output);
    let kept = std::fs::read_to_string(out.join("journal")).map_or(0, |text| text.lines().count());
    let larger = Command::new("mount").args(["-o", "remount,size=8m", text(&disk)]).output();
    let resumed = pavior(&["experiment", text(&file), "--out", text(&out), "--resume"], "");
    let whole = folder.path().join("whole");
    good(&["experiment", text(&file), "--out", text(&whole)]);
    let same = files(&whole) == files(&out);
    let _ = Command::new("umount").arg(&disk).output();
    assert!(!output.status.success() && message.contains("No space left"), "{message}");
    assert!(message.contains("--resume"), "{message}");
    assert!(kept > 20, "{kept}");
    assert!(larger.is_ok_and(|output| output.status.success()));
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    assert!(same, "the bytes differ");
}

#[test]
fn faults_are_underlined_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(folder.path(), "machine = 'mesh:8x8'\nstrategy = ['ff', 'tlb']\n");
    let message = refused(&["experiment", text(&file), "--out", "never"]);
    assert!(message.contains("did you mean `tbl`?"), "{message}");
    let place = format!("{}:2:20:", text(&file));
    assert!(message.contains(&place), "{message}");
    let mut lines = message.lines().skip_while(|line| !line.contains(&place));
    let (line, mark) = (lines.next().unwrap(), lines.next().unwrap());
    assert_eq!(line.find("tlb"), mark.find("^^^"), "{message}");
    let file = experiment(folder.path(), "trace = 'none.swf'\nstrategy = 'ff'\n");
    let out = folder.path().join("out");
    refused_for(&["experiment", text(&file), "--out", text(&out)], "none.swf");
    refused(&["experiment", "no-such-file.toml"]);
    refused(&["experiment"]);
    assert!(good(&["experiment", "--schema"]).contains("\"arrival-scale\""));
}

#[test]
fn the_examples_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = |folder: &Path| std::fs::read_dir(folder).unwrap();
    let mut seen = 0;
    // Experiments on job logs are in a separate folder.
    for entry in entries(&folder).chain(entries(&folder.join("logs"))) {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let read = std::fs::read_to_string(&path).unwrap();
            let experiment = pavior::experiments::Specification::parse(&read, "example");
            assert!(experiment.is_ok_and(|experiment| !experiment.figures.is_empty()), "{path:?}");
            seen += 1;
        }
    }
    assert!(seen >= 3);
}

#[test]
fn logs_are_found_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        |n: u32| format!("{n} {} -1 60 {} -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1", n * 20, 1 + n % 9);
    let log = (0..40).map(line).collect::<Vec<_>>().join("\n") + "\n";
    std::fs::write(folder.path().join("log.swf"), &log).unwrap();
    let file = experiment(
        folder.path(),
        "trace = 'log.swf'\nmachine = 'mesh:4x4'\nstrategy = ['ff', 'tff']\n\
         arrival_scale = [0.5, 1]\nshape-rule = ['compact', 'exact']\n",
    );
    let out = folder.path().join("out");
    let results = good(&["experiment", text(&file), "--out", text(&out), "--format", "json"]);
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    let rows = results["results"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[0]["load"], serde_json::Value::Null);
    assert_eq!((&rows[0]["arrival_scale"], &rows[0]["replications"]), (&0.5.into(), &1.into()));
    assert_eq!(rows[0]["metrics"]["turnaround"]["unit"], "s");
    // A log without messages has no latency.
    assert_eq!(rows[0]["metrics"].get("latency"), Some(&serde_json::Value::Null));
    good(&["experiment", text(&file), "--out", text(&out), "--resume"]);
    // With a different log, it is a different experiment.
    let log = log.replace(" 60 ", " 61 ");
    std::fs::write(folder.path().join("log.swf"), log).unwrap();
    refused_for(
        &["experiment", text(&file), "--out", text(&out), "--resume"],
        "another experiment",
    );
}

/// Checks that a flipped byte in a finished directory is detected, or has no effect on the reported
/// results.
#[test]
fn a_flipped_byte_of_a_finished_directory_is_found_or_without_effect() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = SMALL.replace("jobs = 60", "jobs = 5");
    let file = experiment(folder.path(), &tiny);
    let out = folder.path().join("out");
    good(&["experiment", text(&file), "--out", text(&out)]);
    let results = std::fs::read(out.join("results.csv")).unwrap();
    let merged = folder.path().join("merged");
    for name in ["replications.csv", "timings.csv", "run.json", "experiment.toml", "results.csv"] {
        let path = out.join(name);
        let Ok(whole) = std::fs::read(&path) else { continue };
        // This flips a few bytes spread over each file. The tests of `files` flip every byte.
        for index in (0..whole.len()).step_by(whole.len() / 6 + 1) {
            let mut bytes = whole.clone();
            bytes[index] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            let _ = std::fs::remove_dir_all(&merged);
            let merge = crate::pavior(&["merge", text(&out), "--out", text(&merged)], "");
            if merge.status.success() {
                assert_eq!(std::fs::read(merged.join("results.csv")).unwrap(), results, "{name}");
            } else {
                assert!(crate::stderr(&merge).contains(name), "{name}: {}", crate::stderr(&merge));
            }
            std::fs::write(&path, &whole).unwrap();
        }
    }
    // A changed replication is reported with its line number, and runs again on request.
    let path = out.join("replications.csv");
    let whole = std::fs::read_to_string(&path).unwrap();
    let second = whole.lines().nth(2).unwrap();
    std::fs::write(&path, whole.replace(second, &second.replacen('.', ",", 1))).unwrap();
    let resume = ["experiment", text(&file), "--out", text(&out), "--resume"];
    assert!(refused(&resume).contains("replications.csv, line 3,"), "{}", refused(&resume));
    good(&[&resume[..], &["--discard-damaged"]].concat());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
    assert_eq!(std::fs::read(out.join("results.csv")).unwrap(), results);
}
