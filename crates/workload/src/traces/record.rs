//! What is known of a job in a log, and how logs become jobs' records whatever their format.

use pavior_kernel::Time;
use pavior_mesh::{Freedom, Sides};

use super::{Filter, Header, LineError, ReadError, Report, Skip};
use crate::{Job, Service, TimeUnit};

/// A job of a log that can be replayed. Times are in ticks of [`TimeUnit::SECOND`], as the log has
/// them.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its number in the log; the count of job lines before it where the log gives none.
    pub number: u64,
    /// The line on which it begins, from 1.
    pub line: u64,
    /// When it was submitted.
    pub submit: Time,
    /// How long it ran; 0 departs at once.
    pub run: Time,
    /// How long its user said that it would run, if so.
    pub estimate: Option<Time>,
    /// Its size, at least 1.
    pub nodes: u32,
    /// Its shape, in logs that know shapes; always three sides.
    pub shape: Option<Sides>,
    /// How free it is to be placed, in logs that know freedoms.
    pub freedom: Option<Freedom>,
    /// Who it belongs to and where it ran.
    pub tags: Tags,
}

/// The numbers by which a log classes its jobs; -1 is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tags {
    /// Field 11: 1 completed, 0 failed, 5 cancelled; logs have others, too.
    pub status: i64,
    /// Field 12.
    pub user: i64,
    /// Field 13.
    pub group: i64,
    /// Field 14.
    pub application: i64,
    /// Field 15.
    pub queue: i64,
    /// Field 16.
    pub partition: i64,
}

impl Tags {
    /// Nothing known.
    pub const UNKNOWN: Tags =
        Tags { status: -1, user: -1, group: -1, application: -1, queue: -1, partition: -1 };
}

impl Record {
    /// A synthetic job as a log would have it, its time units read as seconds; none for a job that
    /// sends messages, whose run time is only known once it has run.
    pub fn of_job(job: &Job) -> Option<Record> {
        let Service::Run(run) = job.service else { return None };
        Some(Record {
            number: job.number,
            line: 0,
            submit: job.arrival,
            run,
            estimate: Some(job.estimate),
            nodes: job.request.nodes,
            shape: job.request.shape,
            freedom: job.request.freedom,
            tags: Tags::UNKNOWN,
        })
    }
}

/// A log as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The keys of its header; empty in formats without.
    pub header: Header,
    /// The jobs that can be replayed, in the order of submission (equal ones as in the log).
    pub records: Vec<Record>,
    /// What was read, skipped and noticed.
    pub report: Report,
}

/// How to read a log.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Skip and count lines that break the format, instead of stopping at the first.
    pub lenient: bool,
    /// Stop after this many job lines, skipped ones included.
    pub first: Option<u64>,
    /// Which jobs to keep.
    pub filter: Filter,
}

/// The longest time in a log, in seconds: far more than any, and safe in 64 bits of ticks.
pub(crate) const LONGEST: f64 = 1e12;

/// A job line as a format reads it, before the rules that all formats share. Negative is unknown.
pub(crate) struct Draft {
    pub(crate) number: f64,
    pub(crate) line: u64,
    pub(crate) submit: f64,
    pub(crate) run: f64,
    pub(crate) estimate: f64,
    pub(crate) nodes: f64,
    pub(crate) shape: Option<Sides>,
    pub(crate) freedom: Option<Freedom>,
    pub(crate) tags: Tags,
}

/// Applies the rules that all formats share and counts.
pub(crate) struct Collector<'o> {
    options: &'o ReadOptions,
    records: Vec<Record>,
    report: Report,
    first_fault: Option<LineError>,
}

impl<'o> Collector<'o> {
    pub(crate) fn new(options: &'o ReadOptions) -> Collector<'o> {
        Collector { options, records: Vec::new(), report: Report::default(), first_fault: None }
    }

    /// Whether another job line is wanted.
    pub(crate) fn wants_more(&self) -> bool {
        self.options.first.is_none_or(|first| self.report.job_lines < first)
    }

    /// A job line that breaks the format. The fault is only described if it is wanted: on a file
    /// that is one long line, finding its column is not cheap.
    pub(crate) fn malformed(
        &mut self,
        line: u64,
        fault: impl FnOnce() -> LineError,
    ) -> Result<(), ReadError> {
        if !self.options.lenient {
            return Err(fault().into());
        }
        self.report.job_lines += 1;
        self.report.skip(Skip::Malformed, line);
        self.first_fault.get_or_insert_with(fault);
        Ok(())
    }

    /// A job line that its format passes over.
    pub(crate) fn skip(&mut self, reason: Skip, line: u64) {
        self.report.job_lines += 1;
        self.report.skip(reason, line);
    }

    /// A job line that keeps to the format.
    pub(crate) fn offer(&mut self, draft: &Draft) {
        let report = &mut self.report;
        let ordinal = report.job_lines;
        report.job_lines += 1;
        if !self.options.filter.passes(&draft.tags) {
            report.filtered += 1;
            return;
        }
        let skip = if draft.submit < 0.0 {
            Some(Skip::NegativeSubmit)
        } else if draft.nodes <= 0.0 {
            Some(Skip::NoSize)
        } else if draft.run < 0.0 {
            Some(Skip::NoRunTime)
        } else {
            None
        };
        if let Some(reason) = skip {
            report.skip(reason, draft.line);
            return;
        }
        let record = Record {
            number: if draft.number >= 0.0 { draft.number as u64 } else { ordinal },
            line: draft.line,
            submit: TimeUnit::SECOND.time(draft.submit),
            run: TimeUnit::SECOND.time(draft.run),
            estimate: (draft.estimate > 0.0).then(|| TimeUnit::SECOND.time(draft.estimate)),
            // Machines have fewer nodes than a count can say: what is cut off never fits anyway.
            nodes: draft.nodes as u32,
            shape: draft.shape,
            freedom: draft.freedom,
            tags: draft.tags,
        };
        report.kept += 1;
        report.notice(&record, self.records.last());
        self.records.push(record);
    }

    /// The trace, once every line has been offered.
    pub(crate) fn finish(mut self, header: Header, lines: u64) -> Result<Trace, ReadError> {
        let count = self.report.job_lines;
        if count == 0 {
            return Err(ReadError::NoJobs { lines });
        }
        let malformed = self.report.skipped(Skip::Malformed).count();
        if let Some(first) = self.first_fault.filter(|_| malformed == count) {
            return Err(ReadError::AllMalformed { count, first: Box::new(first) });
        }
        self.report.lines = lines;
        self.records.sort_by_key(|record| record.submit);
        Ok(Trace { header, records: self.records, report: self.report })
    }
}
