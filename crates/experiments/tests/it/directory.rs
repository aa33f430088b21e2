use std::fs;
use std::path::Path;

use pavior_experiments::directory::{
    self, Directory, DirectoryError, EXPERIMENT, Known, OpenRun, Resume, Run, note, verify,
};
use pavior_experiments::{JournalEntry, Publication, Sample, Specification, Store};

const TEXT: &str = "machine = 'mesh:4x4'\nstrategy = ['ff', 'bf']\nmetrics = ['turnaround']\n";
const RESUME: Resume = Resume { resume: true, discard_damaged: false };
const DISCARD: Resume = Resume { resume: true, discard_damaged: true };

fn run(fingerprint: &str) -> Run {
    Run {
        name: "e".into(),
        fingerprint: fingerprint.into(),
        reproduced: None,
        shard: "1/1".into(),
        command: "pavior experiment e.toml".into(),
    }
}

fn experiment() -> Specification {
    super::read(TEXT)
}

fn entry(point: usize, replication: u64, value: Option<f64>) -> JournalEntry {
    let sample = Sample {
        values: vec![value],
        arrived: 9,
        waiting: 0,
        rejected: 0,
        rejected_set: 0,
        allocation_ns: None,
    };
    JournalEntry { point, replication, sample }
}

fn entries() -> [JournalEntry; 3] {
    [entry(0, 0, Some(12.0)), entry(0, 1, Some(13.5)), entry(1, 0, None)]
}

fn begin(path: &Path, fingerprint: &str, how: Resume) -> Result<(OpenRun, Known), DirectoryError> {
    Directory::open(path)?.begin(&run(fingerprint), TEXT, &experiment(), how)
}

/// Creates a directory like one left by a process that was killed after storing these entries.
fn unfinished(path: &Path, entries: &[JournalEntry]) {
    let (mut run, _) = begin(path, "a", Resume::default()).unwrap();
    for entry in entries {
        run.keep(entry).unwrap();
    }
}

fn known(path: &Path) -> Result<Vec<JournalEntry>, DirectoryError> {
    directory::known(path, &experiment())
}

fn file(name: &str, bytes: &[u8]) -> Publication {
    Publication { name: name.into(), bytes: bytes.into() }
}

#[test]
fn a_directory_that_holds_something_else_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.txt"), "1").unwrap();
    fs::write(folder.path().join(".notes.partial"), "2").unwrap();
    let error = Directory::open(folder.path()).map(drop).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("contains no experiment"), "{error}");
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
    begin(folder.path(), "a", RESUME).unwrap();
    assert!(!ours.exists());
    assert!(others.iter().all(|path| path.exists()));
}

#[test]
fn one_process_at_a_time_and_the_lock_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/below");
    let first = Directory::open(&path).unwrap();
    assert!(Directory::open(&path).map(drop).unwrap_err().to_string().contains("is in use by"));
    drop(first);
    drop(Directory::open(&path).unwrap());
}

#[test]
fn every_byte_of_a_journal_counts_but_a_cut_last_line() {
    let folder = tempfile::tempdir().unwrap();
    let all = entries();
    unfinished(folder.path(), &all);
    let path = folder.path().join("journal");
    let whole = fs::read(&path).unwrap();
    assert_eq!(known(folder.path()).unwrap(), all);
    let line_of = |index: usize| whole[..index].split(|&byte| byte == b'\n').count();
    for index in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[index] ^= 0x01;
        fs::write(&path, &bytes).unwrap();
        if index + 1 == whole.len() {
            // Without its line break, the last line counts as truncated and is ignored.
            assert_eq!(known(folder.path()).unwrap(), all[..2]);
            continue;
        }
        match known(folder.path()) {
            Err(DirectoryError::DamagedLine { line, .. }) => {
                assert_eq!(line as usize, line_of(index), "byte {index}");
            }
            other => panic!("byte {index}: {other:?}"),
        }
        let (_, rest) = begin(folder.path(), "a", DISCARD).unwrap();
        assert!(rest.discarded >= 1 && rest.entries.iter().all(|entry| all.contains(entry)));
    }
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let cut = known(folder.path()).unwrap();
        assert_eq!(cut, all[..cut.len()]);
    }
    // This journal belongs to a different run.
    let other = tempfile::tempdir().unwrap();
    drop(begin(other.path(), "b", Resume::default()).unwrap());
    fs::write(other.path().join("journal"), &whole).unwrap();
    let error = known(other.path()).unwrap_err().to_string();
    assert!(error.contains("journal, line 1,") && error.contains("--discard-damaged"), "{error}");
}

#[test]
fn a_run_is_resumed_only_where_it_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    unfinished(path, &entries()[..1]);
    assert!(begin(path, "a", Resume::default()).is_err());
    assert!(begin(path, "b", RESUME).map(drop).unwrap_err().to_string().contains("another"));
    let (mut open, known) = begin(path, "a", RESUME).unwrap();
    assert_eq!(known.entries, entries()[..1]);
    open.keep(&entries()[1]).unwrap();
    open.finish(&[file("results.csv", b"x,y\n1,2\n")]).unwrap();
    drop(open);
    assert!(!path.join("journal").exists());
    let finished = note(path).unwrap().unwrap();
    assert!(finished.finished);
    verify(path, &finished, &["results.csv"]).unwrap();
    for index in 0..8 {
        let mut bytes = b"x,y\n1,2\n".to_vec();
        bytes[index] ^= 1;
        fs::write(path.join("results.csv"), bytes).unwrap();
        assert!(verify(path, &finished, &["results.csv"]).is_err());
    }
    let text = fs::read_to_string(path.join("run.json")).unwrap().replace("\"1/1\"", "\"1/2\"");
    fs::write(path.join("run.json"), text).unwrap();
    assert!(begin(path, "a", RESUME).is_err());
    drop(begin(path, "a", DISCARD).unwrap());
    assert!(!note(path).unwrap().unwrap().finished);
}

#[test]
fn every_byte_of_a_finished_directory_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (mut open, _) = begin(folder.path(), "a", Resume::default()).unwrap();
    open.keep(&entries()[0]).unwrap();
    let files = [
        file("replications.csv", b"load,replication,turnaround,checksum\n1,0,12,a1\n"),
        file("results.csv", b"load,metric,mean,ci95\n1,turnaround,12,\n"),
        file("results.json", b"{\"results\":[{\"mean\":12}]}\n"),
        file("timings.csv", b"load,replication,allocation_ns\n1,0,88.5\n"),
        file("turnaround.svg", b"<svg><title>12</title></svg>\n"),
    ];
    open.finish(&files).unwrap();
    drop(open);
    let sound = || -> Result<(), DirectoryError> {
        let note = note(folder.path())?.expect("it holds a run");
        files.iter().try_for_each(|file| verify(folder.path(), &note, &[&file.name]))?;
        verify(folder.path(), &note, &[EXPERIMENT])
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
                    Err(DirectoryError::DamagedFile { .. }) => tried += 1,
                    other => panic!("{name}, byte {index}, {flip:#x}: {other:?}"),
                }
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    sound().unwrap();
    println!("{tried} changes of a byte, all found");
}
