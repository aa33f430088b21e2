//! Structured summaries of logs: counts, time span, load, sizes, run times and arrivals.

mod details;
mod jobs;

use std::cmp::Reverse;
use std::io::BufRead;

use rustc_hash::FxHashMap;
use serde::Serialize;

use self::details::Course;
use crate::TimeUnit;
use crate::traces::{
    Field, Format, Header, LineCount, Note, ReadError, ReadOptions, Skip, Trace, in_log_order,
};

pub use details::{Class, ClassCount, DependencyCounts, Week};
pub(crate) use jobs::Jobs;

/// A summary of a log, with times in seconds. The field names are also the JSON keys in results.
#[derive(Clone, Debug, Serialize)]
pub struct LogSummary {
    /// The number of lines, including comments and blank lines.
    pub lines: u64,
    /// The number of job lines.
    pub job_lines: u64,
    /// The number of jobs that can be replayed. The statistics in this summary cover these jobs.
    pub kept: u64,
    /// The number of jobs removed by the filter.
    pub filtered: u64,
    /// Jobs that cannot be replayed, grouped by reason.
    pub skipped: Vec<Skipped>,
    /// The number of jobs with a run time of zero.
    pub zero_length: u64,
    /// Jobs submitted earlier than the preceding job in the log.
    pub submits_back: LineNumbers,
    /// The number of jobs that have a user estimate.
    pub with_estimate: u64,
    /// The number of jobs that ran longer than their estimate.
    pub over_estimate: u64,
    /// The number of nodes in the machine, if it is known.
    pub machine_size: Option<u64>,
    /// The number of jobs that are larger than the machine.
    pub larger_than_machine: u64,
    /// The time of the first submission.
    pub first_submit: f64,
    /// The time of the last submission.
    pub last_submit: f64,
    /// The time between the first submission and the last.
    pub span: f64,
    /// The span divided by the number of gaps between submissions.
    pub mean_interarrival: Option<f64>,
    /// Total work (run time times size) divided by the machine's capacity over the span.
    pub load: Option<f64>,
    /// Job sizes, in nodes.
    pub sizes: Spread,
    /// The fraction of sizes that are powers of two.
    pub power_of_two: f64,
    /// The fraction of sizes that are powers of two, counting only jobs with more than one node.
    pub power_of_two_parallel: Option<f64>,
    /// Run times.
    pub runs: Spread,
    /// The number of jobs in each size range.
    pub size_histogram: Vec<Bin>,
    /// The number of jobs in each run-time range.
    pub run_histogram: Vec<Bin>,
    /// Arrivals by hour and by weekday.
    pub arrivals: Arrivals,
    /// The log's format, if the summary was read from a log. In JSON, it is given by its title.
    pub format: Option<Format>,
    /// The value of `MaxNodes` in the header.
    pub header_nodes: Option<u64>,
    /// The value of `MaxProcs` in the header.
    pub header_processors: Option<u64>,
    /// The peak number of nodes in use, if the log contains every job's wait.
    pub greatest_use: Option<u64>,
    /// The number of jobs that have the same job number as an earlier job.
    pub repeated_numbers: u64,
    /// Ratios of estimated to actual run time, for jobs that have both.
    pub estimate_factors: Option<Spread>,
    /// Dependencies between jobs.
    pub dependencies: DependencyCounts,
    /// The most common values of the categorical job fields.
    pub classes: Vec<Class>,
    /// The weeks since the first submission, or an empty list if the log is longer than twenty
    /// years.
    pub weeks: Vec<Week>,
    /// The names in the log's fields, if the log's format has names. Only the 1000 names with the
    /// most jobs are listed for each field.
    pub names: Vec<NameCount>,
    /// Oddities in the log that are not errors.
    pub notes: Vec<Note>,
}

/// A name in one of the log's fields, such as a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NameCount {
    /// The field's key, as used in filters.
    pub field: &'static str,
    /// The name.
    pub name: String,
    /// The number that represents the name.
    pub number: i64,
    /// The number of kept jobs that have this name.
    pub jobs: u64,
}

