//! Locks directories so that only one process at a time can change them.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use crate::FileError;

const NAME: &str = ".lock";

/// A lock on a directory. The operating system releases it when the process ends or crashes.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Locks a directory, creating it if necessary. Returns `None` if it is already locked.
    ///
    /// # Errors
    /// Returns an error if the directory is not writable.
    pub fn take(folder: &Path) -> Result<Option<Lock>, FileError> {
        let cannot = |error: io::Error| FileError::place(folder, error);
        fs::create_dir_all(folder).map_err(cannot)?;
        let file = open(&folder.join(NAME)).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(cannot(error)),
        }
    }
}

/// Opens the lock file without following a symbolic link.
fn open(path: &Path) -> io::Result<File> {
    match OpenOptions::new().create_new(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::symlink_metadata(path)?.is_file() {
                OpenOptions::new().write(true).open(path)
            } else {
                Err(io::Error::other(".lock exists but is not a regular file"))
            }
        }
        other => other,
    }
}

/// Returns true if a directory does not exist, is empty, or contains only hidden entries.
///
/// # Errors
/// Returns an error if the directory cannot be read.
pub fn is_empty(folder: &Path) -> Result<bool, FileError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        other => other.map_err(|error| FileError::place(folder, error))?,
    };
    let hidden = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with('.'))
    };
    Ok(entries.into_iter().all(hidden))
}
