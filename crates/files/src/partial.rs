//! Temporary files and the removal of those left by killed processes.
//!
//! A file is written next to its destination and locked until it is complete. The operating system
//! releases the lock when the process ends, even if it crashes. Therefore, if a temporary file can
//! be locked, no process will ever finish it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// The prefix and suffix of a temporary file's name. Random characters are between them.
const NAME: (&str, &str) = (".pavior-", ".partial");
/// The number of random characters in the name.
const DRAWN: usize = 16;

/// Creates a new file in a folder, exclusively, so that an existing link is never followed. Files
/// that were left in the folder by killed processes are removed.
pub(crate) fn create(folder: &Path) -> io::Result<NamedTempFile> {
    // A folder that cannot be listed may still accept new files.
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
        // Some file systems do not support locks. No abandoned files are removed there.
        let locked = file.as_file().lock().is_ok();
        // Before the file was locked, another process may have removed it as abandoned.
        if !locked || file.path().symlink_metadata().is_ok() {
            return Ok(file);
        }
    }
}

/// Removes the temporary files in a folder that were left by processes that are no longer running.
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
        // The file is removed while it is locked, so that a process that has just created it
        // notices.
        Ok(()) => fs::remove_file(path).or_else(gone),
        Err(TryLockError::WouldBlock) => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
