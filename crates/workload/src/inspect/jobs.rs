//! Job statistics, collected one job at a time.
//!
//! Sizes, run times and field values are stored once per distinct value, with a count. Each
//! estimate also takes 8 bytes (for exact quantiles), and each job number 4 bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pavior_kernel::Time;
use rustc_hash::FxHashMap;

use super::details::{Course, Entry};
use super::{DependencyCounts, LogSummary, Spread};
use crate::TimeUnit;
use crate::traces::{Links, Record, Tags, Trace};

/// The maximum number of jobs that are buffered for sorting by submit time. In a longer log, weeks
/// and machine use are unknown if any job is more than this many positions out of order.
const SORTED: usize = (1 << 18) - 1;

const WEEK: i64 = 7 * 86_400;

pub(crate) struct Jobs {
    machine: Option<u64>,
    pub(super) with_estimate: u64,
    pub(super) first_submit: Time,
    pub(super) last_submit: Time,
    runs: FxHashMap<u64, u64>,
    factors: Vec<f64>,
    pub(super) classes: [FxHashMap<i64, u64>; 6],
    /// The number of submissions in each second of the week, counted from the log's time 0.
    seconds: Vec<u32>,
    links: Links,
    count: u32,
    pub(super) repeated: u64,
    /// Jobs not yet added to `plain` and `divided`, in submission order.
    sorted: BinaryHeap<Reverse<Entry>>,
    /// Statistics based on sizes as given in the log.
    plain: Course,
    /// The divisor and the statistics based on divided sizes, if sizes may need to be divided.
    divided: Option<(u32, Course)>,
}

impl Jobs {
    pub(crate) fn new(machine: Option<u64>) -> Jobs {
        Jobs {
            machine,
            with_estimate: 0,
            first_submit: Time(u64::MAX),
            last_submit: Time::ZERO,
            runs: FxHashMap::default(),
            factors: Vec::new(),
            classes: Default::default(),
            seconds: vec![0; WEEK as usize],
            links: Links::default(),
            count: 0,
            repeated: 0,
            sorted: BinaryHeap::new(),
            plain: Course::default(),
            divided: None,
        }
    }

    /// Enables statistics for divided sizes if the machine has the number of nodes given with the
    /// divisor.
    pub(crate) fn may_divide(&mut self, divisor: Option<(u32, u64)>) {
        let divisor = divisor.filter(|&(_, nodes)| self.machine == Some(nodes));
        self.divided = divisor.map(|(by, _)| (by, Course::default()));
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.into()
    }

    pub(crate) fn largest(&self) -> u32 {
        self.plain.largest()
    }

    /// Adds the next job in the log.
    pub(crate) fn add(&mut self, record: &Record) {
        self.link(self.count, record);
        self.add_unlinked(record);
    }

    /// Adds the predecessors of the next job in the log.
    pub(super) fn link(&mut self, index: u32, record: &Record) {
        self.repeated += u64::from(!self.links.add(index, record));
    }

    /// Adds a job, but not its predecessors.
    pub(super) fn add_unlinked(&mut self, record: &Record) {
        self.count += 1;
        self.first_submit = self.first_submit.min(record.submit);
        self.last_submit = self.last_submit.max(record.submit);
        *self.runs.entry(record.run.0).or_default() += 1;
        if let Some(estimate) = record.estimate {
            self.with_estimate += 1;
            if record.run.0 > 0 {
                self.factors.push(estimate.ticks() / record.run.ticks());
            }
        }
        let Tags { status, user, group, application, queue, partition } = record.tags;
        let values = [status, user, group, application, queue, partition];
        for (counts, value) in self.classes.iter_mut().zip(values) {
            *counts.entry(value).or_default() += 1;
        }
        let second = record.submit.0 / TimeUnit::SECOND.ticks;
        self.seconds[(second % WEEK as u64) as usize] += 1;
        let entry = Entry::of(record);
        self.plain.count(&entry);
        if let Some((by, divided)) = &mut self.divided {
            divided.count(&entry.divided(*by));
        }
        self.sorted.push(Reverse(entry));
        if self.sorted.len() > SORTED {
            self.pass_next();
        }
    }

    /// Moves the next job in submission order to `plain` and `divided`. Returns false if no job is
    /// left.
    fn pass_next(&mut self) -> bool {
        let Some(Reverse(entry)) = self.sorted.pop() else { return false };
        if let Some((by, divided)) = &mut self.divided {
            divided.add(&entry.divided(*by));
        }
        self.plain.add(&entry);
        true
    }

    /// Returns the summary of the log that these jobs came from.
    pub(crate) fn finish(mut self, trace: &Trace) -> LogSummary {
        while self.pass_next() {}
        let divisor = self.machine.and_then(|nodes| trace.divisor_for(nodes));
        if let (Some(by), Some((_, divided))) = (divisor, self.divided.take()) {
            self.plain = divided;
            return self.summary(&trace.divide(by));
        }
        self.summary(trace)
    }

    fn summary(mut self, trace: &Trace) -> LogSummary {
        self.factors.sort_unstable_by(f64::total_cmp);
        let factors = self.factors.iter().map(|&factor| (factor, 1));
        let factors = (!self.factors.is_empty()).then(|| Spread::of(factors));
        let mut runs: Vec<_> = std::mem::take(&mut self.runs).into_iter().collect();
        runs.sort_unstable();
        let runs: Vec<_> =
            runs.iter().map(|&(run, count)| (TimeUnit::SECOND.units(Time(run)), count)).collect();
        let links = std::mem::take(&mut self.links).finish();
        let course = std::mem::take(&mut self.plain);
        let machine = self.machine.or_else(|| trace.header.machine_size());
        let dependencies = DependencyCounts::of(&links);
        LogSummary::new(trace, machine, &self, course, &runs, factors, dependencies)
    }

    /// Returns the number of submissions in each hour of the day and on each weekday, according to
    /// a clock that is `offset` seconds ahead of the log's clock.
    pub(super) fn arrivals(&self, offset: i64) -> ([u64; 24], [u64; 7]) {
        let (mut by_hour, mut by_weekday) = ([0; 24], [0; 7]);
        for (second, &count) in (0..).zip(&self.seconds) {
            let second = (second + offset.rem_euclid(WEEK)) % WEEK;
            by_hour[(second / 3600 % 24) as usize] += u64::from(count);
            // The Unix epoch started on a Thursday.
            by_weekday[((second / 86_400 + 3) % 7) as usize] += u64::from(count);
        }
        (by_hour, by_weekday)
    }
}
