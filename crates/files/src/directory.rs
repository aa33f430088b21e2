//! A directory of a run: a lock, a journal that outlives being killed, and files that are whole or
//! not there.
//!
//! While a run goes on, what is finished is a line each of `journal`. When it is done, it is in the
//! published files, and the journal is removed. `run.json` says what the directory holds, from the
//! first moment, and the checksum of every file at the end.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pavior_kernel::Digest;

use crate::run::{Clock, read_if_there};
use crate::{FileError, Note, Run, partial, seal, unseal, write_whole};

const JOURNAL: &str = "journal";
const RUN: &str = "run.json";
const LOCK: &str = ".lock";

/// A directory that this process alone may change.
pub struct Directory {
    path: PathBuf,
    /// Held until the process ends, however it ends: the lock is the kernel's.
    _lock: File,
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

/// What a directory holds of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The texts of the journal's lines, without their checksums.
    pub journal: Vec<String>,
    /// Lines of the journal that were damaged and are left out.
    pub discarded: u64,
}

impl Directory {
    /// Makes a directory where there is none, and locks it. A directory that holds other files, and
    /// no run, is not touched.
    ///
    /// # Errors
    /// If another process works in it, if it holds something else, or if it cannot be written.
    pub fn open(path: &Path) -> Result<Directory, FileError> {
        if !path.join(RUN).exists() && !is_empty(path)? {
            return Err(FileError::directory(
                path,
                "is not empty, and holds no experiment; choose another --out",
            ));
        }
        Directory::take(path)
    }

    /// Makes a directory where there is none, and locks it, whatever it holds; what a killed
    /// process of ours left half written there is removed.
    ///
    /// # Errors
    /// If another process works in it, or if it cannot be written.
    pub fn lock(path: &Path) -> Result<Directory, FileError> {
        let directory = Directory::take(path)?;
        partial::remove_stale(path).map_err(|error| FileError::place(path, &error))?;
        Ok(directory)
    }

    /// Makes a directory where there is none, and locks it.
    fn take(path: &Path) -> Result<Directory, FileError> {
        let cannot = |error: io::Error| FileError::place(path, &error);
        fs::create_dir_all(path).map_err(cannot)?;
        let lock = lock_file(&path.join(LOCK)).map_err(cannot)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(FileError::directory(
                    path,
                    "is in use: another process is working in it; one at a time",
                ));
            }
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
        Ok(Directory { path: path.to_path_buf(), _lock: lock, clock: Clock::start() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says that it holds; none if it holds no run.
    ///
    /// # Errors
    /// If `run.json` was changed since it was written.
    pub fn note(&self) -> Result<Option<Note>, FileError> {
        note(&self.path)
    }

    /// Prepares for a run: a new one in an empty directory, or the same one again. `description` is
    /// the name and text of the file that describes it.
    ///
    /// # Errors
    /// If it holds a run and `resume` is not set; if it holds another run; if a line is damaged and
    /// `discard_damaged` is not set.
    pub fn begin(
        &self,
        run: &Run,
        description: (&str, &str),
        how: Resume,
    ) -> Result<Known, FileError> {
        let note = match self.note() {
            Err(FileError::Damaged { .. }) if how.resume && how.discard_damaged => None,
            other => other?,
        };
        if let Some(note) = &note {
            if !how.resume {
                return Err(FileError::directory(
                    &self.path,
                    "holds an experiment already; the command that began it goes on under \
                     --resume, --out chooses another directory",
                ));
            }
            if note.run.fingerprint != run.fingerprint {
                return Err(FileError::directory(&self.path, other_run(&note.run, run)));
            }
        }
        let cannot = |error| FileError::place(&self.path, &error);
        partial::remove_stale(&self.path).map_err(cannot)?;
        let known = known(&self.path, &run.fingerprint, how.discard_damaged)?;
        let (name, text) = description;
        // What a finished directory says of itself stays as long as nothing is run anew.
        if !note.is_some_and(|note| note.finished) {
            let checksum = Digest::of(text.as_bytes()).to_string();
            self.write_note(run, false, [(name.to_string(), checksum)].into())?;
        }
        self.write(name, text.as_bytes())?;
        Ok(known)
    }

    /// The journal, holding these lines and ready for more.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn journal(&self, run: &Run, lines: &[String]) -> Result<Journal, FileError> {
        let path = self.path.join(JOURNAL);
        let sealed = |line: &String| seal(&run.fingerprint, line) + "\n";
        let text: String = lines.iter().map(sealed).collect();
        if read_if_there(&path)?.is_none_or(|old| old != text) {
            write_whole(&path, |out| out.write_all(text.as_bytes()))?;
        }
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|error| FileError::place(&path, &error))?;
        Ok(Journal { file, key: run.fingerprint.clone() })
    }

