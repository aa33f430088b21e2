//! Errors in a log, with their position.

use std::io;
use std::ops::Range;

use pavior_kernel::{excerpt, message, shown_bytes};
use thiserror::Error;

/// The reason why a log cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The reader failed: a file that is cut short, a directory, a broken archive.
    #[error("{}{source}", if *line > 0 { format!("after line {line}: ") } else { String::new() })]
    Io {
        /// The number of lines read before the error, or 0 if it is not known.
        line: u64,
        /// The error of the reader.
        source: io::Error,
    },
    /// A line breaks the format.
    #[error(transparent)]
    Line(Box<LineError>),
    /// There are no jobs: an empty log, or only comments.
    #[error("no job lines in {lines} lines")]
    NoJobs {
        /// The number of lines.
        lines: u64,
    },
    /// An option does not fit the log, for example a name in a filter that the log does not have.
    #[error("{0}")]
    Option(String),
    /// All job lines are malformed, in lenient reading.
    #[error("none of {count} job lines is valid; the first: {first}")]
    AllMalformed {
        /// The number of job lines.
        count: u64,
        /// The error of the first.
        first: Box<LineError>,
    },
}

/// An error in a text, with its position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct LineError {
    /// The line, from 1.
    pub line: u64,
    /// The character in the line, from 1.
    pub column: u64,
    /// The line or the part of a long line around the error. Invisible characters are escaped.
    pub text: String,
    /// The bytes of `text` that are at fault.
    pub span: Range<usize>,
    /// The reason and the values that would be valid.
    pub reason: String,
}

impl LineError {
    /// Creates the error for these bytes of a line.
    pub(crate) fn new(
        line: u64,
        bytes: &[u8],
        at: Range<usize>,
        reason: impl AsRef<str>,
    ) -> LineError {
        let (text, span) = excerpt(bytes, at.clone());
        let before = &bytes[..at.start.min(bytes.len())];
        let column = String::from_utf8_lossy(before).chars().count() as u64 + 1;
        LineError { line, column, text, span, reason: message(reason.as_ref()) }
    }
}

/// Quotes a token for a message: harmless to a terminal, and cut if long.
pub(crate) fn quoted(token: &[u8]) -> String {
    const LONGEST: usize = 24;
    let text = shown_bytes(&token[..token.len().min(LONGEST)]);
    format!("`{text}{}`", if token.len() > LONGEST { "…" } else { "" })
}

impl From<LineError> for ReadError {
    fn from(fault: LineError) -> ReadError {
        ReadError::Line(Box::new(fault))
    }
}
