//! Reports on the lines in a log: which were read, and which were skipped.

use pavior_kernel::Time;
use serde::Serialize;

use super::{Format, Record};

/// The reason why a job line is not replayed. If several reasons apply, `Requeued` takes
/// precedence, followed by the others in the order listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The line is malformed, and the log was read in lenient mode.
    Malformed,
    /// The submit time is negative, which means unknown.
    NegativeSubmit,
    /// The job has neither an allocated size nor a requested one.
    NoSize,
    /// The run time is negative, which means unknown.
    NoRunTime,
    /// The log contains a later run of the same job.
    Requeued,
    /// The line describes a piece (status 2, 3 or 4) of a job, and the whole job has its own line.
    Piece,
}

impl Skip {
    /// Every reason.
    pub const ALL: [Skip; 6] = [
        Skip::Malformed,
        Skip::NegativeSubmit,
        Skip::NoSize,
        Skip::NoRunTime,
        Skip::Requeued,
        Skip::Piece,
    ];

    /// Returns the reason's key in results, in snake case.
    pub fn name(self) -> &'static str {
        match self {
            Skip::Malformed => "malformed",
            Skip::NegativeSubmit => "negative_submit",
            Skip::NoSize => "no_size",
            Skip::NoRunTime => "no_run_time",
            Skip::Requeued => "requeued",
            Skip::Piece => "piece",
        }
    }
}

/// Lines of the same kind, in log order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineCount {
    lines: Vec<u64>,
}

impl LineCount {
    fn add(&mut self, line: u64) {
        self.lines.push(line);
    }

    /// Returns the number of lines.
    pub fn count(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Returns the line numbers, starting from 1.
    pub fn lines(&self) -> &[u64] {
        &self.lines
    }
}

/// An oddity in a log. Oddities are reported to the user but are not errors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The oddity, and how it was handled.
    pub text: String,
    /// The number of lines with the oddity.
    pub count: u64,
    /// The line number (from 1) of the first occurrence, or 0 if the note is not about a particular
    /// line.
    pub line: u64,
}

/// Counts of lines read and skipped, and any oddities. `job_lines` is the sum of `kept`, `filtered`
/// and the skipped lines. Oddities are counted only in lines that were kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The format, if the log was read by [`Format::read`].
    pub format: Option<Format>,
    /// The number of lines read, including comments and blank lines.
    pub lines: u64,
    /// The number of job lines read.
    pub job_lines: u64,
    /// The number of jobs that can be replayed.
    pub kept: u64,
    /// The number of jobs removed by the filter.
    pub filtered: u64,
    /// True if jobs that have no submit time in the log were kept because they depend on other jobs
    /// ([`ReadOptions::dependencies`](super::ReadOptions)).
    pub follows: bool,
    /// Jobs with a run time of zero, which depart immediately.
    pub zero_length: LineCount,
    /// Jobs submitted earlier than the preceding kept job. Jobs are sorted after reading.
    pub submits_back: LineCount,
    /// Jobs that ran longer than their estimate.
    pub over_estimate: LineCount,
    /// Other oddities.
    pub notes: Vec<Note>,
    skipped: [LineCount; Skip::ALL.len()],
}

impl Report {
    /// Returns the lines that were skipped for a given reason.
    pub fn skipped(&self, reason: Skip) -> &LineCount {
        &self.skipped[reason as usize]
    }

    pub(crate) fn skip(&mut self, reason: Skip, line: u64) {
        self.skipped[reason as usize].add(line);
    }

    pub(crate) fn note(&mut self, text: impl Into<String>, line: u64) {
        let text = text.into();
        match self.notes.iter_mut().find(|note| note.text == text) {
            Some(note) => note.count += 1,
            None => self.notes.push(Note { text, count: 1, line }),
        }
    }

    /// Records any oddities in a kept record. `before` is the previous record's submit time.
    pub(crate) fn notice(&mut self, record: &Record, before: Option<Time>) {
        if record.run.0 == 0 {
            self.zero_length.add(record.line);
        }
        let has_submit = record.dependency.as_ref().is_none_or(|follows| follows.has_submit);
        if has_submit && before.is_some_and(|before| record.submit < before) {
            self.submits_back.add(record.line);
        }
        if record.estimate.is_some_and(|estimate| record.run > estimate) {
            self.over_estimate.add(record.line);
        }
    }
}
