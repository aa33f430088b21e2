//! A file lock, on a shared disk, that determines which of several daemons is active. The lock is a
//! kernel lock (`flock`), so it is released no matter how its holder exits. The lock only avoids
//! duplicate work and log lines. Correctness does not depend on it, because Slurm rejects a change
//! to a job that has changed in the meantime (see `carry`).

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::SlurmError;

/// The lock that the active daemon holds.
#[derive(Default)]
pub(crate) struct Lock {
    held: Option<(PathBuf, File)>,
}

impl Lock {
    /// Returns true if this daemon is active, that is, if it holds the lock, can now acquire the
    /// lock, or needs no lock because none is configured.
    pub(crate) fn acquire(&mut self, path: Option<&Path>) -> Result<bool, SlurmError> {
        let Some(path) = path else {
            self.held = None;
            return Ok(true);
        };
        if self.held.as_ref().is_some_and(|(held, file)| held == path && is_same_file(path, file)) {
            return Ok(true);
        }
        self.held = None;
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = file.map_err(|error| SlurmError::of_path(path, error))?;
        match file.try_lock() {
            // Another process may have replaced the file in the meantime.
            Ok(()) if is_same_file(path, &file) => {
                self.held = Some((path.to_path_buf(), file));
                Ok(true)
            }
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(SlurmError::of_path(path, error)),
        }
    }
}

/// Returns true if `path` still refers to the open `file`. A lock on a file that has been removed
/// would not exclude other daemons.
fn is_same_file(path: &Path, file: &File) -> bool {
    let id = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let (open, current) = (file.metadata().map(id), std::fs::metadata(path).map(id));
    open.is_ok() && open.ok() == current.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_daemon_is_active_once_the_first_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (mut first, mut second) = (Lock::default(), Lock::default());
        assert!(first.acquire(Some(&path)).unwrap() && first.acquire(Some(&path)).unwrap());
        assert!(!second.acquire(Some(&path)).unwrap());
        drop(first);
        assert!(second.acquire(Some(&path)).unwrap());
        // Removing the file revokes the lock, and the holder notices.
        std::fs::remove_file(&path).unwrap();
        let mut third = Lock::default();
        assert!(third.acquire(Some(&path)).unwrap() && !second.acquire(Some(&path)).unwrap());
        assert!(second.acquire(None).unwrap());
        let error = second.acquire(Some(&folder.path().join("none/lock"))).unwrap_err();
        assert!(error.to_string().contains("none/lock"), "{error}");
    }
}
