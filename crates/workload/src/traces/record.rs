//! Job records, and the collector that gathers them from a log in any format.

use std::sync::{Arc, OnceLock};

use pavior_kernel::Time;
use pavior_mesh::{Freedom, Sides};
use rustc_hash::FxHashMap;

use super::dependencies::Numbers;
use super::json_list::Document;
use super::{
    Dependency, Field, Filter, Format, Header, LineError, Names, Note, Predecessor, ReadError,
    Report, Skip,
};
use crate::inspect::Jobs;
use crate::{Job, Service, TimeUnit};

/// A replayable job from a log. Times are in ticks of [`TimeUnit::SECOND`].
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The job's number in the log or, if the log has no job numbers, the number of preceding job
    /// lines.
    pub number: u64,
    /// The line on which the job starts, counting from 1.
    pub line: u64,
    /// The submit time.
    pub submit: Time,
    /// The run time. A job with a run time of 0 departs immediately.
    pub run: Time,
    /// The user's estimate of the run time.
    pub estimate: Option<Time>,
    /// The size in nodes, at least 1.
    pub nodes: u32,
    /// The shape, if the log has shapes. A shape always has three sides.
    pub shape: Option<Sides>,
    /// The job's placement freedom, if the log specifies it.
    pub freedom: Option<Freedom>,
    /// The job's user, group, queue and similar tags.
    pub tags: Tags,
    /// The job's wait according to the log, if known.
    pub wait: Option<Time>,
    /// The jobs that this one depends on, if the log names any.
    pub dependency: Option<Box<Dependency>>,
}

/// Categorical properties of a job, as numbers. The number is -1 if a property is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tags {
    /// Field 11: 1 for completed, 0 for failed, 5 for canceled. Other values also occur in logs.
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
    /// Tags in which every value is unknown.
    pub const UNKNOWN: Tags =
        Tags { status: -1, user: -1, group: -1, application: -1, queue: -1, partition: -1 };

    /// Returns the number in a field.
    pub fn get(&self, field: Field) -> i64 {
        match field {
            Field::Partition => self.partition,
            Field::Queue => self.queue,
            Field::Status => self.status,
            Field::User => self.user,
            Field::Group => self.group,
            Field::Application => self.application,
        }
    }
}

impl Record {
    /// Converts a synthetic job to a record, treating time units as seconds. Returns `None` if the
    /// job sends messages, because the run time of such a job is not known in advance.
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

/// A log that has been read.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The header, or an empty one if the format has none.
    pub header: Header,
    /// The jobs that can be replayed, in submission order (ties in log order).
    pub records: Vec<Record>,
    /// Counts of lines read and skipped, and any oddities.
    pub report: Report,
    /// The names that the numbers in tags represent, if the format has names.
    pub names: Names,
    /// The number of processors per node, if the header indicates that sizes count processors.
    pub(crate) divisor: Option<u32>,
    pub(crate) divided: Divided,
    /// The node names for each job, keyed by line and job number.
    hosts: FxHashMap<(u64, u64), Box<str>>,
}

/// A cached copy of the log in which sizes are divided, computed when first needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Divided(OnceLock<Arc<Trace>>);

/// Treats all values as equal, because each value is determined by the rest of its log.
impl PartialEq for Divided {
    fn eq(&self, _: &Divided) -> bool {
        true
    }
}

impl Trace {
    /// Creates a log from records, which must be in submission order.
    pub fn of_records(records: Vec<Record>) -> Trace {
        let count = records.len() as u64;
        let mut report = Report::default();
        (report.job_lines, report.kept) = (count, count);
        let (header, names) = Default::default();
        let (divided, hosts) = Default::default();
        Trace { header, records, report, names, divisor: None, divided, hosts }
    }

    /// Returns the log as it would be replayed on a machine with the given number of nodes. This is
    /// usually the log itself. However, sizes may count processors. This is assumed if some job is
    /// larger than the machine, and if the header contains both the machine's number of nodes and a
    /// processor count that is a multiple of that number. Such sizes are divided as with
    /// [`ReadOptions::processors_per_node`], unless that option has already divided them.
    #[must_use]
    pub fn for_machine(self: &Arc<Trace>, nodes: u64) -> Arc<Trace> {
        match self.divisor_for(nodes) {
            Some(by) => self.divided.0.get_or_init(|| Arc::new(self.divide(by))).clone(),
            None => self.clone(),
        }
    }

