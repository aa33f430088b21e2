//! What can be wrong with a log, and where.

use std::io;
use std::ops::Range;

use pavior_kernel::{excerpt, message, shown_bytes};
use thiserror::Error;

/// Why a log cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The reader failed: a file that is cut short, a directory, a broken archive.
    #[error("{}{source}", if *line > 0 { format!("after line {line}: ") } else { String::new() })]
    Io {
        /// The number of lines read before; 0 if that is not known.
        line: u64,
        /// What the reader said.
        source: io::Error,
    },
    /// A line breaks the format.
    #[error(transparent)]
    Line(Box<LineError>),
    /// Nothing to read: an empty log, or one of comments only.
    #[error("no job lines in {lines} lines")]
    NoJobs {
        /// The number of lines.
        lines: u64,
    },
    /// No job line keeps to the format, though faults are forgiven.
    #[error("none of {count} job lines can be read; the first: {first}")]
    AllMalformed {
        /// The number of job lines.
        count: u64,
        /// What is wrong with the first.
        first: Box<LineError>,
    },
}

/// A fault in a text, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct LineError {
    /// The line, from 1.
    pub line: u64,
    /// The character in the line, from 1.
    pub column: u64,
    /// The line, or the part of a long line around the fault; invisible characters are written out.
    pub text: String,
    /// The bytes of `text` that are at fault.
    pub span: Range<usize>,
    /// What is wrong, and what would be right.
    pub reason: String,
}

impl LineError {
    /// A fault at these bytes of a line.
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

/// A token as a message quotes it: text that a terminal can show, and not too much of it.
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
