//! Reads and writes configuration files.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::SlurmError;

/// The maximum file size in bytes, in case a path refers to an endless device.
const MAX_FILE: u64 = 16 << 20;

/// Reads a file of at most [`MAX_FILE`] bytes.
pub(crate) fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        let message = format!("larger than {} MiB", MAX_FILE >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Returns a file's text, or `None` if there is no such file. Replaces invalid UTF-8, which is
/// harmless because the text is compared but never written back.
///
/// # Errors
/// Returns an error if the file exists but cannot be read.
pub(crate) fn read(path: &Path) -> Result<Option<String>, SlurmError> {
    match read_bounded(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path, error)),
    }
}

/// Writes a world-readable file. The write is atomic because slurmctld may read the file at any
/// time. It is not synced to disk, so after a power failure, the command must be run again.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), SlurmError> {
    let new = path.with_added_extension("new");
    let write = || {
        std::fs::write(&new, text)?;
        std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o644))?;
        std::fs::rename(&new, path)
    };
    write().map_err(|error| io_error(path, error))
}

/// Creates an error that names the file.
pub(crate) fn io_error(path: &Path, error: io::Error) -> SlurmError {
    SlurmError::Io { subject: path.display().to_string(), error }
}
