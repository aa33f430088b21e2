//! The directory of an experiment: a lock, a journal that outlives being killed, and files that are
//! whole or not there.
//!
//! While a run goes on, its finished replications are lines of `journal`. When it is done, they are
//! in `replications.csv` and `timings.csv`, and the journal is removed. `run.json` says what the
//! directory holds, from the first moment, and the checksum of every file at the end.

mod note;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pavior_files::{FileError, Limits, Lock, append, is_empty, read_if_there, shown, write_whole};
use pavior_kernel::Checksum;
use thiserror::Error;

use crate::{JournalEntry, Publication, Specification, Store};
use note::Clock;
pub use note::{Note, Run};

/// The experiment's own file, copied into its directory.
pub const EXPERIMENT: &str = "experiment.toml";

const JOURNAL: &str = "journal";
const RUN: &str = "run.json";
const REPLICATIONS: &str = "replications.csv";
const TIMINGS: &str = "timings.csv";

/// Why a directory cannot be used.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// One of its files cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is in use, or holds something else.
    #[error("{path} {reason}")]
    Taken {
        /// Its name, to be shown.
        path: String,
        /// Why it cannot be used, as the rest of the sentence.
        reason: &'static str,
    },
    /// A line of a file does not have the checksum that it was written with.
    #[error(
        "{path}, line {line}, was changed since it was written: its checksum is wrong; --resume \
         --discard-damaged runs what it held anew"
    )]
    DamagedLine {
        /// Its name, to be shown.
        path: String,
        /// The line, from 1.
        line: u64,
    },
    /// A file does not have the checksum that it was written with.
    #[error(
        "{path} was changed since it was written, or was written by an earlier version: its \
         checksum is wrong; --resume --discard-damaged runs what it held anew"
    )]
    DamagedFile {
        /// Its name, to be shown.
        path: String,
    },
}

impl DirectoryError {
    /// Whether the user can do otherwise (bad usage or bad input), or the system failed.
    pub fn is_usage(&self) -> bool {
        !matches!(self, DirectoryError::File(error) if !error.is_usage())
    }

    fn taken(path: &Path, reason: &'static str) -> DirectoryError {
        DirectoryError::Taken { path: shown(path), reason }
    }

    fn line(path: &Path, line: u64) -> DirectoryError {
        DirectoryError::DamagedLine { path: shown(path), line }
    }

    fn file(path: &Path) -> DirectoryError {
        DirectoryError::DamagedFile { path: shown(path) }
    }
}

/// A directory that this process alone may change.
pub struct Directory {
    path: PathBuf,
    _lock: Lock,
    clock: Clock,
}

/// How a run uses its directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resume {
    /// Go on with a run that the directory holds.
    pub resume: bool,
    /// Leave out what is damaged, so that it is run anew, instead of stopping at it.
    pub discard_damaged: bool,
}

/// The replications that a directory holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Those of its journal, and those of its finished files.
    pub entries: Vec<JournalEntry>,
    /// Damaged lines that were left out.
    pub discarded: u64,
}

/// A run that goes on in its directory, and the store of its replications.
pub struct OpenRun {
    directory: Directory,
    run: Run,
    text: String,
    journal: Box<dyn Write + Send>,
}

impl Directory {
    /// Makes a directory where there is none, and locks it. A directory that holds other files, and
    /// no run, is not touched.
    ///
    /// # Errors
    /// If another process works in it, if it holds something else, or if it cannot be written.
    pub fn open(path: &Path) -> Result<Directory, DirectoryError> {
        if !path.join(RUN).exists() && !is_empty(path)? {
            let reason = "is not empty, and holds no experiment; choose another --out";
            return Err(DirectoryError::taken(path, reason));
        }
        let Some(lock) = Lock::take(path)? else {
            let reason = "is in use: another process is working in it; one at a time";
            return Err(DirectoryError::taken(path, reason));
        };
        Ok(Directory { path: path.to_path_buf(), _lock: lock, clock: Clock::start() })
    }

