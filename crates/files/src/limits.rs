//! Limits on input length.

/// The maximum length of a line, in bytes, for input that is read line by line.
pub const LONGEST_LINE: u64 = 1 << 20;

/// The maximum length of an input, in bytes after decompression. It is more than twice the length
/// of the largest log from the Parallel Workloads Archive that Pavior has been tested with.
pub const LONGEST_INPUT: u64 = 512 << 20;

/// The maximum length, in bytes, of a document that is read as a whole, such as an experiment, a
/// state or a list of names.
pub const LONGEST_DOCUMENT: u64 = 16 << 20;

/// The maximum lengths of an input and of its lines. An attempt to read more fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum length of a line, in bytes, without the line ending.
    pub line: u64,
    /// The maximum length of the input, in bytes after decompression.
    pub total: u64,
}

impl Limits {
    /// Limits for an input that is read line by line.
    pub const LINES: Limits = Limits { line: LONGEST_LINE, total: LONGEST_INPUT };

    /// Limits for a document that is read as a whole. A line may be as long as the document.
    pub const DOCUMENT: Limits = Limits { line: LONGEST_DOCUMENT, total: LONGEST_DOCUMENT };

    /// Replaces the total if one is given. A line limit equal to the old total changes to the new
    /// one.
    #[must_use]
    pub fn with_total(self, total: Option<u64>) -> Limits {
        let Some(total) = total else { return self };
        let line = if self.line == self.total { total } else { self.line };
        Limits { line, total }
    }

    /// Removes the limit on lines, for formats that consist of one long line.
    #[must_use]
    pub fn without_lines(self) -> Limits {
        Limits { line: self.total, ..self }
    }
}
