//! An observer that records every job's wait, and the metrics for each piece of a run.

use pavior_kernel::Time;
use pavior_simulation::metrics::{Context, Metric, MetricSpec};
use pavior_simulation::{Fact, Interest, Observer};
use pavior_workload::TimeUnit;

use crate::batches::{BATCHES, Batch};

/// The rule for combining a metric's values for all pieces into one value for the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    /// The mean, weighted by the duration of each piece.
    Average,
    /// The sum of all jobs' contributions. A job contributes when it ends or is interrupted, but
    /// its contribution, like its wait, counts toward the piece in which the job arrived.
    Sum,
    /// The mean of the values observed at arrivals.
    Mean,
}

/// A metric that is reset for each piece.
struct Pieces {
    metric: Box<dyn Metric>,
    whole: Whole,
    batches: Vec<Batch>,
}

/// An observer that divides a run into pieces at the arrivals of certain jobs.
///
/// Two runs of the same jobs are divided at the same times or, if some jobs are submitted only
/// after others end, after the same numbers of arrivals. Time averages end at the last arrival.
pub(super) struct Ledger {
    time: TimeUnit,
    jobs: u64,
    /// The wait of each job, indexed as in the log, or `None` if the job did not depart.
    pub(super) waits: Vec<Option<f64>>,
    pieces: Vec<Pieces>,
    /// The number of finished pieces.
    closed: usize,
    from: Time,
}

impl Ledger {
    pub(super) fn new(
        context: &Context,
        jobs: usize,
        metrics: &[(&'static MetricSpec, Whole)],
    ) -> Ledger {
        let piece = |(spec, whole): &(&'static MetricSpec, Whole)| {
            let batches = match whole {
                Whole::Average => Vec::new(),
                Whole::Mean => vec![Batch::default(); BATCHES],
                Whole::Sum => vec![Batch { sum: 0.0, of: 1.0 }; BATCHES],
            };
            Pieces { metric: spec.observer(context), whole: *whole, batches }
        };
        Ledger {
            time: context.time,
            jobs: jobs as u64,
            waits: vec![None; jobs],
            pieces: metrics.iter().map(piece).collect(),
            closed: 0,
            from: Time::ZERO,
        }
    }

    /// Returns the piece that a job belongs to, given its position in arrival order.
    pub(super) fn piece(job: u64, jobs: u64) -> usize {
        (u128::from(job) * BATCHES as u128 / u128::from(jobs.max(1))) as usize
    }

    /// Returns the waits of all jobs, and the pieces of each metric. The metrics are in the order
    /// given to `Ledger::new`.
    pub(super) fn into_parts(self) -> (Vec<Option<f64>>, Vec<Vec<Batch>>) {
        let full = |mut batches: Vec<Batch>| {
            batches.resize(BATCHES, Batch::default());
            batches
        };
        (self.waits, self.pieces.into_iter().map(|pieces| full(pieces.batches)).collect())
    }

    /// Ends a piece: stores the time averages of its metrics and resets those metrics.
    fn close(&mut self, now: Time) {
        let span = self.time.units(now.since(self.from));
        for Pieces { metric, batches, .. } in self.averages() {
            metric.see(now, &Fact::Ended);
            let value = metric.value().unwrap_or_default();
            batches.push(Batch { sum: value * span, of: span });
            metric.see(now, &Fact::CountingStarts);
        }
        (self.closed, self.from) = (self.closed + 1, now);
    }

    fn averages(&mut self) -> impl Iterator<Item = &mut Pieces> {
        self.pieces.iter_mut().filter(|pieces| pieces.whole == Whole::Average)
    }

    /// Evaluates a metric for an event and adds the value to the job's piece.
    fn add(&mut self, now: Time, fact: &Fact<'_>, job: u64, wanted: Whole) {
        let piece = Self::piece(job, self.jobs);
        for Pieces { metric, whole, batches } in &mut self.pieces {
            if *whole != wanted {
                continue;
            }
            metric.see(now, fact);
            if let Some(value) = metric.value() {
                batches[piece].sum += value;
                batches[piece].of += if wanted == Whole::Mean { 1.0 } else { 0.0 };
            }
            // Reset the metric after each event, because adding each contribution to a growing sum
            // would introduce rounding errors.
            metric.see(now, &Fact::CountingStarts);
        }
    }

    /// Passes an event to the averages and means. Sums receive only events that contribute to them.
    fn tell(&mut self, now: Time, fact: &Fact<'_>) {
        let told = self.pieces.iter_mut().filter(|pieces| pieces.whole != Whole::Sum);
        told.for_each(|pieces| pieces.metric.see(now, fact));
    }
}

impl Observer for Ledger {
    fn interest(&self) -> Interest {
        let own = Interest::ARRIVALS | Interest::DEPARTURES;
        self.pieces.iter().fold(own, |all, pieces| all | pieces.metric.interest())
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.from = now,
            Fact::Arrived(job) | Fact::Rejected(job, _) => {
                let piece = Self::piece(job.id.0, self.jobs);
                let is_last = job.id.0 + 1 == self.jobs;
                while self.closed < piece + usize::from(is_last) {
                    self.close(now);
                }
                self.averages().for_each(|pieces| pieces.metric.see(now, fact));
                return self.add(now, fact, job.index, Whole::Mean);
            }
            Fact::Departed { job, start, .. } => {
                if let Some(wait) = self.waits.get_mut(job.index as usize) {
                    *wait = Some(self.time.units(start.since(job.arrival)));
                }
                self.add(now, fact, job.index, Whole::Sum);
            }
            Fact::Interrupted { job, .. } => self.add(now, fact, job.index, Whole::Sum),
            _ => {}
        }
        self.tell(now, fact);
    }
}