/// Job lines that were skipped for the same reason.
#[derive(Clone, Debug, Serialize)]
pub struct Skipped {
    /// The reason's key.
    pub reason: &'static str,
    /// The lines that were skipped.
    #[serde(flatten)]
    pub found: LineNumbers,
}

/// The number of lines of the same kind, and their line numbers.
#[derive(Clone, Debug, Serialize)]
pub struct LineNumbers {
    /// The number of lines.
    pub count: u64,
    /// The line numbers, starting from 1.
    pub lines: Vec<u64>,
}

impl LineNumbers {
    fn of(tally: &LineCount) -> LineNumbers {
        LineNumbers { count: tally.count(), lines: tally.lines().to_vec() }
    }
}

/// The mean and quantiles (by nearest rank) of a set of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The minimum.
    pub min: f64,
    /// The 25% quantile.
    pub p25: f64,
    /// The median.
    pub p50: f64,
    /// The 75% quantile.
    pub p75: f64,
    /// The 90% quantile.
    pub p90: f64,
    /// The 99% quantile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

impl Spread {
    /// Computes the statistics from (value, job count) pairs in ascending order of value. If there
    /// are no values, all statistics are 0.
    fn of(values: impl Iterator<Item = (f64, u64)> + Clone) -> Spread {
        let all: u64 = values.clone().map(|(_, count)| count).sum();
        let ranks =
            [0, 25, 50, 75, 90, 99, 100].map(|percent| (all * percent).div_ceil(100).max(1));
        let (mut before, mut sum, mut found) = (0, 0.0, [0.0; 7]);
        for (value, count) in values {
            (0..count).for_each(|_| sum += value);
            let reached = before..before + count;
            for (found, _) in
                found.iter_mut().zip(ranks).filter(|(_, n)| reached.contains(&(n - 1)))
            {
                *found = value;
            }
            before += count;
        }
        let [min, p25, p50, p75, p90, p99, max] = found;
        Spread { mean: sum / all.max(1) as f64, min, p25, p50, p75, p90, p99, max }
    }
}

/// A histogram range, from `from` (inclusive) to `to` (exclusive, or unbounded if `None`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// The start of the range.
    pub from: f64,
    /// The end of the range.
    pub to: Option<f64>,
    /// The number of values in the range.
    pub count: u64,
}

/// Arrivals by hour of the day and by day of the week.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arrivals {
    /// The clock that determines hours and weekdays.
    pub clock: Clock,
    /// The number of arrivals in each hour of the day.
    pub by_hour: [u64; 24],
    /// The number of arrivals on each weekday, starting with Monday, or `None` if the log's start
    /// date is unknown.
    pub by_weekday: Option<[u64; 7]>,
}

/// A clock that determines the hour of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The machine's local time, based on `UnixStartTime` and `TimeZone` in the header.
    Local,
    /// Universal time, used if the header has `UnixStartTime` but no `TimeZone`.
    Utc,
    /// Time since the start of the log, used if the header has no `UnixStartTime`.
    Log,
}

impl LogSummary {
    /// Summarizes a log for a machine of the given size or, by default, of the size in the log's
    /// header.
    ///
    /// ```
    /// # mod pavior { pub use pavior_workload as workload; }
    /// use pavior::workload::inspect::LogSummary;
    /// use pavior::workload::traces::{ReadOptions, sim};
    /// let trace = sim::read("0 4 60\n100 2 30\n".as_bytes(), &ReadOptions::default())?;
    /// let summary = LogSummary::of(&trace, Some(4));
    /// assert_eq!((summary.kept, summary.span), (2, 100.0));
    /// assert_eq!(summary.load, Some(0.75));
    /// # Ok::<(), pavior::workload::traces::ReadError>(())
    /// ```
    pub fn of(trace: &Trace, machine_size: Option<u64>) -> LogSummary {
        let mut jobs = Jobs::new(machine_size);
        in_log_order(&trace.records).for_each(|(index, record)| jobs.link(index, record));
        trace.records.iter().for_each(|record| jobs.add_unlinked(record));
        jobs.finish(trace)
    }

