//! What is noted of a run: the wait of each job, and metrics piece by piece.

use pavior_kernel::Time;
use pavior_simulation::metrics::{Context, Metric, MetricSpec};
use pavior_simulation::{Fact, Interest, Observer};
use pavior_workload::TimeUnit;

use crate::batches::{BATCHES, Batch};

/// How a metric of pieces becomes one of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    /// By the time that the pieces last.
    Average,
    /// As the sum of what each job adds, at its ends and interruptions. What a job adds counts in
    /// the piece in which it arrived, as its wait does.
    Sum,
    /// As the mean of what is seen at arrivals.
    Mean,
}

/// A metric that is started anew in each piece.
struct Pieces {
    metric: Box<dyn Metric>,
    whole: Whole,
    batches: Vec<Batch>,
}

/// An observer that cuts a run where the jobs at the borders of pieces arrive.
///
/// Every run of the same jobs is cut at the same instants. Averages end when the last job arrives.
pub(super) struct Ledger {
    time: TimeUnit,
    jobs: u64,
    /// The wait of each job, in the order of arrival; none of one that was rejected.
    pub(super) waits: Vec<Option<f64>>,
    pieces: Vec<Pieces>,
    /// How many pieces are over.
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

    /// The piece of a job by its place in the order of arrival.
    pub(super) fn piece(job: u64, jobs: u64) -> usize {
        (u128::from(job) * BATCHES as u128 / u128::from(jobs.max(1))) as usize
    }

    /// The pieces of each metric, in the order in which they were given.
    pub(super) fn into_parts(self) -> (Vec<Option<f64>>, Vec<Vec<Batch>>) {
        let full = |mut batches: Vec<Batch>| {
            batches.resize(BATCHES, Batch::default());
            batches
        };
        (self.waits, self.pieces.into_iter().map(|pieces| full(pieces.batches)).collect())
    }

    /// Ends a piece: what its averages have come to counts, and they begin anew.
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

    /// Adds what a fact about a job came to, to the piece in which the job arrived.
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
            // Each fact alone: sums that grow would round what is added.
            metric.see(now, &Fact::CountingStarts);
        }
    }

    /// Tells averages and means of a fact; sums hear of those that they add.
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
                return self.add(now, fact, job.id.0, Whole::Mean);
            }
            Fact::Departed { job, start, .. } => {
                if let Some(wait) = self.waits.get_mut(job.id.0 as usize) {
                    *wait = Some(self.time.units(start.since(job.arrival)));
                }
                self.add(now, fact, job.id.0, Whole::Sum);
            }
            Fact::Interrupted { job, .. } => self.add(now, fact, job.id.0, Whole::Sum),
            _ => {}
        }
        self.tell(now, fact);
    }
}
