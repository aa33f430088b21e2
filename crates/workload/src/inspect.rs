//! Summaries of logs as data: counts, span, load, sizes, run times, and arrival times.

mod details;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use pavior_kernel::Time;
use serde::Serialize;

use crate::TimeUnit;
use crate::traces::{Field, Format, Header, LineCount, Note, Record, Skip, Trace};

pub use details::{Class, ClassCount, DependencyCounts, Week};

/// A log in numbers. Times are in seconds. The field names are the keys of the results in JSON.
#[derive(Clone, Debug, Serialize)]
pub struct LogSummary {
    /// The number of lines, including comments and blank lines.
    pub lines: u64,
    /// The number of job lines.
    pub job_lines: u64,
    /// The number of jobs that can be replayed. The statistics below are about them.
    pub kept: u64,
    /// The number of jobs that the filter removed.
    pub filtered: u64,
    /// Jobs that cannot be replayed, by reason.
    pub skipped: Vec<Skipped>,
    /// The number of jobs with a run time of zero.
    pub zero_length: u64,
    /// Jobs that were submitted before the preceding one in the log, and their lines.
    pub submits_back: LineNumbers,
    /// The number of jobs with a user's estimate.
    pub with_estimate: u64,
    /// The number of jobs that ran longer than the estimate.
    pub over_estimate: u64,
    /// The number of nodes of the machine, if known.
    pub machine_size: Option<u64>,
    /// The number of jobs larger than the machine.
    pub larger_than_machine: u64,
    /// The first submission.
    pub first_submit: f64,
    /// The last submission.
    pub last_submit: f64,
    /// The time from the first submission to the last.
    pub span: f64,
    /// The span divided by the number of gaps between submissions.
    pub mean_interarrival: Option<f64>,
    /// Work (run time times size) divided by the capacity of the machine in the span.
    pub load: Option<f64>,
    /// Sizes, in nodes.
    pub sizes: Spread,
    /// The fraction of sizes that are powers of two.
    pub power_of_two: f64,
    /// The same fraction among jobs with more than one node.
    pub power_of_two_parallel: Option<f64>,
    /// Run times.
    pub runs: Spread,
    /// The number of jobs with a size in each range.
    pub size_histogram: Vec<Bin>,
    /// The number of jobs with a run time in each range.
    pub run_histogram: Vec<Bin>,
    /// Arrivals by hour and by day.
    pub arrivals: Arrivals,
    /// The format in words, if the log was read from one.
    pub format: Option<&'static str>,
    /// `MaxNodes` of the header.
    pub header_nodes: Option<u64>,
    /// `MaxProcs` of the header.
    pub header_processors: Option<u64>,
    /// The largest number of nodes in use at one time, if the log has all waits.
    pub greatest_use: Option<u64>,
    /// The number of jobs that have the number of an earlier job.
    pub repeated_numbers: u64,
    /// Estimates divided by run times, of jobs with both.
    pub estimate_factors: Option<Spread>,
    /// Jobs that follow others.
    pub dependencies: DependencyCounts,
    /// The values of fields that classify jobs.
    pub classes: Vec<Class>,
    /// The weeks, from the first submission on; none if the log is longer than twenty years.
    pub weeks: Vec<Week>,
    /// The names in the fields of the log, in formats with names: for each field, the 1000 names
    /// with the most jobs.
    pub names: Vec<NameCount>,
    /// Oddities of the log that were not errors.
    pub notes: Vec<Note>,
}

/// A name in a field of the log, such as a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NameCount {
    /// The key of the field in filters.
    pub field: &'static str,
    /// The name.
    pub name: String,
    /// The number that represents the name.
    pub number: i64,
    /// The number of jobs that were kept.
    pub jobs: u64,
}

/// Job lines that were skipped for one reason.
#[derive(Clone, Debug, Serialize)]
pub struct Skipped {
    /// The key of the reason.
    pub reason: &'static str,
    /// The lines and their number.
    #[serde(flatten)]
    pub found: LineNumbers,
}

