//! One of several daemons acts: the one that holds the lock of a file on a disk that they share.
//!
//! The lock is the system's (`flock`), so it is free again when its holder ends, however it ends.
//! It spares work and noise. That no job starts on wrong nodes does not hang on it: each change is
//! one that Slurm refuses when the job is not as it was (see `command`).

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

/// A daemon's claim to be the one that acts.
#[derive(Default)]
pub(crate) struct Turn {
    held: Option<(PathBuf, File)>,
}

impl Turn {
    /// Whether this daemon acts: there is no lock, or it holds it, or now takes it.
    pub(crate) fn take(&mut self, path: Option<&PathBuf>) -> io::Result<bool> {
        let Some(path) = path else {
            self.held = None;
            return Ok(true);
        };
        if self.held.as_ref().is_some_and(|(held, file)| held == path && is_still(path, file)) {
            return Ok(true);
        }
        self.held = None;
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match file.try_lock() {
            // Another may have put a file of its own there in between.
            Ok(()) if is_still(path, &file) => {
                self.held = Some((path.clone(), file));
                Ok(true)
            }
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Whether a path still leads to a file: a lock of a file that was removed locks nobody out.
fn is_still(path: &PathBuf, file: &File) -> bool {
    let own = file.metadata().map(|own| (own.dev(), own.ino()));
    let there = std::fs::metadata(path).map(|there| (there.dev(), there.ino()));
    own.is_ok() && own.ok() == there.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_two_acts_and_the_other_when_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (mut first, mut second) = (Turn::default(), Turn::default());
        assert!(first.take(Some(&path)).unwrap() && first.take(Some(&path)).unwrap());
        assert!(!second.take(Some(&path)).unwrap());
        drop(first);
        assert!(second.take(Some(&path)).unwrap());
        // Who removes the file takes the turn away, and the holder sees it.
        std::fs::remove_file(&path).unwrap();
        let mut third = Turn::default();
        assert!(third.take(Some(&path)).unwrap() && !second.take(Some(&path)).unwrap());
        assert!(second.take(None).unwrap());
        assert!(second.take(Some(&folder.path().join("none/lock"))).is_err());
    }
}
