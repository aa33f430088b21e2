//! Functions that open inputs.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use memchr::memchr_iter;

use crate::{Bounded, FileError, Limits};

/// Opens a file for reading. Decompresses the file if it contains gzip data or its name ends in
/// `.gz`.
///
/// # Errors
/// Returns an error if the file does not exist, is a directory, or cannot be read.
pub fn open(path: &Path, limits: Limits) -> Result<Bounded, FileError> {
    let file = File::open(path).map_err(|error| FileError::read(path, error))?;
    let metadata = file.metadata().map_err(|error| FileError::read(path, error))?;
    if metadata.is_dir() {
        let reason = io::Error::new(io::ErrorKind::IsADirectory, "is a directory");
        return Err(FileError::read(path, reason));
    }
    unpacked(path, file, limits)
}

/// Opens standard input for reading within limits. Decompresses the input if it is gzip data.
///
/// # Errors
/// Returns an error if standard input cannot be read.
pub fn stdin(limits: Limits) -> Result<Bounded, FileError> {
    unpacked(Path::new("-"), io::stdin().lock(), limits)
}

/// Applies limits to an input that is already open. Decompresses it if it begins with a gzip header
/// or if `name` ends in `.gz`.
///
/// # Errors
/// Returns an error if the input cannot be read.
pub fn unpacked(
    name: &Path,
    input: impl Read + 'static,
    limits: Limits,
) -> Result<Bounded, FileError> {
    let mut reader = BufReader::new(input);
    let begin = reader.fill_buf().map_err(|error| FileError::read(name, error))?;
    let is_gzip = begin.starts_with(&[0x1f, 0x8b])
        || name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let reader: Box<dyn Read> =
        if is_gzip { Box::new(Gunzip(MultiGzDecoder::new(reader))) } else { Box::new(reader) };
    Ok(Bounded::new(reader, limits))
}

/// A gzip decompressor whose errors describe the file rather than the decoder.
struct Gunzip<R: BufRead>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            kind @ io::ErrorKind::UnexpectedEof => {
                io::Error::new(kind, "the gzip file is truncated")
            }
            io::ErrorKind::InvalidInput => {
                io::Error::new(io::ErrorKind::InvalidData, "the gzip file is corrupt")
            }
            _ => error,
        })
    }
}

/// Reads a whole file, replacing invalid UTF-8. Returns `None` if the file does not exist.
///
/// # Errors
/// Returns the same errors as [`open`], and an error if the file exceeds the limits.
pub fn read_if_there(path: &Path, limits: Limits) -> Result<Option<String>, FileError> {
    let mut bytes = Vec::new();
    let mut reader = match open(path, limits) {
        Err(FileError::Read { reason, .. }) if reason.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        other => other?,
    };
    reader.read_to_end(&mut bytes).map_err(|error| FileError::read(path, error))?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Reads a whole text file.
///
/// # Errors
/// Returns the same errors as [`open`], and an error if the file exceeds the limits. If the file is
/// not UTF-8, the error gives the line and column.
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