/// The number of some lines, and their line numbers.
#[derive(Clone, Debug, Serialize)]
pub struct LineNumbers {
    /// The number of lines.
    pub count: u64,
    /// The line numbers, from 1.
    pub lines: Vec<u64>,
}

impl LineNumbers {
    fn of(tally: &LineCount) -> LineNumbers {
        LineNumbers { count: tally.count(), lines: tally.lines().to_vec() }
    }
}

/// Mean and quantiles (nearest rank).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The minimum.
    pub min: f64,
    /// The 25 % quantile.
    pub p25: f64,
    /// The median.
    pub p50: f64,
    /// The 75 % quantile.
    pub p75: f64,
    /// The 90 % quantile.
    pub p90: f64,
    /// The 99 % quantile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

impl Spread {
    /// Computes the statistics for values in any order. All are 0 without values.
    fn of(mut values: Vec<f64>) -> Spread {
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let at = |percent: usize| {
            let rank = (count * percent).div_ceil(100).max(1);
            values.get(rank - 1).copied().unwrap_or(0.0)
        };
        Spread {
            mean: values.iter().sum::<f64>() / count.max(1) as f64,
            min: at(0),
            p25: at(25),
            p50: at(50),
            p75: at(75),
            p90: at(90),
            p99: at(99),
            max: at(100),
        }
    }
}

/// A range of a histogram, with `from` included and `to` excluded. The last one may be open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// The beginning of the range.
    pub from: f64,
    /// The end of the range.
    pub to: Option<f64>,
    /// The number of values in the range.
    pub count: u64,
}

/// Arrivals by hour of the day and by day of the week.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arrivals {
    /// The clock by which hours are counted.
    pub clock: Clock,
    /// The number of arrivals in each hour of the day.
    pub by_hour: [u64; 24],
    /// The number of arrivals on each weekday, from Monday; `None` if the log does not say when it
    /// begins.
    pub by_weekday: Option<[u64; 7]>,
}

/// The meaning of hours of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The machine's local time, by `UnixStartTime` and `TimeZone` of the header.
    Local,
    /// Universal time: the header has no `TimeZone`.
    Utc,
    /// Time since the log began: the header has no `UnixStartTime`.
    Log,
}

impl LogSummary {
    /// Summarizes a log for a machine of a given size. Without a size, the size in the header is
    /// used.
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
        let Trace { header, records, report, .. } = trace;
        let machine_size = machine_size.or_else(|| header.machine_size());
        let seconds = |time: Time| TimeUnit::SECOND.units(time);
        let first_submit = records.first().map_or(0.0, |record| seconds(record.submit));
        let last_submit = records.last().map_or(0.0, |record| seconds(record.submit));
        let span = last_submit - first_submit;
        let work: f64 = records.iter().map(|r| seconds(r.run) * f64::from(r.nodes)).sum();
        let share = |which: fn(&&Record) -> bool, of: fn(&&Record) -> bool| {
            let all = records.iter().filter(of).count();
            let some = records.iter().filter(of).filter(which).count();
            (all > 0).then(|| some as f64 / all as f64)
        };
        let pow2: fn(&&Record) -> bool = |record| record.nodes.is_power_of_two();
        let sizes: Vec<f64> = records.iter().map(|record| f64::from(record.nodes)).collect();
        let runs: Vec<f64> = records.iter().map(|record| seconds(record.run)).collect();
        LogSummary {
            lines: report.lines,
            job_lines: report.job_lines,
            kept: report.kept,
            filtered: report.filtered,
            skipped: skipped(trace),
            zero_length: report.zero_length.count(),
            submits_back: LineNumbers::of(&report.submits_back),
            with_estimate: records.iter().filter(|r| r.estimate.is_some()).count() as u64,
            over_estimate: report.over_estimate.count(),
            machine_size,
            larger_than_machine: machine_size.map_or(0, |size| {
                records.iter().filter(|record| u64::from(record.nodes) > size).count() as u64
            }),
            first_submit,
            last_submit,
            span,
            mean_interarrival: (records.len() > 1).then(|| span / (records.len() - 1) as f64),
            load: machine_size.filter(|_| span > 0.0).map(|size| work / (size as f64 * span)),
            size_histogram: histogram(&size_edges(&sizes), &sizes),
            run_histogram: histogram(RUN_EDGES, &runs),
            sizes: Spread::of(sizes),
            power_of_two: share(pow2, |_| true).unwrap_or(0.0),
            power_of_two_parallel: share(pow2, |record| record.nodes > 1),
            runs: Spread::of(runs),
            arrivals: Arrivals::of(header, records),
            format: report.format.map(Format::title),
            header_nodes: header.count("MaxNodes"),
            header_processors: header.count("MaxProcs"),
            greatest_use: details::greatest_use(records),
            repeated_numbers: details::repeated_numbers(records),
            estimate_factors: details::estimate_factors(records),
            dependencies: DependencyCounts::of(records),
            classes: Class::all(records),
            weeks: Week::all(records, machine_size),
            names: names(trace),
            notes: report.notes.clone(),
        }
    }
}