    /// Begins a run: a new one in an empty directory, or the same one again. `text` describes the
    /// experiment.
    ///
    /// # Errors
    /// If it holds a run and `resume` is not set; if it holds another run; if a line is damaged and
    /// `discard_damaged` is not set.
    pub fn begin(
        self,
        run: &Run,
        text: &str,
        specification: &Specification,
        how: Resume,
    ) -> Result<(OpenRun, Known), DirectoryError> {
        let path = &self.path;
        let note = match note(path) {
            Err(DirectoryError::DamagedFile { .. }) if how.resume && how.discard_damaged => None,
            other => other?,
        };
        if let Some(note) = &note {
            if !how.resume {
                let reason = "holds an experiment already; the command that began it goes on under \
                              --resume, --out chooses another directory";
                return Err(DirectoryError::taken(path, reason));
            }
            if note.run.fingerprint != run.fingerprint {
                return Err(DirectoryError::taken(path, other_run(&note.run, run)));
            }
        }
        pavior_files::remove_unfinished(path)?;
        let mut known = journal(path, &run.fingerprint, how.discard_damaged)?;
        let sealed = |entry: &JournalEntry| entry.line(&run.fingerprint) + "\n";
        let lines: String = known.entries.iter().map(sealed).collect();
        let finished = finished(path, note.as_ref(), specification, how.discard_damaged)?;
        known.add(finished, specification);
        // What a finished directory says of itself stays as long as nothing is run anew.
        if !note.is_some_and(|note| note.finished) {
            let checksum = Checksum::of(text.as_bytes()).to_string();
            self.write_note(run, false, [(EXPERIMENT.to_string(), checksum)])?;
        }
        write(path, EXPERIMENT, text.as_bytes())?;
        let file = path.join(JOURNAL);
        if read_if_there(&file, Limits::LINES)?.is_none_or(|old| old != lines) {
            write(path, JOURNAL, lines.as_bytes())?;
        }
        let journal = append(&file)?;
        let (run, text) = (run.clone(), text.to_string());
        Ok((OpenRun { directory: self, run, text, journal }, known))
    }

    fn write_note(
        &self,
        run: &Run,
        finished: bool,
        files: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), FileError> {
        let note = Note { run: run.clone(), finished, files: files.into_iter().collect() };
        write(&self.path, RUN, note.text(self.clock).as_bytes())
    }
}

impl OpenRun {
    /// Writes the files of a run that is done, and removes the journal when they are safe.
    ///
    /// # Errors
    /// If a file cannot be written; the journal then stays.
    pub fn finish(&self, files: &[Publication]) -> Result<(), DirectoryError> {
        let OpenRun { directory, run, text, .. } = self;
        let path = &directory.path;
        let files = files.iter().map(|file| (file.name.as_str(), file.bytes.as_slice()));
        let mut checksums = std::collections::BTreeMap::new();
        for (name, bytes) in files.chain([(EXPERIMENT, text.as_bytes())]) {
            write(path, name, bytes)?;
            checksums.insert(name.to_string(), Checksum::of(bytes).to_string());
        }
        let journal = path.join(JOURNAL);
        let anew = read_if_there(&journal, Limits::LINES)?.is_some_and(|lines| !lines.is_empty());
        let same = |note: Note| note.finished && note.files == checksums;
        if anew || !note(path).is_ok_and(|note| note.is_some_and(same)) {
            directory.write_note(run, true, checksums)?;
        }
        Ok(pavior_files::remove(&journal)?)
    }
}

impl Store for OpenRun {
    /// Adds a line in one write: when this returns, it outlives the process.
    fn keep(&mut self, entry: &JournalEntry) -> io::Result<()> {
        self.journal.write_all((entry.line(&self.run.fingerprint) + "\n").as_bytes())
    }
}

impl Known {
    /// Adds what else is known, and leaves out what the experiment does not have.
    fn add(&mut self, other: Known, specification: &Specification) {
        self.entries.extend(other.entries);
        self.discarded += other.discarded;
        let (points, metrics) = (specification.points.len(), specification.metrics.len());
        self.entries.retain(|entry| entry.point < points && entry.sample.values.len() == metrics);
    }
}

/// What a directory says that it holds; none if it holds no run.
///
/// # Errors
/// If `run.json` was changed since it was written.
pub fn note(directory: &Path) -> Result<Option<Note>, DirectoryError> {
    Note::read(&directory.join(RUN))
}

