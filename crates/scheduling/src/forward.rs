//! One future: time runs on from a state, as if each job ran as long as it is said to.
//!
//! Cost: that of the decisions, one round at each arrival, each end of a job and each begin or end
//! of a reservation ahead.

use pavior_allocation::Placement;
use pavior_kernel::{Agenda, Time};
use pavior_mesh::JobId;
use pavior_workload::Job;

use crate::{DispatchError, Dispatcher, RunningJob};

/// A running job that goes to other nodes at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedMove {
    /// When.
    pub at: Time,
    /// The job. One that has ended by then does not move.
    pub job: JobId,
    /// Where to. If these nodes are not free then, the job stays.
    pub to: Placement,
}

/// Ends of jobs come before moves in an instant.
const ENDS: u8 = 0;
const MOVES: u8 = 1;

enum Event {
    End(JobId),
    Move(PlannedMove),
}

/// A state from which time runs on.
pub struct Future<A: Iterator<Item = Job>, L> {
    /// The machine, what runs on it and what waits.
    pub dispatcher: Dispatcher,
    /// The instant of the state.
    pub now: Time,
    /// Running jobs that move.
    pub moves: Vec<PlannedMove>,
    /// Jobs that arrive after `now`, in the order of their arrivals.
    pub arrivals: A,
    /// How long a job runs, from its start on. Of one that runs already the start is given.
    pub length: L,
    /// What happens from this instant on is of no interest.
    pub end: Time,
}

impl<A, L> Future<A, L>
where
    A: Iterator<Item = Job>,
    L: FnMut(&Job, Option<Time>) -> Time,
{
    /// Runs on until `started`, which hears of each job that starts and when, says that it has
    /// heard enough, or nothing happens any more. In an instant jobs end, then others move, then
    /// others arrive, then the scheduler starts what it names. A running job that should have ended
    /// by now ends next.
    ///
    /// # Errors
    /// If strategy or scheduler fail, or a job arrives that waits or runs already.
    pub fn run(self, started: impl FnMut(JobId, Time) -> bool) -> Result<(), DispatchError> {
        self.run_while(started, || true)
    }

    /// Runs on as [`Future::run`] does, until `goes_on`, which is asked at each instant, says no.
    ///
    /// # Errors
    /// As [`Future::run`].
    pub fn run_while(
        self,
        mut started: impl FnMut(JobId, Time) -> bool,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<(), DispatchError> {
        let Future { mut dispatcher, mut now, moves, arrivals, mut length, end } = self;
        let mut agenda: Agenda<Event> = Agenda::new();
        for RunningJob { job, start } in dispatcher.running().by_estimated_end() {
            let over = start.saturating_add(length(job, Some(*start)));
            agenda.schedule(over.max(now.saturating_add(Time(1))), ENDS, Event::End(job.id));
        }
        for step in moves {
            agenda.schedule(step.at.max(now), MOVES, Event::Move(step));
        }
        let mut arrivals = arrivals.peekable();
        loop {
            while agenda.next_time() == Some(now) {
                match agenda.pop() {
                    Some((_, Event::End(job))) => drop(dispatcher.end(job)),
                    Some((_, Event::Move(step))) => drop(dispatcher.relocate(step.job, step.to)),
                    None => {}
                }
            }
            while let Some(job) = arrivals.next_if(|job| job.arrival == now) {
                dispatcher.submit(job)?;
            }
            while let Some(start) = dispatcher.start_next(now, &mut ())? {
                let over = now.saturating_add(length(start.job, None));
                agenda.schedule(over, ENDS, Event::End(start.job.id));
                if !started(start.job.id, now) {
                    return Ok(());
                }
            }
            // Jobs start also when a reservation ahead is over.
            let change = dispatcher.calendar().next_change(now);
            let arrival = arrivals.peek().map(|job| job.arrival);
            let next = [agenda.next_time(), arrival, change].into_iter().flatten().min();
            match next.filter(|&next| next < end && goes_on()) {
                Some(next) => now = next,
                None => return Ok(()),
            }
        }
    }
}

/// Runs a machine with its queue forward until nothing waits, and says when each waiting job has
/// started, in the order of the starts; a job that never starts is left out. Running jobs end when
/// they are expected to, waiting ones after their estimates. No others come.
///
/// # Errors
/// If strategy or scheduler fail.
pub fn run_forward(
    dispatcher: Dispatcher,
    now: Time,
    moves: Vec<PlannedMove>,
) -> Result<Vec<(JobId, Time)>, DispatchError> {
    let (mut waiting, mut starts) = (dispatcher.queue().len(), Vec::new());
    if waiting == 0 {
        return Ok(starts);
    }
    let length = |job: &Job, start: Option<Time>| match start {
        Some(start) => RunningJob { job: job.clone(), start }.expected_end(now).since(start),
        None => job.estimate.max(Time(1)),
    };
    let (arrivals, end) = (std::iter::empty(), Time::MAX);
    Future { dispatcher, now, moves, arrivals, length, end }.run(|job, at| {
        starts.push((job, at));
        waiting -= 1;
        waiting > 0
    })?;
    Ok(starts)
}
