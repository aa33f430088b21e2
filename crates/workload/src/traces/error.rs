//! Errors in logs, with their positions.

use std::io;
use std::ops::Range;

use pavior_kernel::{excerpt, message, shown_bytes};
use thiserror::Error;

/// The reason why a log cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The reader failed, for example on a truncated file, a directory or a corrupt archive.
    #[error("{}{source}", if *line > 0 { format!("after line {line}: ") } else { String::new() })]
    Io {
        /// The number of lines read before the error, or 0 if unknown.
        line: u64,
        /// The reader's error.
        source: io::Error,
    },
    /// A line is malformed.
    #[error(transparent)]
    Line(Box<LineError>),
    /// There are no jobs, for example because the log is empty or contains only comments.
    #[error("no jobs found in {lines} lines")]
    NoJobs {
        /// The number of lines.
        lines: u64,
    },
    /// An option does not match the log, for example because a name used in a filter does not occur
    /// in the log.
    #[error("{0}")]
    Option(String),
    /// In lenient mode, all job lines are malformed.
    #[error("all {count} job lines are invalid; first error: {first}")]
    AllMalformed {
        /// The number of job lines.
        count: u64,
        /// The error in the first job line.
        first: Box<LineError>,
    },
}

/// An error in text, with its position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct LineError {
    /// The line number, starting from 1.
    pub line: u64,
    /// The column in characters, starting from 1.
    pub column: u64,
    /// The line or, if the line is long, the part around the error. Invisible characters are
    /// escaped.
    pub text: String,
    /// The byte range of the error within `text`.
    pub span: Range<usize>,
    /// The reason, including the valid values.
    pub reason: String,
}

impl LineError {
    /// Creates an error for a byte range within a line.
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

/// Quotes a token for a message, escaping it for terminals and truncating it if it is long.
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
