//! What is wrong with an experiment file, and where.

use std::ops::Range;

use pavior_kernel::BadName;
use thiserror::Error;

/// Why an experiment file cannot be used, with the place of the fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct SpecificationError {
    /// What is wrong, and what would be right.
    pub reason: String,
    /// The bytes of the file that are at fault.
    pub span: Range<usize>,
}

impl SpecificationError {
    pub(super) fn new(reason: impl Into<String>, span: Range<usize>) -> SpecificationError {
        SpecificationError { reason: reason.into(), span }
    }
}

/// A fault inside a string, shown at its own place where the string is written without escapes.
pub(super) fn inside(
    source: &str,
    string: &str,
    span: &Range<usize>,
    bad: BadName,
) -> SpecificationError {
    let start = span.start + 1;
    let plain = source.get(start..).is_some_and(|rest| rest.starts_with(string));
    let span = if plain && !bad.span.is_empty() {
        start + bad.span.start..start + bad.span.end
    } else {
        span.clone()
    };
    SpecificationError { reason: bad.reason, span }
}