    /// Writes the files of a run that is done, and removes the journal when they are safe.
    ///
    /// # Errors
    /// If a file cannot be written; the journal then stays.
    pub fn finish<'f>(
        &self,
        run: &Run,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<(), FileError> {
        let mut checksums = BTreeMap::new();
        for (name, bytes) in files {
            self.write(name, bytes)?;
            checksums.insert(name.to_string(), Digest::of(bytes).to_string());
        }
        let journal = self.path.join(JOURNAL);
        let anew = fs::metadata(&journal).is_ok_and(|journal| journal.len() > 0);
        let same = self
            .note()
            .is_ok_and(|note| note.is_some_and(|note| note.finished && note.files == checksums));
        if anew || !same {
            self.write_note(run, true, checksums)?;
        }
        match fs::remove_file(&journal) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FileError::write(&journal, error))
            }
            _ => Ok(()),
        }
    }

    /// Writes a file of the run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        write_whole(&self.path.join(name), |out| out.write_all(bytes))
    }

    fn write_note(
        &self,
        run: &Run,
        finished: bool,
        files: BTreeMap<String, String>,
    ) -> Result<(), FileError> {
        let note = Note { run: run.clone(), finished, files };
        self.write(RUN, note.text(self.clock).as_bytes())
    }
}

/// The journal of a run: every line outlives the process when [`Journal::keep`] returns.
pub struct Journal {
    file: File,
    key: String,
}

impl Journal {
    /// Adds a line, in one write.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all((seal(&self.key, text) + "\n").as_bytes())
    }
}

/// What a directory says that it holds; none if it holds no run.
///
/// # Errors
/// If `run.json` was changed since it was written.
pub fn note(directory: &Path) -> Result<Option<Note>, FileError> {
    Note::read(&directory.join(RUN))
}

/// What the journal of a directory holds. A last line that was cut is no damage: its process was
/// killed while it wrote.
///
/// # Errors
/// At the first line that was changed or is of another run, unless they are to be discarded.
pub fn known(directory: &Path, key: &str, discard_damaged: bool) -> Result<Known, FileError> {
    let path = directory.join(JOURNAL);
    let text = read_if_there(&path)?.unwrap_or_default();
    let mut known = Known::default();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let Some(line) = line.strip_suffix('\n') else { break };
        match unseal(key, line) {
            Some(text) => known.journal.push(text.to_string()),
            None if discard_damaged => known.discarded += 1,
            None => return Err(FileError::damaged(&path, Some(index as u64 + 1))),
        }
    }
    Ok(known)
}

/// Compares a finished file with the checksum that `run.json` has of it; a file that it does not
/// list is not compared.
///
/// # Errors
/// If a byte of it was changed, or it is not there.
pub fn verify(directory: &Path, note: &Note, name: &str) -> Result<(), FileError> {
    let Some(expected) = note.files.get(name) else { return Ok(()) };
    let path = directory.join(name);
    let bytes = fs::read(&path).map_err(|error| FileError::read(&path, &error))?;
    if Digest::of(&bytes).to_string() == *expected {
        Ok(())
    } else {
        Err(FileError::damaged(&path, None))
    }
}

/// Whether nothing is in a directory, or nothing but what is hidden; true where there is none.
///
/// # Errors
/// If it cannot be read.
pub fn is_empty(path: &Path) -> Result<bool, FileError> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        other => other.map_err(|error| FileError::place(path, &error))?,
    };
    let hidden = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with('.'))
    };
    Ok(entries.into_iter().all(hidden))
}

/// The lock's file; a link that lies in its place is not followed.
fn lock_file(path: &Path) -> io::Result<File> {
    match OpenOptions::new().create_new(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::symlink_metadata(path)?.is_file() {
                OpenOptions::new().write(true).open(path)
            } else {
                Err(io::Error::other(".lock is there, and is no file"))
            }
        }
        other => other,
    }
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
