//! Tests that a killed command leaves the old output file unchanged. The next command that writes
//! to the folder removes any temporary files.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::good;

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().to_string()).collect();
    names.sort();
    names
}

fn is_partial(name: &str) -> bool {
    name.starts_with(".pavior-") && name.ends_with(".partial")
}

/// Starts to write a long log, and kills the writer (SIGKILL) as soon as its file exists. Returns
/// true if the writer left a temporary file.
fn killed(folder: &Path) -> bool {
    let out = folder.join("log.swf");
    let generate = ["trace", "generate", "lublin", "--nodes", "64", "--jobs", "100000", "--out"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_pavior"))
        .args(generate)
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !names(folder).iter().any(|name| is_partial(name)) {
        if child.try_wait().unwrap().is_some() || began.elapsed() > Duration::from_mins(1) {
            break;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    let _ = child.kill();
    child.wait().unwrap();
    names(folder).iter().any(|name| is_partial(name))
}

#[test]
fn what_kills_leave_is_removed_by_the_next_output() {
    let kills = pavior_trials::size(3, 3, 40);
    let (mut tried, mut failed) = (0, 0);
    for _ in 0..kills {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.swf");
        std::fs::write(&log, "as it was").unwrap();
        if !killed(folder.path()) {
            // The command ended before it was killed.
            continue;
        }
        tried += 1;
        let kept = std::fs::read_to_string(&log).unwrap() == "as it was";
        let other = folder.path().join("other.swf");
        let other = other.to_str().unwrap();
        good(&["trace", "generate", "lublin", "--nodes", "4", "--jobs", "2", "--out", other]);
        let clean = names(folder.path()) == ["log.swf", "other.swf"];
        failed += usize::from(!kept || !clean);
    }
    pavior_trials::attacked("cli", "kill -9 while a single output is written", tried, failed);
}

#[test]
fn what_a_living_process_writes_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("alive.csv");
    let mut alive = pavior::files::Output::create(&out).unwrap();
    let other = folder.path().join("other.swf");
    let other = other.to_str().unwrap();
    good(&["trace", "generate", "lublin", "--nodes", "4", "--jobs", "2", "--out", other]);
    assert_eq!(names(folder.path()).iter().filter(|name| is_partial(name)).count(), 1);
    std::io::Write::write_all(&mut alive, b"whole").unwrap();
    alive.finish().unwrap();
    assert_eq!(names(folder.path()), ["alive.csv", "other.swf"]);
}
