use std::fs;
use std::path::Path;

use pavior_files::{Directory, FileError, Resume, Run, known, note, verify};

fn run(fingerprint: &str) -> Run {
    Run {
        name: "e".into(),
        fingerprint: fingerprint.into(),
        version: "0.1.0".into(),
        paper: None,
        shard: "1/1".into(),
        command: "pavior experiment e.toml".into(),
    }
}

const TEXT: (&str, &str) = ("experiment.toml", "machine = 'mesh:4x4'\n");
const TEXT_BYTES: (&str, &[u8]) = (TEXT.0, TEXT.1.as_bytes());
const RESUME: Resume = Resume { resume: true, discard_damaged: false };
const DISCARD: Resume = Resume { resume: true, discard_damaged: true };

/// A directory whose process was killed after these lines.
fn unfinished(path: &Path, lines: &[&str]) {
    let directory = Directory::open(path).unwrap();
    directory.begin(&run("a"), TEXT, Resume::default()).unwrap();
    let mut journal = directory.journal(&run("a"), &[]).unwrap();
    for line in lines {
        journal.keep(line).unwrap();
    }
}

#[test]
fn a_directory_that_holds_something_else_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.txt"), "1").unwrap();
    fs::write(folder.path().join(".notes.partial"), "2").unwrap();
    let error = Directory::open(folder.path()).map(drop).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("holds no experiment"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn only_partial_files_of_ours_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    unfinished(folder.path(), &[]);
    let ours = folder.path().join(".pavior-0123456789abcdef.partial");
    let others = [".notes.partial", ".pavior-short.partial", ".pavior-0123456789abcde!.partial"]
        .map(|name| folder.path().join(name));
    fs::write(&ours, "").unwrap();
    for path in &others {
        fs::write(path, "").unwrap();
    }
    Directory::open(folder.path()).unwrap().begin(&run("a"), TEXT, RESUME).unwrap();
    assert!(!ours.exists());
    fs::write(&ours, "").unwrap();
    Directory::lock(folder.path()).unwrap();
    assert!(!ours.exists(), "a directory of directories is cleaned, too");
    assert!(others.iter().all(|path| path.exists()));
}

#[test]
fn one_process_at_a_time_and_the_lock_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/below");
    let first = Directory::open(&path).unwrap();
    assert!(Directory::open(&path).map(drop).unwrap_err().to_string().contains("one at a time"));
    drop(first);
    drop(Directory::open(&path).unwrap());
}

#[test]
fn every_byte_of_a_journal_counts_but_a_cut_last_line() {
    let folder = tempfile::tempdir().unwrap();
    unfinished(folder.path(), &["0 0 12", "0 1 13", "1 0 -"]);
    let path = folder.path().join("journal");
    let whole = fs::read(&path).unwrap();
    let all = known(folder.path(), "a", false).unwrap();
    assert_eq!(all.journal, ["0 0 12", "0 1 13", "1 0 -"]);
    let line_of = |index: usize| whole[..index].split(|&byte| byte == b'\n').count();
    for index in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[index] ^= 0x01;
        fs::write(&path, &bytes).unwrap();
        if index + 1 == whole.len() {
            // Without its end, a last line is one that was cut: it is run anew.
            assert_eq!(known(folder.path(), "a", false).unwrap().journal, all.journal[..2]);
            continue;
        }
        match known(folder.path(), "a", false) {
            Err(FileError::Damaged { line: Some(line), .. }) => {
                assert_eq!(line as usize, line_of(index), "byte {index}");
            }
            other => panic!("byte {index}: {other:?}"),
        }
        let rest = known(folder.path(), "a", true).unwrap();
        assert!(rest.discarded >= 1 && rest.journal.iter().all(|line| all.journal.contains(line)));
    }
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let cut = known(folder.path(), "a", false).unwrap();
        assert_eq!(cut.journal, all.journal[..cut.journal.len()]);
    }
    // A journal of another run.
    fs::write(&path, &whole).unwrap();
    let error = known(folder.path(), "b", false).unwrap_err().to_string();
    assert!(error.contains("journal, line 1,") && error.contains("--discard-damaged"), "{error}");
}

#[test]
fn a_run_is_resumed_only_where_it_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    unfinished(folder.path(), &["0 0 12"]);
    let directory = Directory::open(folder.path()).unwrap();
    assert!(directory.begin(&run("a"), TEXT, Resume::default()).is_err());
    assert!(directory.begin(&run("b"), TEXT, RESUME).unwrap_err().to_string().contains("another"));
    let known = directory.begin(&run("a"), TEXT, RESUME).unwrap();
    assert_eq!(known.journal, ["0 0 12"]);
    let mut journal = directory.journal(&run("a"), &known.journal).unwrap();
    journal.keep("0 1 13").unwrap();
    directory.finish(&run("a"), [("results.csv", &b"x,y\n1,2\n"[..])]).unwrap();
    assert!(!folder.path().join("journal").exists());
    let note = note(folder.path()).unwrap().unwrap();
    assert!(note.finished);
    verify(folder.path(), &note, "results.csv").unwrap();
    for index in 0..8 {
        let mut bytes = b"x,y\n1,2\n".to_vec();
        bytes[index] ^= 1;
        fs::write(folder.path().join("results.csv"), bytes).unwrap();
        assert!(verify(folder.path(), &note, "results.csv").is_err());
    }
    let path = folder.path().join("run.json");
    let text = fs::read_to_string(&path).unwrap().replace("\"1/1\"", "\"1/2\"");
    fs::write(&path, text).unwrap();
    assert!(directory.begin(&run("a"), TEXT, RESUME).is_err());
    directory.begin(&run("a"), TEXT, DISCARD).unwrap();
    assert!(!pavior_files::note(folder.path()).unwrap().unwrap().finished);
}

#[test]
fn every_byte_of_a_finished_directory_counts() {
    let folder = tempfile::tempdir().unwrap();
    let directory = Directory::open(folder.path()).unwrap();
    directory.begin(&run("a"), TEXT, Resume::default()).unwrap();
    let mut journal = directory.journal(&run("a"), &[]).unwrap();
    journal.keep("0 0 12").unwrap();
    let files: [(&str, &[u8]); 6] = [
        ("replications.csv", b"load,replication,turnaround,checksum\n1,0,12,a1\n"),
        ("results.csv", b"load,metric,mean,ci95\n1,turnaround,12,\n"),
        ("results.json", b"{\"results\":[{\"mean\":12}]}\n"),
        ("timings.csv", b"load,replication,allocation_ns\n1,0,88.5\n"),
        ("turnaround.svg", b"<svg><title>12</title></svg>\n"),
        TEXT_BYTES,
    ];
    directory.finish(&run("a"), files).unwrap();
    drop(directory);
    let sound = || -> Result<(), FileError> {
        let note = note(folder.path())?.expect("it holds a run");
        files.iter().try_for_each(|(name, _)| verify(folder.path(), &note, name))
    };
    sound().unwrap();
    let mut tried = 0;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let whole = fs::read(&path).unwrap();
        for index in 0..whole.len() {
            for flip in [0x01, 0x20, 0x80] {
                let mut bytes = whole.clone();
                bytes[index] ^= flip;
                fs::write(&path, &bytes).unwrap();
                let name = path.file_name().unwrap().display();
                match sound() {
                    Err(FileError::Damaged { .. }) => tried += 1,
                    other => panic!("{name}, byte {index}, {flip:#x}: {other:?}"),
                }
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    sound().unwrap();
    println!("{tried} changes of a byte, all found");
}