    /// Returns a job's node names as a Slurm node list ([`expand`](crate::hosts::expand)), if the
    /// log contains them and they were read.
    pub fn hosts(&self, record: &Record) -> Option<&str> {
        self.hosts.get(&(record.line, record.number)).map(|names| &**names)
    }

    /// Returns notes about the log as it will be replayed.
    pub fn notes(&self) -> impl Iterator<Item = &Note> {
        self.divided.0.get().map_or(&self.report.notes, |divided| &divided.report.notes).iter()
    }

    /// Returns a copy of the log with job sizes and the machine size divided, rounding up.
    pub(crate) fn divide(&self, by: u32) -> Trace {
        let mut trace = Trace { divided: Divided::default(), divisor: None, ..self.clone() };
        for record in trace.records.iter_mut().filter(|record| record.shape.is_none()) {
            record.nodes = record.nodes.div_ceil(by);
        }
        trace.header.divide(by.into());
        trace.report.notes.retain(|note| note.text != processors(by));
        let text = format!(
            "some jobs are larger than the machine, so sizes were taken as processor counts and \
             divided by {by} (MaxProcs / MaxNodes); --processors-per-node 1 treats sizes as node \
             counts"
        );
        trace.report.note(text, 0);
        trace
    }

    /// Returns the divisor for job sizes on a machine with the given number of nodes.
    pub(crate) fn divisor_for(&self, nodes: u64) -> Option<u32> {
        self.divisor.filter(|_| self.header.count("MaxNodes") == Some(nodes))
    }
}

/// Returns true if a record is a piece of a job.
fn is_piece(record: &Record) -> bool {
    (2..=4).contains(&record.tags.status)
}

/// Returns true if a record is a whole job, which may also have pieces.
fn is_whole(record: &Record) -> bool {
    [0, 1].contains(&record.tags.status)
}

/// Returns the header's number of processors per node (at least 2) and number of nodes.
fn divisor(header: &Header) -> Option<(u32, u64)> {
    let (processors, nodes) = (header.count("MaxProcs")?, header.count("MaxNodes")?);
    let by = u32::try_from(processors / nodes).ok()?;
    (by >= 2 && processors % nodes == 0).then_some((by, nodes))
}

fn processors(by: u32) -> String {
    format!(
        "sizes look like processor counts (MaxProcs is {by} times MaxNodes) but are treated as \
         node counts; --processors-per-node {by} divides the sizes"
    )
}

/// Options for reading a log.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is on or off, in any combination")]
pub struct ReadOptions {
    /// True to skip and count malformed lines, or false to stop at the first one.
    pub lenient: bool,
    /// The maximum number of job lines to read, including lines that are skipped.
    pub first: Option<u64>,
    /// The filter for jobs.
    pub filter: Filter,
    /// True to keep jobs that have no submit time in the log but depend on a job that is kept.
    pub dependencies: bool,
    /// The format to use if neither the content nor the file name determines it.
    pub format: Option<Format>,
    /// The number by which to divide processor counts to obtain node counts, rounding up.
    pub processors_per_node: Option<u32>,
    /// The column in an SWF log that contains node counts, counting from 1. Its cells are `4`,
    /// `2x4` (nodes times processors), or either form preceded by text that ends in a colon.
    pub nodes_from: Option<u32>,
    /// True to keep the pieces of a job even if the whole job has its own line.
    pub pieces: bool,
    /// True to read node names ([`Trace::hosts`]).
    pub hosts: bool,
}

/// The longest time allowed in a log, in seconds. Exceeds any real time but fits in 64-bit ticks.
pub(crate) const LONGEST: f64 = 1e12;

/// A job line before the common rules are applied. Negative values mean unknown.
pub(crate) struct Draft {
    pub(crate) number: f64,
    pub(crate) line: u64,
    pub(crate) submit: f64,
    pub(crate) run: f64,
    pub(crate) estimate: f64,
    pub(crate) nodes: f64,
    /// True if the size counts processors, or false if it counts nodes.
    pub(crate) in_processors: bool,
    /// The number that represents the job's state name, or -1 if the job has none.
    pub(crate) state: i64,
    pub(crate) shape: Option<Sides>,
    pub(crate) freedom: Option<Freedom>,
    pub(crate) tags: Tags,
    pub(crate) wait: f64,
    /// The jobs that this one depends on.
    pub(crate) after: Vec<Predecessor>,
    /// The job's node names, as a Slurm node list.
    pub(crate) hosts: Option<String>,
}