    /// Reads and summarizes a log as it would be replayed on a machine with the given number of
    /// nodes. SWF and `.sim` jobs are summarized one at a time, so memory use is proportional to
    /// the number of distinct values, plus a few bytes per job.
    ///
    /// # Errors
    /// Returns the same errors as [`Format::read`].
    ///
    /// ```
    /// # mod pavior { pub use pavior_workload as workload; }
    /// use pavior::workload::inspect::LogSummary;
    /// use pavior::workload::traces::{Format, ReadOptions};
    /// let log = "0 4 60\n100 2 30\n".as_bytes();
    /// let summary = LogSummary::read(Format::Sim, log, &ReadOptions::default(), None)?;
    /// assert_eq!((summary.kept, summary.span), (2, 100.0));
    /// # Ok::<(), pavior::workload::traces::ReadError>(())
    /// ```
    pub fn read(
        format: Format,
        reader: impl BufRead,
        options: &ReadOptions,
        machine_size: Option<u64>,
    ) -> Result<LogSummary, ReadError> {
        let mut jobs = Jobs::new(machine_size);
        let trace = format.read_into(Some(&mut jobs), reader, options)?;
        if jobs.count() > 0 {
            return Ok(jobs.finish(&trace));
        }
        let trace = std::sync::Arc::new(trace);
        let divided = machine_size.map_or_else(|| trace.clone(), |nodes| trace.for_machine(nodes));
        Ok(LogSummary::of(&divided, machine_size))
    }

    fn new(
        trace: &Trace,
        machine_size: Option<u64>,
        jobs: &Jobs,
        mut course: Course,
        runs: &[(f64, u64)],
        estimate_factors: Option<Spread>,
        dependencies: DependencyCounts,
    ) -> LogSummary {
        let Trace { header, report, .. } = trace;
        let sizes = course.sizes();
        let count = jobs.count();
        let submit = |time| if count > 0 { TimeUnit::SECOND.units(time) } else { 0.0 };
        let (first_submit, last_submit) = (submit(jobs.first_submit), submit(jobs.last_submit));
        let span = last_submit - first_submit;
        let share = |some: u64, all: u64| (all > 0).then(|| some as f64 / all as f64);
        let pow2 = course.jobs(u32::is_power_of_two);
        let single = course.jobs(|size| size == 1);
        LogSummary {
            lines: report.lines,
            job_lines: report.job_lines,
            kept: report.kept,
            filtered: report.filtered,
            skipped: skipped(trace),
            zero_length: report.zero_length.count(),
            submits_back: LineNumbers::of(&report.submits_back),
            with_estimate: jobs.with_estimate,
            over_estimate: report.over_estimate.count(),
            machine_size,
            larger_than_machine: machine_size
                .map_or(0, |most| course.jobs(|size| u64::from(size) > most)),
            first_submit,
            last_submit,
            span,
            mean_interarrival: (count > 1).then(|| span / (count - 1) as f64),
            load: machine_size
                .filter(|_| span > 0.0)
                .map(|size| course.work() / (size as f64 * span)),
            size_histogram: histogram(&size_edges(course.largest()), &sizes),
            run_histogram: histogram(RUN_EDGES, runs),
            sizes: Spread::of(sizes.iter().copied()),
            power_of_two: share(pow2, count).unwrap_or(0.0),
            power_of_two_parallel: share(pow2 - single, count - single),
            runs: Spread::of(runs.iter().copied()),
            arrivals: Arrivals::of(header, jobs),
            format: report.format,
            header_nodes: header.count("MaxNodes"),
            header_processors: header.count("MaxProcs"),
            greatest_use: course.greatest_use(),
            repeated_numbers: jobs.repeated,
            estimate_factors,
            dependencies,
            classes: Class::all(&jobs.classes),
            weeks: course.weeks(machine_size),
            names: names(trace, &jobs.classes),
            notes: notes(trace, &course),
        }
    }
}

