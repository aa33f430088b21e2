//! Details in a log summary: machine use, weeks, job classes, estimates and dependencies.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pavior_kernel::Time;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::TimeUnit;
use crate::traces::{Dependencies, Record};

/// Counts of dependencies between jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DependencyCounts {
    /// The number of jobs that depend on another job.
    pub jobs: u64,
    /// The number of dependencies that `--dependencies` follows.
    pub followed: u64,
    /// The number of dependencies on jobs that were filtered out, skipped, not read or not found.
    pub missing: u64,
    /// The number of dependencies on jobs that come later in the log.
    pub later: u64,
    /// The number of dependency cycles.
    pub cycles: u64,
    /// The number of jobs whose submit time is missing from the log.
    pub without_submit: u64,
}

impl DependencyCounts {
    pub(super) fn of(found: &Dependencies) -> DependencyCounts {
        let &Dependencies { jobs, without_submit, missing, later, cycles, .. } = found;
        let followed = found.links.len() as u64;
        DependencyCounts { jobs, followed, missing, later, cycles, without_submit }
    }
}

/// A categorical job field, with its most common values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Class {
    /// The field: `status`, `user`, `group`, `app`, `queue` or `partition`.
    pub field: &'static str,
    /// The number of jobs for which the value is known.
    pub jobs: u64,
    /// The number of distinct values.
    pub values: u64,
    /// The ten most frequent values.
    pub most: Vec<ClassCount>,
}

/// A value in a field, and the number of jobs that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// The value.
    pub value: i64,
    /// The number of jobs.
    pub jobs: u64,
}

/// The maximum number of values listed in a [`Class`].
const MOST: usize = 10;

impl Class {
    /// Returns the fields with at least one known value. For each field, `counts` maps values to
    /// job counts.
    pub(super) fn all(counts: &[FxHashMap<i64, u64>; 6]) -> Vec<Class> {
        const FIELDS: [&str; 6] = ["status", "user", "group", "app", "queue", "partition"];
        let classes = FIELDS.into_iter().zip(counts).map(|(field, counts)| {
            let counts = counts.iter().filter(|(value, _)| **value != -1);
            let mut most: Vec<ClassCount> =
                counts.map(|(&value, &jobs)| ClassCount { value, jobs }).collect();
            most.sort_unstable_by_key(|one| (Reverse(one.jobs), one.value));
            let (jobs, values) = (most.iter().map(|one| one.jobs).sum(), most.len() as u64);
            most.truncate(MOST);
            Class { field, jobs, values, most }
        });
        classes.filter(|class| class.jobs > 0).collect()
    }
}

/// A week in a log. The first week starts at the first submission.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Week {
    /// The number of jobs submitted during the week.
    pub jobs: u64,
    /// The work of the week's jobs divided by the machine's capacity over the week. For the last
    /// week, only the part covered by the log is counted.
    pub load: Option<f64>,
}

/// The maximum number of weeks listed (twenty years).
const WEEKS: u64 = 1_044;
const WEEK: u64 = 7 * 86_400 * TimeUnit::SECOND.ticks;

/// A job's times and size. Entries are ordered by submit time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    submit: Time,
    run: Time,
    wait: Option<Time>,
    nodes: u32,
}

impl Entry {
    pub(super) fn of(record: &Record) -> Entry {
        let &Record { submit, run, wait, nodes, .. } = record;
        Entry { submit, run, wait, nodes }
    }

    /// Returns the entry with its size divided by a number and rounded up.
    pub(super) fn divided(self, by: u32) -> Entry {
        Entry { nodes: self.nodes.div_ceil(by), ..self }
    }

    /// Returns the job's work in node-ticks.
    fn work(&self) -> u128 {
        u128::from(self.run.0) * u128::from(self.nodes)
    }
}

/// Job sizes and total work, with weekly work and machine use over time.
#[derive(Default)]
pub(super) struct Course {
    sizes: FxHashMap<u32, u64>,
    work: u128,
    /// The number of jobs and the work in each week. Not updated once `has_no_weeks` is set.
    weeks: Vec<(u64, u128)>,
    /// The first and latest submit times.
    submits: Option<(Time, Time)>,
    /// True if weeks are unavailable because the log is too long or out of order.
    has_no_weeks: bool,
    /// True if machine use is unknown because a job has no wait or the log is out of order.
    has_no_use: bool,
    /// True if any job has an earlier submit time than the preceding job in the log.
    pub(super) is_unsorted: bool,
    /// Pending changes in machine use, from jobs that start or end after the latest submission.
    changes: BinaryHeap<Reverse<(Time, i64)>>,
    used: i64,
    most_used: i64,
}

