//! Conversion of log records to jobs.

use pavior_kernel::{Family, Selection, Time};
use pavior_mesh::{JobId, Request};

use super::{Estimates, Record};
use crate::{Job, Service, Shaper};

/// Options for replaying a log.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The factor by which gaps between arrivals are multiplied. The first arrival is unchanged.
    pub arrival_scale: f64,
    /// True to kill jobs that run longer than their estimate in the log.
    pub kill: bool,
    /// The rule for the estimates that schedulers see.
    pub estimates: Selection<Estimates>,
}

impl Default for Replay {
    /// Returns options that replay the log unchanged.
    fn default() -> Self {
        let estimates = Selection::defaults(Estimates::builtin()[0]);
        Replay { arrival_scale: 1.0, kill: false, estimates }
    }
}

/// The jobs in a log, in arrival order. Times are in ticks of
/// [`TimeUnit::SECOND`](crate::TimeUnit::SECOND).
///
/// If a record has no shape, the shape rule chooses one.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; pub use pavior_mesh::*; }
/// use pavior::workload::{Selection, ShapeRule, Shaper};
/// use pavior::workload::traces::{ReadOptions, Replay, TraceJobs, swf};
/// use pavior::Grid;
/// let log = "1 0 -1 60 5 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1\n";
/// let trace = swf::read(log.as_bytes(), &ReadOptions::default())?;
/// let rule: Selection<ShapeRule> = "compact".parse()?;
/// let shaper = Shaper::new(&rule, &Grid::mesh(&[4, 4])?, 1, 0);
/// let jobs: Vec<_> = TraceJobs::new(&trace.records, shaper, Replay::default()).collect();
/// assert_eq!((jobs[0].request.nodes, jobs[0].request.shape), (5, Some([3, 2, 1])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TraceJobs<'t> {
    records: &'t [Record],
    shaper: Shaper,
    replay: Replay,
    next: usize,
}

impl<'t> TraceJobs<'t> {
    /// Creates jobs from records, which must be in submission order.
    pub fn new(records: &'t [Record], shaper: Shaper, replay: Replay) -> TraceJobs<'t> {
        TraceJobs { records, shaper, replay, next: 0 }
    }

    fn arrival(&self, record: &Record) -> Time {
        let first = self.records[0].submit;
        let gap = record.submit.since(first);
        // Without scaling, the result is exact, no matter how long the log is.
        let scaled = match self.replay.arrival_scale {
            1.0 => gap,
            factor => Time((gap.ticks() * factor).round() as u64),
        };
        first.saturating_add(scaled)
    }
}

impl Iterator for TraceJobs<'_> {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        let record = self.records.get(self.next)?;
        let id = JobId(self.next as u64);
        self.next += 1;
        let run = match record.estimate {
            Some(estimate) if self.replay.kill => record.run.min(estimate),
            _ => record.run,
        };
        let request = match record.shape {
            Some(sides) => Request::hinted(record.nodes, sides),
            None => self.shaper.request(record.nodes),
        };
        let Selection { entry, options } = &self.replay.estimates;
        Some(Job {
            id,
            index: id.0,
            number: record.number,
            arrival: self.arrival(record),
            request: request.with_freedom(record.freedom),
            service: Service::Run(run),
            estimate: (entry.does.estimate)(options, run, record.estimate),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.records.len() - self.next;
        (left, Some(left))
    }
}
