//! Reads and writes configuration files.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
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
/// harmless because only files with a valid checksum are rewritten.
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
/// time. The file is not synced to disk, so the command must be run again after a power failure.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), SlurmError> {
    let new = path.with_added_extension("new");
    let write = || {
        // Another user may own the directory, so never write through a link or to an existing file.
        let _ = fs::remove_file(&new);
        let mut file = OpenOptions::new().write(true).create_new(true).open(&new)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(Permissions::from_mode(0o644))?;
        fs::rename(&new, path)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&new);
        io_error(path, error)
    })
}

/// Creates an error that names the file.
pub(crate) fn io_error(path: &Path, error: io::Error) -> SlurmError {
    SlurmError::Io { subject: path.display().to_string(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_follows_no_link_and_leaves_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let [path, new, other] = ["a", "a.new", "other"].map(|name| folder.path().join(name));
        fs::write(&other, "mine").unwrap();
        fs::set_permissions(&other, Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&other, &new).unwrap();
        write(&path, "text").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((fs::read_to_string(&other).unwrap().as_str(), mode(&other)), ("mine", 0o600));
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("text", 0o644));
        // A directory cannot be replaced by a file.
        let folder_path = folder.path().join("b");
        fs::create_dir(&folder_path).unwrap();
        assert!(write(&folder_path, "text").is_err());
        assert!(![new, folder.path().join("b.new")].iter().any(|path| path.exists()));
    }
}
