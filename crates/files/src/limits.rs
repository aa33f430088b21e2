//! Limits on the size of inputs.

/// The maximum length of a line, in bytes, for input that is read line by line.
pub const LONGEST_LINE: u64 = 1 << 20;

/// The maximum size of an input, in bytes after decompression. This is more than twice the size of
/// the largest Parallel Workloads Archive log that Pavior has been tested with.
pub const LONGEST_INPUT: u64 = 512 << 20;

/// The maximum size, in bytes, of a document that is read all at once, such as an experiment, a
/// saved state or a list of names.
pub const LONGEST_DOCUMENT: u64 = 16 << 20;

/// The maximum size of an input and the maximum length of its lines. Exceeding either is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum length of a line, in bytes, not counting the line ending.
    pub line: u64,
    /// The maximum size of the input, in bytes after decompression.
    pub total: u64,
}

impl Limits {
    /// Limits for an input that is read line by line.
    pub const LINES: Limits = Limits { line: LONGEST_LINE, total: LONGEST_INPUT };

    /// Limits for a document that is read all at once and may consist of a single line.
    pub const DOCUMENT: Limits = Limits { line: LONGEST_DOCUMENT, total: LONGEST_DOCUMENT };

    /// Replaces the total limit if a new one is specified. If the line limit was equal to the old
    /// total limit, it is replaced as well.
    #[must_use]
    pub fn with_total(self, total: Option<u64>) -> Limits {
        let Some(total) = total else { return self };
        let line = if self.line == self.total { total } else { self.line };
        Limits { line, total }
    }

    /// Removes the line limit, for formats that may consist of one long line.
    #[must_use]
    pub fn without_lines(self) -> Limits {
        Limits { line: self.total, ..self }
    }
}