/// Returns the wait from submission to start, in seconds, or -1 if it is unknown.
pub(crate) fn wait(submit: f64, start: Option<f64>) -> f64 {
    let start = start.filter(|&start| submit >= 0.0 && start >= submit);
    start.map_or(-1.0, |start| (start - submit).min(LONGEST))
}

/// A collector that counts jobs and applies the rules that all formats share.
pub(crate) struct Collector<'o> {
    pub(crate) options: &'o ReadOptions,
    pub(crate) header: Header,
    /// The statistics to which jobs are added, if the jobs themselves are not kept.
    sink: Option<&'o mut Jobs>,
    /// The numbers of jobs that were passed to the sink and may have pieces.
    whole: Numbers,
    /// The submit time of the last job kept or passed to the sink.
    before: Option<Time>,
    /// The divisor and the number of nodes, both from the header, if sizes may count processors.
    divisor: Option<(u32, u64)>,
    hosts: FxHashMap<(u64, u64), Box<str>>,
    filter: Filter,
    names: Names,
    records: Vec<Record>,
    report: Report,
    first_fault: Option<LineError>,
    /// The submit times of jobs kept so far, by job number, if dependencies are used.
    submits: FxHashMap<u64, Time>,
}

impl<'o> Collector<'o> {
    pub(crate) fn new(options: &'o ReadOptions) -> Collector<'o> {
        Collector {
            options,
            header: Header::default(),
            sink: None,
            whole: Numbers::default(),
            before: None,
            divisor: None,
            hosts: FxHashMap::default(),
            filter: options.filter.clone(),
            names: Names::default(),
            records: Vec::new(),
            report: Report::default(),
            first_fault: None,
            submits: FxHashMap::default(),
        }
    }

    /// Makes the collector pass jobs to a sink instead of keeping them.
    pub(crate) fn with(self, sink: Option<&'o mut Jobs>) -> Collector<'o> {
        Collector { sink, ..self }
    }

    /// Sets the log's names, which must be done before any job is offered.
    pub(crate) fn set_names(&mut self, names: Names) -> Result<(), ReadError> {
        self.filter = self.options.filter.resolve(&names).map_err(ReadError::Option)?;
        self.names = names;
        Ok(())
    }

    pub(crate) fn note(&mut self, text: impl Into<String>, line: u64) {
        self.report.note(text, line);
    }

    /// Returns true if more job lines should be read. `not_offered` lines have been read but not
    /// yet offered.
    pub(crate) fn wants_more(&self, not_offered: u64) -> bool {
        self.options.first.is_none_or(|first| self.report.job_lines + not_offered < first)
    }

    /// Records a malformed job line. The error is created only on demand, because finding the
    /// error's column is expensive on a long line.
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

    /// Records a job line that is skipped under the format's rules.
    pub(crate) fn skip(&mut self, reason: Skip, line: u64) {
        self.report.job_lines += 1;
        self.report.skip(reason, line);
    }

    /// Records a well-formed job line.
    pub(crate) fn offer(&mut self, draft: &Draft) {
        let report = &mut self.report;
        let ordinal = report.job_lines;
        report.job_lines += 1;
        if !self.filter.passes_with(&draft.tags, draft.state) {
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
        // The conversion saturates, but no machine has that many nodes.
        let size = draft.nodes as u32;
        let by = self.options.processors_per_node.filter(|_| draft.in_processors);
        let record = Record {
            number: if draft.number >= 0.0 { draft.number as u64 } else { ordinal },
            line: draft.line,
            submit: submit.unwrap_or_default(),
            run: TimeUnit::SECOND.time(draft.run),
            estimate: (draft.estimate > 0.0).then(|| TimeUnit::SECOND.time(draft.estimate)),
            nodes: by.map_or(size, |by| size.div_ceil(by.max(1))),
            shape: draft.shape,
            freedom: draft.freedom,
            tags: draft.tags,
            wait: (draft.wait >= 0.0).then(|| TimeUnit::SECOND.time(draft.wait)),
            dependency: (!draft.after.is_empty()).then(|| Box::new(follows)),
        };
        if self.options.dependencies {
            self.submits.insert(record.number, record.submit);
        }
        if let Some(hosts) = draft.hosts.as_deref().filter(|_| self.options.hosts) {
            self.hosts.insert((record.line, record.number), hosts.into());
        }
        self.take(record);
    }

    /// Passes a job to the sink if there is one; otherwise, keeps it. If a piece precedes the line
    /// for its whole job, that piece and all later jobs are held until the end.
    fn take(&mut self, record: Record) {
        let is_first = self.before.is_none() && self.records.is_empty();
        if is_first && self.options.processors_per_node.or(self.options.nodes_from).is_none() {
            self.divisor = divisor(&self.header);
        }
        let is_kept = !self.records.is_empty();
        let Some(sink) = self.sink.as_deref_mut().filter(|_| !is_kept) else {
            return self.records.push(record);
        };
        if is_first {
            sink.may_divide(self.divisor);
        }
        if !self.options.pieces && is_piece(&record) {
            if self.whole.has(record.number) {
                self.report.skip(Skip::Piece, record.line);
            } else {
                self.records.push(record);
            }
            return;
        }
        if is_whole(&record) {
            self.whole.set(record.number, 0);
        }
        self.report.notice(&record, self.before);
        self.before = Some(record.submit);
        sink.add(&record);
    }

    /// Returns the log. All entries in the document must already have been offered.
    pub(crate) fn finish_document(mut self, read: &Document) -> Result<Trace, ReadError> {
        let text = "skipped lines before the document, such as warnings";
        (0..read.in_front).for_each(|_| self.note(text, 1));
        self.finish(read.lines)
    }

    /// Returns the log. All job lines must already have been offered.
    pub(crate) fn finish(mut self, lines: u64) -> Result<Trace, ReadError> {
        let count = self.report.job_lines;
        if count == 0 {
            return Err(ReadError::NoJobs { lines });
        }
        let malformed = self.report.skipped(Skip::Malformed).count();
        if let Some(first) = self.first_fault.take().filter(|_| malformed == count) {
            return Err(ReadError::AllMalformed { count, first: Box::new(first) });
        }
        let names = self.names.clone();
        self.filter.resolve(&names).map_err(ReadError::Option)?;
        if !self.options.pieces {
            self.drop_pieces();
        }
        let Collector { mut records, mut report, options, mut header, mut before, .. } = self;
        for record in &records {
            report.notice(record, before);
            before = Some(record.submit);
        }
        let mut largest = records.iter().map(|record| record.nodes).max().unwrap_or(0);
        report.kept = records.len() as u64;
        if let Some(sink) = self.sink {
            records.drain(..).for_each(|record| sink.add(&record));
            (report.kept, largest) = (sink.count(), sink.largest());
        }
        report.lines = lines;
        report.follows = options.dependencies;
        for (key, value) in header.unreadable_sizes() {
            let value = pavior_kernel::shown(value);
            report.note(format!("the header's {key} is not a number: {value}"), 0);
        }
        if let Some(by) = options.processors_per_node {
            header.divide(by.max(1).into());
        }
        records.sort_by_key(|record| record.submit);
        let divisor = self.divisor.filter(|&(_, nodes)| u64::from(largest) > nodes);
        let divisor = divisor.map(|(by, _)| by);
        if let Some(by) = divisor {
            report.note(processors(by), 0);
        }
        let (divided, hosts) = (Divided::default(), self.hosts);
        Ok(Trace { header, records, report, names, divisor, divided, hosts })
    }

    /// Removes the pieces of each job whose own line was kept.
    fn drop_pieces(&mut self) {
        if !self.records.iter().any(is_piece) {
            return;
        }
        for record in self.records.iter().filter(|record| is_whole(record)) {
            self.whole.set(record.number, 0);
        }
        let (report, whole) = (&mut self.report, &self.whole);
        self.records.retain(|record| {
            let skipped = is_piece(record) && whole.has(record.number);
            if skipped {
                report.skip(Skip::Piece, record.line);
            } else if is_piece(record) {
                report.note("kept pieces of jobs that have no whole-job line", record.line);
            }
            !skipped
        });
    }
}
