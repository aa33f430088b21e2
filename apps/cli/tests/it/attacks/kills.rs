//! Tests that a killed command leaves the old output file unchanged, and that the next command that
//! writes to the folder removes any temporary files.

use std::time::{Duration, Instant};

use crate::{Folder, good, start};

/// Returns the number of temporary files left by unfinished writes.
fn partial(folder: &Folder) -> usize {
    let is_partial = |name: &&String| name.starts_with(".pavior-") && name.ends_with(".partial");
    folder.names().iter().filter(is_partial).count()
}

/// Writes a short log to a different file.
fn write_other(folder: &Folder) {
    let out = folder.path("other.swf");
    good(&format!("trace generate lublin --nodes 4 --jobs 2 --out {out}"));
}

/// Starts writing a long log, and kills the writer (SIGKILL) as soon as its temporary file exists.
/// Returns true if the writer left a temporary file.
fn killed(folder: &Folder) -> bool {
    let out = folder.path("log.swf");
    let mut child = start(&format!("trace generate lublin --nodes 64 --jobs 100000 --out {out}"));
    let began = Instant::now();
    while partial(folder) == 0 {
        if child.try_wait().unwrap().is_some() || began.elapsed() > Duration::from_mins(1) {
            break;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    let _ = child.kill();
    child.wait().unwrap();
    partial(folder) > 0
}

#[test]
fn the_next_output_removes_files_of_killed_processes() {
    let kills = pavior_trials::size(3, 3, 40);
    let (mut tried, mut failed) = (0, 0);
    for _ in 0..kills {
        let folder = Folder::new();
        folder.write("log.swf", "as it was");
        if !killed(&folder) {
            // The command ended before it was killed.
            continue;
        }
        tried += 1;
        let kept = folder.read("log.swf") == "as it was";
        write_other(&folder);
        let clean = folder.names() == ["log.swf", "other.swf"];
        failed += usize::from(!kept || !clean);
    }
    pavior_trials::attacked("cli", "kill -9 while a single output is written", tried, failed);
}

#[test]
fn files_of_running_processes_are_kept() {
    let folder = Folder::new();
    let out = folder.path("alive.csv");
    let mut alive = pavior::files::Output::create(out.as_ref()).unwrap();
    write_other(&folder);
    assert_eq!(partial(&folder), 1);
    std::io::Write::write_all(&mut alive, b"whole").unwrap();
    alive.finish().unwrap();
    assert_eq!(folder.names(), ["alive.csv", "other.swf"]);
}
