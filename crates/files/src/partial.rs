//! Creates temporary files, and removes those left behind by killed processes.
//!
//! A new file is created in the destination directory and stays locked until it is complete. The
//! operating system releases the lock when the process ends, even if the process crashes. A
//! temporary file that can be locked has therefore been abandoned.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// The prefix and suffix of a temporary file's name, which enclose random characters.
const NAME: (&str, &str) = (".pavior-", ".partial");
/// The number of random characters in the name.
const DRAWN: usize = 16;

/// Creates a temporary file exclusively, so that an existing link is never followed. First removes
/// any temporary files that killed processes left in the directory.
pub(crate) fn create(folder: &Path) -> io::Result<NamedTempFile> {
    // A directory that cannot be listed may still accept new files.
    let _ = remove_stale(folder);
    let mut builder = Builder::new();
    builder.prefix(NAME.0).suffix(NAME.1).rand_bytes(DRAWN);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The user's umask applies, as for any new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    loop {
        let file = builder.tempfile_in(folder)?;
        // If the file system does not support locks, abandoned files are not removed.
        let locked = file.as_file().lock().is_ok();
        // Before the lock was taken, another process may have deleted the file as abandoned.
        if !locked || file.path().symlink_metadata().is_ok() {
            return Ok(file);
        }
    }
}

/// Removes temporary files that killed processes left behind in a directory.
pub(crate) fn remove_stale(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let drawn = name.strip_prefix(NAME.0).and_then(|name| name.strip_suffix(NAME.1));
        let ours = drawn.is_some_and(|drawn| {
            drawn.len() == DRAWN && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        if ours && entry.file_type()?.is_file() {
            remove_if_stale(&entry.path())?;
        }
    }
    Ok(())
}

fn remove_if_stale(path: &Path) -> io::Result<()> {
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return gone(error),
    };
    match file.try_lock() {
        // Keep the lock while removing the file, so that a process that just created it notices the
        // removal.
        Ok(()) => fs::remove_file(path).or_else(gone),
        Err(TryLockError::WouldBlock) => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
