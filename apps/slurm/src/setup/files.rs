//! Reads and writes the files of an installation.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::SlurmError;

/// Returns the text of a file, if it exists. Text other than UTF-8 is compared but never written
/// back, so replacement characters are harmless.
///
/// # Errors
/// Returns an error if the file exists but cannot be read.
pub(super) fn read(path: &Path) -> Result<Option<String>, SlurmError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path, error)),
    }
}

/// Writes a file that everyone may read. Writing is atomic, because slurmctld may read the file at
/// any time. The file is not synchronized to disk: after a power failure, the command must be run
/// again.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub(super) fn write(path: &Path, text: &str) -> Result<(), SlurmError> {
    let new = path.with_added_extension("new");
    let write = || {
        std::fs::write(&new, text)?;
        std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o644))?;
        std::fs::rename(&new, path)
    };
    write().map_err(|error| io_error(path, error))
}

/// Creates an error that names a file.
pub(super) fn io_error(path: &Path, error: io::Error) -> SlurmError {
    SlurmError::Io { what: path.display().to_string(), error }
}