/// Returns the log's notes. Adds a note if jobs are too far out of submission order.
fn notes(trace: &Trace, course: &Course) -> Vec<Note> {
    let text = "some jobs are more than 262,143 positions out of submission order, so peak use \
        and weekly figures are unknown";
    let unsorted = Note { text: text.to_string(), count: 1, line: 0 };
    let unsorted = Some(unsorted).filter(|_| course.is_unsorted);
    trace.report.notes.iter().cloned().chain(unsorted).collect()
}

/// The maximum number of names listed per field in a summary.
const MOST_NAMES: usize = 1000;

/// Returns the names in each field, most frequent first. `classes` counts the values in the status,
/// user, group, application, queue and partition fields.
fn names(trace: &Trace, classes: &[FxHashMap<i64, u64>; 6]) -> Vec<NameCount> {
    let [_, user, group, application, queue, partition] = classes;
    let mut all = Vec::new();
    for (field, jobs) in [
        (Field::Partition, partition),
        (Field::Queue, queue),
        (Field::User, user),
        (Field::Group, group),
        (Field::Application, application),
    ] {
        let count = |number: &i64| jobs.get(number).copied().unwrap_or_default();
        let mut names = trace.names.of(field);
        names.sort_by_key(|(_, number)| (Reverse(count(number)), *number));
        all.extend(names.into_iter().take(MOST_NAMES).map(|(name, number)| NameCount {
            field: field.key(),
            name,
            number,
            jobs: count(&number),
        }));
    }
    all
}

fn skipped(trace: &Trace) -> Vec<Skipped> {
    let one = |reason: Skip| {
        let found = LineNumbers::of(trace.report.skipped(reason));
        Skipped { reason: reason.name(), found }
    };
    Skip::ALL.into_iter().map(one).collect()
}

/// Edges of the run-time ranges: 0 s, 1 s, 10 s, 1 min, 10 min, 1 h, 6 h, 1 day and 1 week.
const RUN_EDGES: &[f64] =
    &[0.0, 1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 604_800.0, f64::INFINITY];

/// Returns the edges of the ranges 1, 2, 3 to 4, 5 to 8, and so on, each ending at a power of two.
fn size_edges(most: u32) -> Vec<f64> {
    let most = f64::from(most);
    let mut edges = vec![1.0, 2.0];
    while edges[edges.len() - 1] <= most {
        edges.push((edges[edges.len() - 1] - 1.0) * 2.0 + 1.0);
    }
    edges
}

/// Counts the values between each pair of consecutive edges. The edges must be ascending, and no
/// value may be below the first edge.
fn histogram(edges: &[f64], values: &[(f64, u64)]) -> Vec<Bin> {
    let mut counts = vec![0; edges.len() - 1];
    for (value, count) in values {
        counts[edges.partition_point(|edge| edge <= value) - 1] += count;
    }
    let ends = edges.windows(2).map(|pair| (pair[0], Some(pair[1]).filter(|to| to.is_finite())));
    ends.zip(counts).map(|((from, to), count)| Bin { from, to, count }).collect()
}

impl Arrivals {
    fn of(header: &Header, jobs: &Jobs) -> Arrivals {
        let zone = header.integer("TimeZone").filter(|zone| zone.abs() <= 50_400);
        let (clock, offset) = match (header.start(), zone) {
            (Some(start), Some(zone)) => (Clock::Local, start + zone),
            (Some(start), None) => (Clock::Utc, start),
            (None, _) => (Clock::Log, 0),
        };
        let (by_hour, by_weekday) = jobs.arrivals(offset);
        Arrivals { clock, by_hour, by_weekday: (clock != Clock::Log).then_some(by_weekday) }
    }
}
