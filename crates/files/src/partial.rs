//! Files that are being written, and what is left of those whose process was killed.
//!
//! A file is written beside its place and locked for as long as it is written. The lock is the
//! kernel's: it ends with the process, however that ends. So a file of such a name that can be
//! locked is one that no process will ever finish.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// The name of such a file: `.pavior-`, then characters drawn by the system, then this.
const NAME: (&str, &str) = (".pavior-", ".partial");
/// How many characters are drawn.
const DRAWN: usize = 16;

/// A new file in a folder, made exclusively: a link that lies there is never followed. What killed
/// processes left in the folder is removed.
pub(crate) fn create(folder: &Path) -> io::Result<NamedTempFile> {
    // A folder that cannot be listed may still take a file.
    let _ = remove_stale(folder);
    let mut builder = Builder::new();
    builder.prefix(NAME.0).suffix(NAME.1).rand_bytes(DRAWN);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What the user's mask leaves of it, as for any new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    loop {
        let file = builder.tempfile_in(folder)?;
        // Some file systems know no locks: there, nothing is removed either.
        let locked = file.as_file().lock().is_ok();
        // Between the two, another process may have taken it for one that was left.
        if !locked || file.path().symlink_metadata().is_ok() {
            return Ok(file);
        }
    }
}

/// Removes the files in a folder that were being written by processes which are no more.
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
        // It is removed while it is locked: a process that has just made it sees that it is gone.
        Ok(()) => fs::remove_file(path).or_else(gone),
        Err(TryLockError::WouldBlock) => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
