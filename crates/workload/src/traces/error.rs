//! What can be wrong with a log, and where.

use std::io;
use std::ops::Range;

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
    /// The line, or the part of a long line around the fault; control characters are replaced.
    pub text: String,
    /// The bytes of `text` that are at fault.
    pub span: Range<usize>,
    /// What is wrong, and what would be right.
    pub reason: String,
}

/// How much of a line a fault shows before and after its beginning, in bytes.
const BEFORE: usize = 60;
const AFTER: usize = 100;

impl LineError {
    /// A fault at these bytes of a line.
    pub(crate) fn new(line: u64, bytes: &[u8], at: Range<usize>, reason: String) -> LineError {
        let from = if at.start > AFTER { at.start - BEFORE } else { 0 };
        let to = bytes.len().min(at.start + AFTER);
        let before = shown(&bytes[from..at.start]);
        let fault = shown(&bytes[at.start..at.end.min(to)]);
        let after = shown(&bytes[at.end.min(to)..to]);
        LineError {
            line,
            column: String::from_utf8_lossy(&bytes[..at.start]).chars().count() as u64 + 1,
            span: before.len()..before.len() + fault.len(),
            text: before + &fault + &after,
            reason,
        }
    }
}

/// A token as a message quotes it: text that a terminal can show, and not too much of it.
pub(crate) fn quoted(token: &[u8]) -> String {
    const LONGEST: usize = 24;
    let text = shown(&token[..token.len().min(LONGEST)]);
    format!("`{text}{}`", if token.len() > LONGEST { "…" } else { "" })
}

fn shown(bytes: &[u8]) -> String {
    let visible = |c: char| match c {
        '\t' => ' ',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    String::from_utf8_lossy(bytes).chars().map(visible).collect()
}

impl From<LineError> for ReadError {
    fn from(fault: LineError) -> ReadError {
        ReadError::Line(Box::new(fault))
    }
}
