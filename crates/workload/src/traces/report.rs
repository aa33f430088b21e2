//! What reading a log met: counts, with the lines.

use super::Record;

/// Why a job line is not replayed. The first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// It breaks the format, and faults are forgiven.
    Malformed,
    /// Its submit time is negative: unknown.
    NegativeSubmit,
    /// It has neither an allocated nor a requested size.
    NoSize,
    /// Its run time is negative: unknown.
    NoRunTime,
    /// A later run of the same job stands in the log.
    Requeued,
}

impl Skip {
    /// Every reason, in the order in which they are judged.
    pub const ALL: [Skip; 5] =
        [Skip::Malformed, Skip::NegativeSubmit, Skip::NoSize, Skip::NoRunTime, Skip::Requeued];

    /// The key in results, snake_case.
    pub fn name(self) -> &'static str {
        match self {
            Skip::Malformed => "malformed",
            Skip::NegativeSubmit => "negative_submit",
            Skip::NoSize => "no_size",
            Skip::NoRunTime => "no_run_time",
            Skip::Requeued => "requeued",
        }
    }
}

/// The lines on which something was met, in the order of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineCount {
    lines: Vec<u64>,
}

impl LineCount {
    fn add(&mut self, line: u64) {
        self.lines.push(line);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Their numbers, from 1.
    pub fn lines(&self) -> &[u64] {
        &self.lines
    }
}

/// Counts of what was read, skipped and noticed. `job_lines` is the sum of `kept`, `filtered` and
/// what was skipped; the notices are about lines that were kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Lines read, comments and blank ones included.
    pub lines: u64,
    /// Job lines read.
    pub job_lines: u64,
    /// Jobs that can be replayed.
    pub kept: u64,
    /// Jobs that the filter kept out.
    pub filtered: u64,
    /// Jobs that ran for no time at all: they depart at once.
    pub zero_length: LineCount,
    /// Jobs submitted before the one kept before them: they are sorted.
    pub submits_back: LineCount,
    /// Jobs that ran for longer than their estimate.
    pub over_estimate: LineCount,
    skipped: [LineCount; Skip::ALL.len()],
}

impl Report {
    /// The lines skipped for a reason.
    pub fn skipped(&self, reason: Skip) -> &LineCount {
        &self.skipped[reason as usize]
    }

    pub(crate) fn skip(&mut self, reason: Skip, line: u64) {
        self.skipped[reason as usize].add(line);
    }

    /// Notes what is odd about a kept record; `before` is the one kept before it.
    pub(crate) fn notice(&mut self, record: &Record, before: Option<&Record>) {
        if record.run.0 == 0 {
            self.zero_length.add(record.line);
        }
        if before.is_some_and(|before| record.submit < before.submit) {
            self.submits_back.add(record.line);
        }
        if record.estimate.is_some_and(|estimate| record.run > estimate) {
            self.over_estimate.add(record.line);
        }
    }
}
