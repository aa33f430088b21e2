//! Opening inputs.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use memchr::memchr_iter;

use crate::{Bounded, FileError, Limits};

/// Opens a file for reading, and decompresses it if its name ends in `.gz`.
///
/// # Errors
/// Returns an error if the file does not exist, is a directory, or may not be read.
pub fn open(path: &Path, limits: Limits) -> Result<Bounded, FileError> {
    let file = File::open(path).map_err(|error| FileError::read(path, error))?;
    let metadata = file.metadata().map_err(|error| FileError::read(path, error))?;
    if metadata.is_dir() {
        let reason = io::Error::new(io::ErrorKind::IsADirectory, "it is a directory");
        return Err(FileError::read(path, reason));
    }
    Ok(unpacked(path, Box::new(file), limits))
}

/// Wraps an input with limits, and decompresses it if its name ends in `.gz`. No file is opened.
pub fn unpacked(name: &Path, input: Box<dyn Read>, limits: Limits) -> Bounded {
    let gzip = name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let reader: Box<dyn Read> =
        if gzip { Box::new(MultiGzDecoder::new(io::BufReader::new(input))) } else { input };
    Bounded::new(reader, limits)
}

/// Opens standard input with limits, like a file.
pub fn stdin(limits: Limits) -> Bounded {
    Bounded::new(Box::new(io::stdin().lock()), limits)
}

/// Reads a whole file; `None` if it does not exist. Bytes that are not text are replaced.
///
/// # Errors
/// Returns the errors of [`open`], and an error if the file exceeds the limits.
pub fn read_if_there(path: &Path, limits: Limits) -> Result<Option<String>, FileError> {
    if !path.exists() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut reader = open(path, limits)?;
    reader.read_to_end(&mut bytes).map_err(|error| FileError::read(path, error))?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Reads a whole text file.
///
/// # Errors
/// Returns the errors of [`open`], an error beyond the limits, and one that names line and column
/// if the file is not UTF-8.
pub fn read_text(path: &Path, limits: Limits) -> Result<String, FileError> {
    let mut bytes = Vec::new();
    let mut reader = open(path, limits)?;
    reader.read_to_end(&mut bytes).map_err(|error| FileError::read(path, error))?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let line = memchr_iter(b'\n', before).count() + 1;
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        FileError::content(path, format!("line {line}, column {column} is not UTF-8 text"))
    })
}
