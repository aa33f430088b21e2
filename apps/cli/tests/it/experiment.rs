//! Tests `pavior experiment` and `merge`. An experiment gives identical results even if it is
//! killed and resumed, run in shards, or interrupted by a lock or a full disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::{Folder, good, json, pavior, refused, refused_for, start, stderr};

/// An experiment of a few hundred replications that takes about a second on one thread.
const SWEEP: &str = "machine = 'mesh:16x16'\nstrategy = ['ff', 'tff', 'bl']\nload = [0.5, 1, 2]\n\
    jobs = 2000\nprecision = 0.01\nmax-replications = 50\n[[figure]]\nname = 'turnaround'\n\
    y = 'turnaround'\n";

/// A short experiment.
const SMALL: &str = "machine = 'mesh:8x8'\nstrategy = ['ff', 'tff']\nload = [1, 2, 3]\njobs = 60\n\
    replications = 4\n[[figure]]\nname = 'f'\ny = 'utilization'\n";

/// Writes an experiment, and returns the command that runs it, without the output name.
fn experiment(folder: &Folder, text: &str) -> String {
    format!("experiment {} --out", folder.write("sweep.toml", text))
}

/// Returns the files that must be identical no matter how an experiment was run or interrupted.
fn files(directory: &str) -> BTreeMap<String, Vec<u8>> {
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
fn killed_and_resumed_runs_give_the_same_bytes() {
    let folder = Folder::new();
    let run = experiment(&folder, SWEEP);
    let [whole, killed] = ["whole", "killed"].map(|name| folder.path(name));
    good(&format!("{run} {whole}"));
    let resumed = format!("{run} {killed} --resume");
    let mut kills = 0;
    // The pauses vary between 3 ms and 63 ms, and are the same in every run of the test.
    let pauses = (0..pavior_trials::size(3, 20, 20))
        .map(|moment: u64| Duration::from_millis(3 + moment * 7919 % 61));
    for pause in pauses {
        let mut child = start(&format!("{resumed} --threads 1"));
        std::thread::sleep(pause);
        // SIGKILL leaves the program no chance to clean up.
        child.kill().unwrap();
        kills += i32::from(!child.wait().unwrap().success());
    }
    eprintln!("killed {kills} times");
    assert!(kills > 0, "it was never killed in time");
    good(&resumed);
    assert!(files(&whole) == files(&killed), "the bytes differ");
    assert!(!files(&killed).contains_key("journal"));
    // Resuming a finished run changes nothing, not even the recorded time of the run.
    let run = folder.read("killed/run.json");
    good(&format!("{resumed} --threads 1"));
    assert!(files(&whole) == files(&killed));
    assert_eq!(folder.read("killed/run.json"), run);
}

#[test]
fn a_truncated_journal_loses_only_its_last_entry() {
    let folder = Folder::new();
    let run = experiment(&folder, SMALL);
    let [whole, torn] = ["whole", "torn"].map(|name| folder.path(name));
    good(&format!("{run} {whole}"));
    good(&format!("{run} {torn} --shard 1/2"));
    // Recreate the files left by a process that was killed while writing a line.
    let replications = folder.read("torn/replications.csv");
    let cut = replications.lines().take(3).collect::<Vec<_>>().join("\n");
    folder.write("torn/replications.csv", cut + "\n");
    folder.write("torn/journal", b"1 0 60 0 0 cbf29ce4 \xff");
    good(&format!("{run} {torn} --resume"));
    assert!(files(&whole) == files(&torn));
}

#[test]
fn shards_merge_to_the_same_bytes() {
    let folder = Folder::new();
    let run = experiment(&folder, SMALL);
    let [whole, merged, other, again] =
        ["whole", "merged", "other", "again"].map(|name| folder.path(name));
    good(&format!("{run} {whole} --threads 1"));
    let shards = [1, 2, 3, 4].map(|index| folder.path(&format!("shard-{index}")));
    let run_shard = |index: usize| {
        good(&format!("{run} {} --shard {index}/4", shards[index - 1]));
    };
    run_shard(4);
    run_shard(2);
    let merge = format!("merge {} {} --out {merged}", shards[1], shards[3]);
    refused_for(&merge, "3 of 6 points are incomplete");
    assert!(!Path::new(&merged).exists(), "nothing was written");
    run_shard(1);
    run_shard(3);
    good(&format!("merge {} --out {merged}", shards.join(" ")));
    assert!(files(&whole) == files(&merged), "the bytes differ");
    // Merging keeps the measured times.
    let lines = |name: &str| folder.read(name).lines().count();
    assert_eq!(lines("merged/timings.csv"), lines("whole/timings.csv"));
    // A different experiment cannot be merged with this one.
    let changed = experiment(&folder, &SMALL.replace("jobs = 60", "jobs = 61"));
    good(&format!("{changed} {other}"));
    let both = format!("merge {} {other} --out {again}", shards[0]);
    refused_for(&both, "do not belong to the same experiment");
}

#[test]
fn directories_of_other_experiments_are_rejected() {
    let folder = Folder::new();
    let run = experiment(&folder, SMALL);
    let [out, full] = ["out", "full"].map(|name| folder.path(name));
    good(&format!("{run} {out}"));
    refused_for(&format!("{run} {out}"), "--resume");
    experiment(&folder, &SMALL.replace("jobs = 60", "jobs = 61"));
    refused_for(&format!("{run} {out} --resume"), "another experiment");
    folder.write("full/thesis.tex", "years of work");
    for resume in ["--resume", ""] {
        refused_for(&format!("{run} {full} {resume}"), "not empty");
    }
    assert_eq!(std::fs::read_dir(&full).unwrap().count(), 1, "what is another's is not touched");
    let file = folder.path("sweep.toml");
    refused_for(&format!("{run} {file}"), "cannot write");
    for shard in ["0/3", "4/3", "x", "1/0"] {
        refused(&format!("{run} never --shard {shard}"));
    }
}

#[test]
fn a_directory_is_locked_by_one_process() {
    let folder = Folder::new();
    let run = format!("{} {}", experiment(&folder, SMALL), folder.path("out"));
    std::fs::create_dir(folder.path("out")).unwrap();
    let lock = std::fs::File::create(folder.path("out/.lock")).unwrap();
    lock.lock().unwrap();
    refused_for(&run, "in use by another process");
    drop(lock);
    good(&run);
}

#[test]
fn a_full_disk_keeps_finished_replications() {
    if pavior_trials::left_out("an experiment on a full disk") {
        return;
    }
    let folder = Folder::new();
    let run = experiment(&folder, SWEEP);
    let [disk, out, whole] = ["disk", "disk/out", "whole"].map(|name| folder.path(name));
    std::fs::create_dir(&disk).unwrap();
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=96k", "tmpfs", &disk]).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        let why = "no small file system can be mounted";
        return pavior_trials::skipped("an experiment on a full disk", why, "PAVIOR_REQUIRE_MOUNT");
    }
    let output = pavior(&format!("{run} {out}"), "");
    let message = stderr(&output);
    let journal = std::fs::read_to_string(folder.path("disk/out/journal"));
    let kept = journal.map_or(0, |text| text.lines().count());
    let larger = Command::new("mount").args(["-o", "remount,size=8m", &disk]).output();
    let resumed = pavior(&format!("{run} {out} --resume"), "");
    good(&format!("{run} {whole}"));
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
    let folder = Folder::new();
    let run = experiment(&folder, "machine = 'mesh:8x8'\nstrategy = ['ff', 'tlb']\n");
    let message = refused(&format!("{run} never"));
    assert!(message.contains("did you mean `tbl`?"), "{message}");
    let place = format!("{}:2:20:", folder.path("sweep.toml"));
    assert!(message.contains(&place), "{message}");
    let mut lines = message.lines().skip_while(|line| !line.contains(&place));
    let (line, mark) = (lines.next().unwrap(), lines.next().unwrap());
    assert_eq!(line.find("tlb"), mark.find("^^^"), "{message}");
    experiment(&folder, "trace = 'none.swf'\nstrategy = 'ff'\n");
    refused_for(&format!("{run} {}", folder.path("out")), "none.swf");
    refused("experiment no-such-file.toml");
    refused("experiment");
    assert!(good("experiment --schema").contains("\"arrival-scale\""));
}