/// The maximum number of names of a field in a summary.
const MOST_NAMES: usize = 1000;

/// Returns the names in each field, sorted by descending number of jobs.
fn names(trace: &Trace) -> Vec<NameCount> {
    let fields = Field::ALL.into_iter().filter(|&field| field != Field::Status);
    let mut all = Vec::new();
    for field in fields.filter(|&field| trace.names.has(field)) {
        let mut jobs: BTreeMap<i64, u64> = BTreeMap::new();
        for record in &trace.records {
            *jobs.entry(record.tags.get(field)).or_default() += 1;
        }
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

/// 0 s, 1 s, 10 s, a minute, 10 minutes, an hour, 6 hours, a day, a week.
const RUN_EDGES: &[f64] =
    &[0.0, 1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 604_800.0, f64::INFINITY];

/// Returns the edges of the ranges 1, 2, 3 to 4, 5 to 8, ...: each power of two ends its range.
fn size_edges(sizes: &[f64]) -> Vec<f64> {
    let most = sizes.iter().copied().fold(0.0, f64::max);
    let mut edges = vec![1.0, 2.0];
    while edges[edges.len() - 1] <= most {
        edges.push((edges[edges.len() - 1] - 1.0) * 2.0 + 1.0);
    }
    edges
}

/// Counts values between consecutive edges, which ascend from one not above any value.
fn histogram(edges: &[f64], values: &[f64]) -> Vec<Bin> {
    let mut counts = vec![0; edges.len() - 1];
    for value in values {
        counts[edges.partition_point(|edge| edge <= value) - 1] += 1;
    }
    let ends = edges.windows(2).map(|pair| (pair[0], Some(pair[1]).filter(|to| to.is_finite())));
    ends.zip(counts).map(|((from, to), count)| Bin { from, to, count }).collect()
}

impl Arrivals {
    fn of(header: &Header, records: &[Record]) -> Arrivals {
        let zone = header.integer("TimeZone").filter(|zone| zone.abs() <= 50_400);
        let (clock, offset) = match (header.start(), zone) {
            (Some(start), Some(zone)) => (Clock::Local, start + zone),
            (Some(start), None) => (Clock::Utc, start),
            (None, _) => (Clock::Log, 0),
        };
        let (mut by_hour, mut by_weekday) = ([0; 24], [0; 7]);
        for record in records {
            let second = offset.saturating_add((record.submit.0 / TimeUnit::SECOND.ticks) as i64);
            by_hour[(second.div_euclid(3600)).rem_euclid(24) as usize] += 1;
            // The Unix epoch began on a Thursday.
            by_weekday[(second.div_euclid(86_400) + 3).rem_euclid(7) as usize] += 1;
        }
        Arrivals { clock, by_hour, by_weekday: (clock != Clock::Log).then_some(by_weekday) }
    }
}
