//! An experiment's directory, which has a lock, a journal that survives crashes, and files that are
//! never left partially written.
//!
//! During a run, finished replications are stored as lines in `journal`. After the run, they are
//! stored in `replications.csv` and `timings.csv`, and the journal is removed. `run.json` describes
//! the directory's contents from the start of the run. When the run ends, each file's checksum is
//! added to `run.json`.

mod error;
mod known;
mod note;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pavior_files::{FileError, Limits, Lock, append, is_empty, read_if_there, write_whole};
use pavior_kernel::Checksum;

use crate::{JournalEntry, Publication, Specification, Store};
pub use error::DirectoryError;
pub use known::{Known, known, verify};
use note::Clock;
pub use note::{Note, Reproduced, Run};

/// The name under which the experiment file is copied into the directory.
pub const EXPERIMENT: &str = "experiment.toml";

const JOURNAL: &str = "journal";
const RUN: &str = "run.json";
const REPLICATIONS: &str = "replications.csv";
const TIMINGS: &str = "timings.csv";

/// A directory that is locked so that only this process can change it.
pub struct Directory {
    path: PathBuf,
    _lock: Lock,
    clock: Clock,
}

/// Options for using a run's directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resume {
    /// True if the run in the directory may be continued.
    pub resume: bool,
    /// True if damaged replications are discarded and rerun. Otherwise, they cause errors.
    pub discard_damaged: bool,
}

/// A run in progress, which stores its replications in its directory.
pub struct OpenRun {
    directory: Directory,
    run: Run,
    text: String,
    journal: Box<dyn Write + Send>,
}

impl Directory {
    /// Creates a directory if needed and locks it. Rejects a directory that contains files but no
    /// run.
    ///
    /// # Errors
    /// Returns an error if another process is using the directory, if it contains anything but a
    /// run, or if it is not writable.
    pub fn open(path: &Path) -> Result<Directory, DirectoryError> {
        if !path.join(RUN).exists() && !is_empty(path)? {
            let reason = "is not empty, but contains no experiment; choose another directory with \
                          --out";
            return Err(DirectoryError::taken(path, reason));
        }
        let Some(lock) = Lock::take(path)? else {
            let reason = "is in use by another process";
            return Err(DirectoryError::taken(path, reason));
        };
        Ok(Directory { path: path.to_path_buf(), _lock: lock, clock: Clock::start() })
    }

    /// Begins a new run in an empty directory, or resumes the run in the directory. `text` is the
    /// text of the experiment file.
    ///
    /// # Errors
    /// Returns an error if the directory contains a different run, or if it contains any run and
    /// `resume` is not set. Also returns an error if a file cannot be read or written, or if a line
    /// is damaged and `discard_damaged` is not set.
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
                let reason = "already contains an experiment; continue it by adding --resume to \
                              its command, or choose another directory with --out";
                return Err(DirectoryError::taken(path, reason));
            }
            if note.run.fingerprint != run.fingerprint {
                return Err(DirectoryError::taken(path, other_run(&note.run, run)));
            }
        }
        pavior_files::remove_unfinished(path)?;
        let mut known = known::in_journal(path, &run.fingerprint, how.discard_damaged)?;
        let sealed = |entry: &JournalEntry| entry.line(&run.fingerprint) + "\n";
        let lines: String = known.entries.iter().map(sealed).collect();
        let finished = known::in_files(path, note.as_ref(), specification, how.discard_damaged)?;
        known.add(finished, specification);
        // If the run was already finished, keep its note until `finish` replaces it.
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
    /// Returns the directory that contains the run.
    pub fn path(&self) -> &Path {
        &self.directory.path
    }

    /// Writes a finished run's files, and removes the journal once they are safely stored.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written. In that case, the journal remains.
    pub fn finish(&self, files: &[Publication]) -> Result<(), DirectoryError> {
        let OpenRun { directory, run, text, .. } = self;
        let path = &directory.path;
        let files = files.iter().map(|file| (file.name.as_str(), file.bytes.as_slice()));
        let mut checksums = BTreeMap::new();
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
    /// Appends an entry in a single write, so that the entry survives if the process is killed.
    fn keep(&mut self, entry: &JournalEntry) -> io::Result<()> {
        self.journal.write_all((entry.line(&self.run.fingerprint) + "\n").as_bytes())
    }
}

/// Reads a directory's note. Returns `None` if the directory contains no run.
///
/// # Errors
/// Returns an error if `run.json` cannot be read or has changed since it was written.
pub fn note(directory: &Path) -> Result<Option<Note>, DirectoryError> {
    Note::read(&directory.join(RUN))
}

fn write(directory: &Path, name: &str, bytes: &[u8]) -> Result<(), FileError> {
    write_whole(&directory.join(name), |out| out.write_all(bytes))
}

/// Returns the reason why a directory's `old` run cannot be continued as the `new` run.
fn other_run(old: &Run, new: &Run) -> &'static str {
    let quick = |run: &Run| run.reproduced.as_ref().map(|reproduced| reproduced.quick);
    match (quick(old), quick(new)) {
        (Some(true), Some(false)) if old.name == new.name => {
            "contains a quick reproduction; add --quick to continue it, or choose another \
             directory with --out"
        }
        (Some(false), Some(true)) if old.name == new.name => {
            "contains a full reproduction; omit --quick to continue it, or choose another \
             directory with --out"
        }
        _ => {
            "contains results from another experiment, version or input, which cannot be mixed \
             with the new results; choose another directory with --out"
        }
    }
}