#[test]
fn all_example_experiments_are_valid() {
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
fn log_paths_are_relative_to_the_experiment_file() {
    let folder = Folder::new();
    let line =
        |n: u32| format!("{n} {} -1 60 {} -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1", n * 20, 1 + n % 9);
    let log = (0..40).map(line).collect::<Vec<_>>().join("\n") + "\n";
    folder.write("log.swf", &log);
    let run = experiment(
        &folder,
        "trace = 'log.swf'\nmachine = 'mesh:4x4'\nstrategy = ['ff', 'tff']\n\
         arrival_scale = [0.5, 1]\nshape-rule = ['compact', 'exact']\n",
    );
    let run = format!("{run} {}", folder.path("out"));
    let results = json(&run, "");
    let rows = results["results"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[0]["load"], serde_json::Value::Null);
    assert_eq!((&rows[0]["arrival_scale"], &rows[0]["replications"]), (&0.5.into(), &1.into()));
    assert_eq!(rows[0]["metrics"]["turnaround"]["unit"], "s");
    // A log without messages has no latency.
    assert_eq!(rows[0]["metrics"].get("latency"), Some(&serde_json::Value::Null));
    let resumed = format!("{run} --resume");
    good(&resumed);
    // With a changed log, the experiment is a different one.
    folder.write("log.swf", log.replace(" 60 ", " 61 "));
    refused_for(&resumed, "another experiment");
}

/// Checks that a flipped byte in a finished directory is detected, or has no effect on the reported
/// results.
#[test]
fn changed_bytes_in_a_finished_directory_are_detected_or_harmless() {
    let folder = Folder::new();
    let tiny = SMALL.replace("jobs = 60", "jobs = 5");
    let [out, merged] = ["out", "merged"].map(|name| folder.path(name));
    let run = format!("{} {out}", experiment(&folder, &tiny));
    good(&run);
    let results = folder.read("out/results.csv");
    for name in ["replications.csv", "timings.csv", "run.json", "experiment.toml", "results.csv"] {
        let path = folder.path(&format!("out/{name}"));
        let Ok(whole) = std::fs::read(&path) else { continue };
        // Flip only a few bytes spread over each file. The tests of `files` flip every byte.
        for index in (0..whole.len()).step_by(whole.len() / 6 + 1) {
            let mut bytes = whole.clone();
            bytes[index] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            let _ = std::fs::remove_dir_all(&merged);
            let merge = pavior(&format!("merge {out} --out {merged}"), "");
            if merge.status.success() {
                assert_eq!(folder.read("merged/results.csv"), results, "{name}");
            } else {
                assert!(stderr(&merge).contains(name), "{name}: {}", stderr(&merge));
            }
            std::fs::write(&path, &whole).unwrap();
        }
    }
    // A changed replication is reported with its line number, and is rerun on request.
    let whole = folder.read("out/replications.csv");
    let second = whole.lines().nth(2).unwrap();
    let changed = whole.replace(second, &second.replacen('.', ",", 1));
    folder.write("out/replications.csv", changed);
    refused_for(&format!("{run} --resume"), "replications.csv, line 3,");
    good(&format!("{run} --resume --discard-damaged"));
    assert_eq!(folder.read("out/replications.csv"), whole);
    assert_eq!(folder.read("out/results.csv"), results);
}
