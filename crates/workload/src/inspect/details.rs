//! Parts of a summary: use of the machine, weeks, classes of jobs, estimates and dependencies.

use pavior_kernel::Time;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::Spread;
use crate::TimeUnit;
use crate::traces::{Dependencies, Record, Tags};

/// Jobs that follow others, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DependencyCounts {
    /// The number of jobs that name a preceding job.
    pub jobs: u64,
    /// The number of preceding jobs that `--dependencies` follows.
    pub followed: u64,
    /// The number of preceding jobs that are not among the jobs.
    pub missing: u64,
    /// The number of preceding jobs that are later in the log.
    pub later: u64,
    /// The number of cycles.
    pub cycles: u64,
    /// The number of jobs without a submit time of their own.
    pub without_submit: u64,
}

impl DependencyCounts {
    pub(super) fn of(records: &[Record]) -> DependencyCounts {
        let Dependencies { links, jobs, without_submit, missing, later, cycles } =
            Dependencies::of(records);
        let followed = links.len() as u64;
        DependencyCounts { jobs, followed, missing, later, cycles, without_submit }
    }
}

/// The values of a field that classifies jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Class {
    /// The field: `status`, `user`, `group`, `app`, `queue` or `partition`.
    pub field: &'static str,
    /// The number of jobs with a known value.
    pub jobs: u64,
    /// The number of different values.
    pub values: u64,
    /// The ten most frequent values.
    pub most: Vec<ClassCount>,
}

/// A value of a field, and its number of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// The value.
    pub value: i64,
    /// The number of jobs.
    pub jobs: u64,
}

/// The number of values that a [`Class`] lists.
const MOST: usize = 10;

impl Class {
    /// Counts the values of all fields that any job has.
    pub(super) fn all(records: &[Record]) -> Vec<Class> {
        type Field = (&'static str, fn(&Tags) -> i64);
        let fields: [Field; 6] = [
            ("status", |tags| tags.status),
            ("user", |tags| tags.user),
            ("group", |tags| tags.group),
            ("app", |tags| tags.application),
            ("queue", |tags| tags.queue),
            ("partition", |tags| tags.partition),
        ];
        let classes = fields.into_iter().map(|(field, of)| {
            let mut counts: FxHashMap<i64, u64> = FxHashMap::default();
            for record in records.iter().filter(|record| of(&record.tags) != -1) {
                *counts.entry(of(&record.tags)).or_default() += 1;
            }
            let mut most: Vec<ClassCount> =
                counts.into_iter().map(|(value, jobs)| ClassCount { value, jobs }).collect();
            most.sort_unstable_by_key(|one| (std::cmp::Reverse(one.jobs), one.value));
            let (jobs, values) = (most.iter().map(|one| one.jobs).sum(), most.len() as u64);
            most.truncate(MOST);
            Class { field, jobs, values, most }
        });
        classes.filter(|class| class.jobs > 0).collect()
    }
}

/// A week of a log, counted from its first submission.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Week {
    /// The number of jobs that were submitted in it.
    pub jobs: u64,
    /// The work of the jobs divided by the capacity of the machine in the week, or, for the last
    /// week, in the part that the log covers.
    pub load: Option<f64>,
}

/// The longest log whose weeks are listed: twenty years.
const WEEKS: u64 = 1_044;
const WEEK: u64 = 7 * 86_400 * TimeUnit::SECOND.ticks;

impl Week {
    /// Returns the weeks of records in the order of submission, or none if the log is longer than
    /// twenty years.
    pub(super) fn all(records: &[Record], machine_size: Option<u64>) -> Vec<Week> {
        let (Some(first), Some(last)) = (records.first(), records.last()) else {
            return Vec::new();
        };
        let span = last.submit.since(first.submit).0;
        if span / WEEK >= WEEKS {
            return Vec::new();
        }
        let mut weeks = vec![(0, 0.0); (span / WEEK) as usize + 1];
        for record in records {
            let (jobs, work) = &mut weeks[(record.submit.since(first.submit).0 / WEEK) as usize];
            *jobs += 1;
            *work += record.run.ticks() * f64::from(record.nodes);
        }
        let rest = (span % WEEK).max(1) as f64;
        let count = weeks.len();
        let weeks = weeks.into_iter().enumerate().map(|(index, (jobs, work))| {
            let length = if index + 1 < count { WEEK as f64 } else { rest };
            Week { jobs, load: machine_size.map(|size| work / (size as f64 * length)) }
        });
        weeks.collect()
    }
}

/// Returns the largest number of nodes in use at one time, by the waits in the log; `None` if any
/// job has none.
pub(super) fn greatest_use(records: &[Record]) -> Option<u64> {
    let mut changes: Vec<(Time, i64)> = Vec::with_capacity(2 * records.len());
    for record in records {
        let start = record.submit.saturating_add(record.wait?);
        let nodes = i64::from(record.nodes);
        changes.extend([(start, nodes), (start.saturating_add(record.run), -nodes)]);
    }
    // At one time, ends come before starts.
    changes.sort_unstable();
    let (mut used, mut most) = (0, 0);
    for (_, change) in changes {
        used += change;
        most = most.max(used);
    }
    u64::try_from(most).ok().filter(|&most| most > 0)
}

/// Returns the estimates divided by the run times, for jobs with both.
pub(super) fn estimate_factors(records: &[Record]) -> Option<Spread> {
    let runs = records.iter().filter(|record| record.run.0 > 0);
    let factors = runs.filter_map(|record| Some(record.estimate?.ticks() / record.run.ticks()));
    let factors: Vec<f64> = factors.collect();
    (!factors.is_empty()).then(|| Spread::of(factors))
}

/// Returns the number of jobs whose number an earlier job of the log has, too.
pub(super) fn repeated_numbers(records: &[Record]) -> u64 {
    let mut numbers: Vec<u64> = records.iter().map(|record| record.number).collect();
    numbers.sort_unstable();
    numbers.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64
}