/// Every replication that a directory holds, finished or not; none if it holds no run.
///
/// # Errors
/// If a line or a file is damaged.
pub fn known(
    directory: &Path,
    specification: &Specification,
) -> Result<Vec<JournalEntry>, DirectoryError> {
    let Some(note) = note(directory)? else { return Ok(Vec::new()) };
    let mut known = journal(directory, &note.run.fingerprint, false)?;
    known.add(finished(directory, Some(&note), specification, false)?, specification);
    verify(directory, &note, &[EXPERIMENT, REPLICATIONS, TIMINGS])?;
    Ok(known.entries)
}

/// What the journal of a directory holds. A last line that was cut is no damage: its process was
/// killed while it wrote.
/// Lines that were changed or are of another run are errors, unless they are to be discarded.
fn journal(directory: &Path, key: &str, discard_damaged: bool) -> Result<Known, DirectoryError> {
    let path = directory.join(JOURNAL);
    let text = read_if_there(&path, Limits::LINES)?.unwrap_or_default();
    let mut known = Known::default();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let Some(line) = line.strip_suffix('\n') else { break };
        match JournalEntry::parse(line, key) {
            Some(entry) => known.entries.push(entry),
            None if discard_damaged => known.discarded += 1,
            None => return Err(DirectoryError::line(&path, index as u64 + 1)),
        }
    }
    Ok(known)
}

/// The replications of a finished directory. Without a note, its times cannot be verified.
fn finished(
    directory: &Path,
    note: Option<&Note>,
    specification: &Specification,
    discard_damaged: bool,
) -> Result<Known, DirectoryError> {
    let path = directory.join(REPLICATIONS);
    let whole = |path: &Path| -> Result<Option<String>, FileError> {
        Ok(read_if_there(path, Limits::LINES)?.filter(|text| !text.is_empty()))
    };
    let Some(text) = whole(&path)? else { return Ok(Known::default()) };
    // Times that were changed are no times; measured anew they are others in any case.
    let timings = match note.map_or(Ok(()), |note| verify(directory, note, &[TIMINGS])) {
        Err(_) if discard_damaged => None,
        verified => verified.and_then(|()| Ok(whole(&directory.join(TIMINGS))?))?,
    };
    let timings = timings.as_ref().map(String::as_bytes);
    match specification.read_replications(text.as_bytes(), timings) {
        Err(_) if discard_damaged => Ok(Known { entries: Vec::new(), discarded: 1 }),
        Err(_) => Err(DirectoryError::line(&path, 1)),
        Ok(found) => match found.damaged.first() {
            Some(&line) if !discard_damaged => Err(DirectoryError::line(&path, line)),
            _ => Ok(Known { entries: found.entries, discarded: found.damaged.len() as u64 }),
        },
    }
}

/// Compares finished files with the checksums that `run.json` has of them; a file that it does not
/// list is not compared.
///
/// # Errors
/// If a byte of one was changed, or it is not there.
pub fn verify(directory: &Path, note: &Note, names: &[&str]) -> Result<(), DirectoryError> {
    /// The results of an experiment may be of any length: they are not kept.
    const ANY: Limits = Limits { line: u64::MAX, total: u64::MAX };
    for name in names {
        let Some(expected) = note.files.get(*name) else { continue };
        let path = directory.join(name);
        let mut checksum = Checksum::default();
        let mut reader = pavior_files::open(&path, ANY)?;
        let mut buffer = [0; 1 << 14];
        loop {
            match io::Read::read(&mut reader, &mut buffer) {
                Ok(0) => break,
                Ok(length) => checksum.add(&buffer[..length]),
                Err(error) => return Err(FileError::read(&path, &error).into()),
            }
        }
        if checksum.to_string() != *expected {
            return Err(DirectoryError::file(&path));
        }
    }
    Ok(())
}

fn write(directory: &Path, name: &str, bytes: &[u8]) -> Result<(), FileError> {
    write_whole(&directory.join(name), |out| out.write_all(bytes))
}

/// In what a directory's run differs from another.
fn other_run(old: &Run, new: &Run) -> &'static str {
    let quick = |run: &Run| run.paper.as_ref().map(|(_, quick)| *quick);
    match (quick(old), quick(new)) {
        (Some(true), Some(false)) if old.name == new.name => {
            "holds a quick reproduction; add --quick to go on with it, or choose another --out"
        }
        (Some(false), Some(true)) if old.name == new.name => {
            "holds a full reproduction; leave --quick out to go on with it, or choose another --out"
        }
        _ => {
            "holds another experiment, or one of another version or of other inputs: its results \
             cannot be mixed with these; choose another --out"
        }
    }
}
