//! Atomic writing of files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{FileError, partial};

/// A file that is written under a temporary name in the destination directory and then renamed by
/// [`Output::finish`]. If it is dropped before that, the destination does not change.
///
/// ```
/// # mod pavior { pub use pavior_files as files; }
/// use std::io::Write;
/// let path = std::env::temp_dir().join(format!("pavior-output-{}", std::process::id()));
/// let mut output = pavior::files::Output::create(&path)?;
/// output.write_all(b"first line\n")?;
/// assert!(!path.exists());
/// output.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"first line\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Output {
    to: To,
    path: PathBuf,
}

enum To {
    /// A temporary file that is renamed to the target once it is complete.
    Whole { file: BufWriter<NamedTempFile>, target: PathBuf },
    /// A pipe, a terminal, `/dev/stdout` or any other non-regular file, which is written to
    /// directly.
    Stream(BufWriter<File>),
}

impl Output {
    /// Starts writing a file. Follows links, and preserves the mode of an existing file.
    ///
    /// # Errors
    /// Returns an error if the destination cannot be written.
    pub fn create(path: &Path) -> Result<Output, FileError> {
        let cannot = |reason: io::Error| FileError::place(path, reason);
        let to = if is_stream(path) {
            let file = OpenOptions::new().append(true).open(path).map_err(cannot)?;
            To::Stream(BufWriter::new(file))
        } else {
            let target = target(path)?;
            let file = beside(&target).map_err(cannot)?;
            if let Ok(existing) = fs::metadata(&target) {
                file.as_file().set_permissions(existing.permissions()).map_err(cannot)?;
            }
            To::Whole { file: BufWriter::new(file), target }
        };
        Ok(Output { to, path: path.to_path_buf() })
    }

    /// Moves the file to its destination. A regular file then survives a power failure.
    ///
    /// # Errors
    /// Returns an error if writing fails, in which case an existing regular file is left unchanged.
    pub fn finish(self) -> Result<(), FileError> {
        let Output { to, path } = self;
        let failed = |error: io::Error| FileError::write(&path, error);
        match to {
            To::Stream(mut file) => file.flush().map_err(failed),
            To::Whole { file, target } => {
                let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
                file.as_file().sync_all().map_err(failed)?;
                file.persist(&target).map_err(|error| failed(error.error))?;
                synchronize_folder(&target);
                Ok(())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Whole { file, .. } => file.write(bytes),
            To::Stream(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Whole { file, .. } => file.flush(),
            To::Stream(file) => file.flush(),
        }
    }
}

/// Writes a file atomically.
///
/// # Errors
/// Returns an error if writing fails, in which case an existing regular file is left unchanged.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FileError> {
    let mut output = Output::create(path)?;
    write(&mut output).map_err(|error| FileError::write(path, error))?;
    output.finish()
}

/// Replaces a file atomically with one that every user can read. A link is replaced rather than
/// followed, because another user may own the directory.
///
/// # Errors
/// Returns an error if writing fails, in which case an existing file is left unchanged.
pub fn replace_public(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let cannot = |reason: io::Error| FileError::place(path, reason);
    let file = beside(path).map_err(cannot)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644)).map_err(cannot)?;
    }
    let to = To::Whole { file: BufWriter::new(file), target: path.to_path_buf() };
    let mut output = Output { to, path: path.to_path_buf() };
    output.write_all(bytes).map_err(|error| FileError::write(path, error))?;
    output.finish()
}

/// Opens an existing file for appending.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn append(path: &Path) -> Result<Box<dyn Write + Send>, FileError> {
    let file = OpenOptions::new().append(true).open(path);
    Ok(Box::new(file.map_err(|error| FileError::place(path, error))?))
}

/// Removes a file if it exists.
///
/// # Errors
/// Returns an error if the file cannot be removed.
pub fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::write(path, error)),
        _ => Ok(()),
    }
}

/// Removes temporary files that killed processes left behind in a directory.
///
/// # Errors
/// Returns an error if the directory cannot be read or a temporary file cannot be removed.
pub fn remove_unfinished(folder: &Path) -> Result<(), FileError> {
    partial::remove_stale(folder).map_err(|error| FileError::place(folder, error))
}

/// Checks that a file could be written, without leaving anything behind. Streams always pass.
///
/// # Errors
/// Returns an error if the destination cannot be written.
pub fn check_writable(path: &Path) -> Result<(), FileError> {
    if is_stream(path) {
        return Ok(());
    }
    let target = target(path)?;
    beside(&target).map(drop).map_err(|error| FileError::place(path, error))
}

/// Returns the file to write: the path itself or, for a link, its target.
fn target(path: &Path) -> Result<PathBuf, FileError> {
    if path.is_dir() {
        let reason = io::Error::new(io::ErrorKind::IsADirectory, "is a directory");
        return Err(FileError::place(path, reason));
    }
    let refused = |reason: &str| FileError::place(path, io::Error::other(reason));
    if path.file_name().is_none() {
        return Err(refused("the path has no file name"));
    }
    if path == Path::new("-") {
        return Err(refused("use /dev/stdout for standard output, or ./- for a file named `-`"));
    }
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => {
            fs::canonicalize(path).map_err(|_| refused("the link's target does not exist"))
        }
        _ => Ok(path.to_path_buf()),
    }
}

/// Creates a temporary file in the same directory as the target.
fn beside(target: &Path) -> io::Result<NamedTempFile> {
    partial::create(folder_of(target))
}

fn folder_of(target: &Path) -> &Path {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Returns true if the file at a path is written directly rather than through a temporary file.
fn is_stream(path: &Path) -> bool {
    let by_name = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];
    by_name.iter().any(|name| path.starts_with(name))
        || fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Ensures that a rename survives a power failure, on systems that support this.
fn synchronize_folder(target: &Path) {
    if let Ok(folder) = File::open(folder_of(target)) {
        // Ignore errors, because some file systems cannot synchronize a directory.
        let _ = folder.sync_all();
    }
}
