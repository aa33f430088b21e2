//! The records of jobs in a log, and their creation from any format.

use pavior_kernel::Time;
use pavior_mesh::{Freedom, Sides};
use rustc_hash::FxHashMap;

use super::{Dependency, Filter, Header, LineError, Predecessor, ReadError, Report, Skip};
use crate::{Job, Service, TimeUnit};

/// A job of a log that can be replayed. Times are in ticks of [`TimeUnit::SECOND`], as in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its number in the log, or the number of job lines before it if the log has none.
    pub number: u64,
    /// The line on which it begins, from 1.
    pub line: u64,
    /// The time of submission.
    pub submit: Time,
    /// The run time. A job with 0 departs at once.
    pub run: Time,
    /// The user's estimate of the run time, if any.
    pub estimate: Option<Time>,
    /// Its size, at least 1.
    pub nodes: u32,
    /// Its shape, always three sides, in logs with shapes.
    pub shape: Option<Sides>,
    /// The freedom in placing it, in logs with freedoms.
    pub freedom: Option<Freedom>,
    /// Its user, group, queue and so on.
    pub tags: Tags,
    /// The time that it waited in the log, if known.
    pub wait: Option<Time>,
    /// The jobs that it follows, if the log names any.
    pub dependency: Option<Box<Dependency>>,
}

/// The numbers by which a log classifies its jobs. -1 is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tags {
    /// Field 11: 1 completed, 0 failed, 5 cancelled. Logs also have others.
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
    /// Tags without any known value.
    pub const UNKNOWN: Tags =
        Tags { status: -1, user: -1, group: -1, application: -1, queue: -1, partition: -1 };
}

impl Record {
    /// Converts a synthetic job to a record, with its time units as seconds. Returns `None` for a
    /// job that sends messages, whose run time is known only after it has run.
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
            wait: None,
            dependency: None,
        })
    }
}

/// A log after reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The keys of its header, or none in formats without a header.
    pub header: Header,
    /// The jobs that can be replayed, in the order of submission (equal ones as in the log).
    pub records: Vec<Record>,
    /// The counts of lines read and skipped, and of oddities.
    pub report: Report,
}

/// Options for reading a log.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// True to skip and count lines that break the format, false to stop at the first.
    pub lenient: bool,
    /// The maximum number of job lines to read, including skipped ones.
    pub first: Option<u64>,
    /// The jobs to keep.
    pub filter: Filter,
    /// True to keep jobs that follow a kept job and have no submit time of their own.
    pub dependencies: bool,
}

/// The longest time in a log, in seconds: far longer than any, and safe in 64 bits of ticks.
pub(crate) const LONGEST: f64 = 1e12;

/// A job line as read by a format, before the rules that all formats share. Negative is unknown.
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
    pub(crate) wait: f64,
    /// The jobs that it follows.
    pub(crate) after: Vec<Predecessor>,
}

/// A collector that applies the rules that all formats share, and counts.
pub(crate) struct Collector<'o> {
    options: &'o ReadOptions,
    records: Vec<Record>,
    report: Report,
    first_fault: Option<LineError>,
    /// The submit times of the jobs kept so far, by number, if jobs may follow others.
    submits: FxHashMap<u64, Time>,
}

impl<'o> Collector<'o> {
    pub(crate) fn new(options: &'o ReadOptions) -> Collector<'o> {
        Collector {
            options,
            records: Vec::new(),
            report: Report::default(),
            first_fault: None,
            submits: FxHashMap::default(),
        }
    }

    /// Returns true if another job line is wanted.
    pub(crate) fn wants_more(&self) -> bool {
        self.options.first.is_none_or(|first| self.report.job_lines < first)
    }

    /// Records a job line that breaks the format. The error is only created if it is needed: in a
    /// file that is one long line, finding its column is expensive.
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

    /// Records a job line that its format skips.
    pub(crate) fn skip(&mut self, reason: Skip, line: u64) {
        self.report.job_lines += 1;
        self.report.skip(reason, line);
    }

    /// Records a job line that follows the format.
    pub(crate) fn offer(&mut self, draft: &Draft) {
        let report = &mut self.report;
        let ordinal = report.job_lines;
        report.job_lines += 1;
        if !self.options.filter.passes(&draft.tags) {
            report.filtered += 1;
            return;
        }
        let has_submit = draft.submit >= 0.0;
        let predecessors = draft.after.iter().filter_map(|job| self.submits.get(&job.number));
        let submit = if has_submit {
            Some(TimeUnit::SECOND.time(draft.submit))
        } else {
            predecessors.max().copied()
        };
        let skip = if submit.is_none() {
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
        let follows = Dependency { after: draft.after.clone(), has_submit };
        let record = Record {
            number: if draft.number >= 0.0 { draft.number as u64 } else { ordinal },
            line: draft.line,
            submit: submit.unwrap_or_default(),
            run: TimeUnit::SECOND.time(draft.run),
            estimate: (draft.estimate > 0.0).then(|| TimeUnit::SECOND.time(draft.estimate)),
            // Larger numbers than a count can hold are cut, since no machine has as many nodes.
            nodes: draft.nodes as u32,
            shape: draft.shape,
            freedom: draft.freedom,
            tags: draft.tags,
            wait: (draft.wait >= 0.0).then(|| TimeUnit::SECOND.time(draft.wait)),
            dependency: (!draft.after.is_empty()).then(|| Box::new(follows)),
        };
        if self.options.dependencies {
            self.submits.insert(record.number, record.submit);
        }
        report.kept += 1;
        report.notice(&record, self.records.last());
        self.records.push(record);
    }

    /// Returns the trace after every line has been offered.
    pub(crate) fn finish(mut self, header: Header, lines: u64) -> Result<Trace, ReadError> {
        let count = self.report.job_lines;
        if count == 0 {
            return Err(ReadError::NoJobs { lines });
        }
        let malformed = self.report.skipped(Skip::Malformed).count();
        if let Some(first) = self.first_fault.filter(|_| malformed == count) {
            return Err(ReadError::AllMalformed { count, first: Box::new(first) });
        }
        (self.report.lines, self.report.follows) = (lines, self.options.dependencies);
        self.records.sort_by_key(|record| record.submit);
        Ok(Trace { header, records: self.records, report: self.report })
    }
}
