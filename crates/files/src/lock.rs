//! Folders that one process alone may change.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use crate::FileError;

const NAME: &str = ".lock";

/// The lock of a folder. It is the kernel's: it ends with the process, however that ends.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Makes a folder where there is none, and locks it; none if another process has locked it.
    ///
    /// # Errors
    /// If it cannot be written.
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

/// The lock's file; a link that lies in its place is not followed.
fn open(path: &Path) -> io::Result<File> {
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

/// Whether nothing is in a folder, or nothing but what is hidden; true where there is none.
///
/// # Errors
/// If it cannot be read.
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
