//! One future: the real scheduler and strategy, run forward.

use std::iter::Peekable;

use pavior_kernel::{Agenda, Time};
use pavior_mesh::JobId;
use pavior_scheduling::{DispatchError, Dispatcher};
use pavior_workload::{Job, Service};
use rustc_hash::FxHashMap;

use crate::HORIZON;
use crate::arrivals::Arrival;

/// Later arrivals that a future takes up.
const ARRIVALS: usize = 3_000;
/// The first number of later arrivals, beyond those of all jobs.
const FIRST: u64 = 1 << 62;

/// A state from which time runs on.
pub(crate) struct Future<A: Iterator<Item = Arrival>, R> {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) now: Time,
    /// How long each job runs that runs or waits, from its start on.
    pub(crate) runs: FxHashMap<JobId, Time>,
    /// What arrives later.
    pub(crate) later: A,
    /// How long an arrival runs.
    pub(crate) run_of: R,
}

impl<A, R> Future<A, R>
where
    A: Iterator<Item = Arrival>,
    R: FnMut(&Arrival) -> Time,
{
    /// When each of some waiting jobs starts, in their order; [`HORIZON`] after now for one that
    /// has not started by then.
    pub(crate) fn starts(self, targets: &[JobId]) -> Result<Vec<Time>, DispatchError> {
        let mut missing: FxHashMap<JobId, usize> =
            targets.iter().enumerate().map(|(place, &id)| (id, place)).collect();
        let end = self.now.saturating_add(HORIZON);
        let mut starts = vec![end; targets.len()];
        let mut agenda = self.ends();
        let Future { mut dispatcher, mut now, mut runs, later, mut run_of } = self;
        let mut later = later.take(ARRIVALS).peekable();
        let mut numbers = FIRST..;
        loop {
            while let Some(started) = dispatcher.start_next(now, &mut ())? {
                let id = started.job.id;
                agenda.schedule(now.saturating_add(runs[&id]), 0, id);
                if let Some(place) = missing.remove(&id) {
                    starts[place] = now;
                }
            }
            // Jobs start also when a reservation ahead is over.
            let change = dispatcher.calendar().next_change(now);
            let next = [next_instant(&agenda, &mut later), change].into_iter().flatten().min();
            let next = next.filter(|&next| next < end && !missing.is_empty());
            let Some(next) = next else { return Ok(starts) };
            now = next;
            while agenda.next_time() == Some(now) {
                let gone = agenda.pop().map(|(_, id)| id);
                gone.and_then(|id| dispatcher.end(id));
            }
            while let Some(arrival) = later.next_if(|arrival| arrival.at == now) {
                let run = run_of(&arrival);
                let job = arriving(&arrival, numbers.next().unwrap_or(u64::MAX), run);
                runs.insert(job.id, run);
                dispatcher.submit(job);
            }
        }
    }

    /// The ends of the running jobs. One that should have ended by now ends next.
    fn ends(&self) -> Agenda<JobId> {
        let mut agenda = Agenda::new();
        for running in self.dispatcher.running().by_estimated_end() {
            let id = running.job.id;
            let end = running.start.saturating_add(self.runs[&id]);
            agenda.schedule(end.max(self.now.saturating_add(Time(1))), 0, id);
        }
        agenda
    }
}

fn next_instant(
    agenda: &Agenda<JobId>,
    later: &mut Peekable<impl Iterator<Item = Arrival>>,
) -> Option<Time> {
    let arrival = later.peek().map(|arrival| arrival.at);
    [agenda.next_time(), arrival].into_iter().flatten().min()
}

/// Schedulers are told what users say, and of a job without an estimate what it runs, as in the
/// replay of a log.
fn arriving(arrival: &Arrival, number: u64, run: Time) -> Job {
    Job {
        id: JobId(number),
        number,
        arrival: arrival.at,
        request: arrival.request,
        service: Service::Run(run),
        estimate: arrival.kind.estimate.unwrap_or(run),
    }
}
