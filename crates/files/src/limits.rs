//! How much is read.

/// The longest line, in bytes, of an input that is read line by line.
pub const LONGEST_LINE: u64 = 1 << 20;

/// The longest input, in bytes after decompression: more than twice the largest log of the Parallel
/// Workloads Archive that Pavior was tried on.
pub const LONGEST_INPUT: u64 = 512 << 20;

/// The longest document, in bytes, that is read as a whole: an experiment, a state, a list of
/// names.
pub const LONGEST_DOCUMENT: u64 = 16 << 20;

/// How much of an input is read before reading fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest line, in bytes, its end included.
    pub line: u64,
    /// All that is read, in bytes after decompression.
    pub total: u64,
}

impl Limits {
    /// For input that is read line by line.
    pub const LINES: Limits = Limits { line: LONGEST_LINE, total: LONGEST_INPUT };

    /// For a document that is read as a whole; its lines may be as long as it is.
    pub const DOCUMENT: Limits = Limits { line: LONGEST_DOCUMENT, total: LONGEST_DOCUMENT };

    /// The same with another total, where one is given; lines that may be as long as the input stay
    /// so.
    #[must_use]
    pub fn with_total(self, total: Option<u64>) -> Limits {
        let Some(total) = total else { return self };
        let line = if self.line == self.total { total } else { self.line };
        Limits { line, total }
    }

    /// The same without a limit of lines, for formats that are one long line.
    #[must_use]
    pub fn without_lines(self) -> Limits {
        Limits { line: self.total, ..self }
    }
}