impl Course {
    /// Counts a job's size and work. Jobs may be counted in any order.
    pub(super) fn count(&mut self, job: &Entry) {
        *self.sizes.entry(job.nodes).or_default() += 1;
        self.work += job.work();
    }

    /// Adds a job. Jobs must be added in submission order.
    pub(super) fn add(&mut self, job: &Entry) {
        let (first, last) = self.submits.unwrap_or((job.submit, job.submit));
        self.submits = Some((first, job.submit.max(last)));
        self.is_unsorted |= job.submit < last;
        let week = job.submit.since(first).0 / WEEK;
        self.has_no_weeks |= self.is_unsorted || week >= WEEKS;
        if !self.has_no_weeks {
            let length = self.weeks.len().max(week as usize + 1);
            self.weeks.resize(length, (0, 0));
            self.weeks[week as usize].0 += 1;
            self.weeks[week as usize].1 += job.work();
        }
        self.has_no_use |= self.is_unsorted || job.wait.is_none();
        if self.has_no_use {
            return self.changes.clear();
        }
        self.use_until(job.submit);
        let start = job.submit.saturating_add(job.wait.unwrap_or(Time::ZERO));
        let nodes = i64::from(job.nodes);
        self.changes.push(Reverse((start, nodes)));
        self.changes.push(Reverse((start.saturating_add(job.run), -nodes)));
    }

    /// Applies all changes in machine use before a given time. At equal times, job ends come first.
    fn use_until(&mut self, time: Time) {
        while let Some(&Reverse((at, change))) = self.changes.peek()
            && at < time
        {
            self.changes.pop();
            self.used += change;
            self.most_used = self.most_used.max(self.used);
        }
    }

    /// Returns the peak number of nodes in use, based on the waits in the log, or `None` if any
    /// job's wait is unknown.
    pub(super) fn greatest_use(&mut self) -> Option<u64> {
        self.use_until(Time(u64::MAX));
        self.used = 0;
        u64::try_from(self.most_used).ok().filter(|&most| most > 0 && !self.has_no_use)
    }

    /// Returns the weeks, or an empty list if the log is longer than twenty years.
    pub(super) fn weeks(&self, machine_size: Option<u64>) -> Vec<Week> {
        let Some((first, last)) = self.submits.filter(|_| !self.has_no_weeks) else {
            return Vec::new();
        };
        let rest = (last.since(first).0 % WEEK).max(1) as f64;
        let count = self.weeks.len();
        let weeks = self.weeks.iter().enumerate().map(|(index, &(jobs, work))| {
            let length = if index + 1 < count { WEEK as f64 } else { rest };
            Week { jobs, load: machine_size.map(|size| work as f64 / (size as f64 * length)) }
        });
        weeks.collect()
    }

    /// Returns each job size and the number of jobs of that size, in ascending order of size.
    pub(super) fn sizes(&self) -> Vec<(f64, u64)> {
        let mut sizes: Vec<_> = self.sizes.iter().map(|(&size, &jobs)| (size, jobs)).collect();
        sizes.sort_unstable();
        sizes.into_iter().map(|(size, jobs)| (f64::from(size), jobs)).collect()
    }

    /// Returns the largest size, or 0 if there are no jobs.
    pub(super) fn largest(&self) -> u32 {
        self.sizes.keys().copied().max().unwrap_or(0)
    }

    pub(super) fn jobs(&self, condition: impl Fn(u32) -> bool) -> u64 {
        self.sizes.iter().filter(|(size, _)| condition(**size)).map(|(_, jobs)| jobs).sum()
    }

    /// Returns the total work in node-seconds.
    pub(super) fn work(&self) -> f64 {
        let second = u128::from(TimeUnit::SECOND.ticks);
        (self.work / second) as f64 + (self.work % second) as f64 / second as f64
    }
}
