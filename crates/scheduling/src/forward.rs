//! Simulates one possible future from a given state, using given run times.
//!
//! Cost: one round of decisions whenever a job arrives or ends, or an advance reservation begins or
//! ends.

use pavior_allocation::Placement;
use pavior_kernel::{Agenda, Time};
use pavior_mesh::JobId;
use pavior_workload::Job;

use crate::{DispatchError, Dispatcher, RunningJob};

/// A move of a running job to other nodes at a given time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedMove {
    /// The time at which the job moves.
    pub at: Time,
    /// The job to move. Nothing happens if it has already ended.
    pub job: JobId,
    /// The new nodes. If some of them are not free at that time, the job stays where it is.
    pub to: Placement,
}

/// The priorities of simultaneous events: jobs end before other jobs move.
const ENDS: u8 = 0;
const MOVES: u8 = 1;

enum Event {
    End(JobId),
    Move(PlannedMove),
}

/// A simulation of one possible future, with its initial state and its inputs.
///
/// ```
/// # mod pavior { pub use pavior_scheduling as scheduling; pub use pavior_workload as workload;
/// #     pub use {pavior_allocation::*, pavior_kernel::*}; }
/// use pavior::scheduling::{Dispatcher, Future, Selection};
/// use pavior::workload::Job;
/// use pavior::{JobId, Machine, Request, Time};
/// let scheduler = "fcfs".parse::<Selection>()?.build(())?;
/// let mut dispatcher = Dispatcher::new(Machine::new("mesh:4x4".parse()?, "tff")?, scheduler);
/// for id in [1, 2] {
///     let job = Job::new(JobId(id), Time(0), Request::shape([4, 3]), Time(60));
///     dispatcher.submit(job)?;
/// }
/// // Each job runs half as long as estimated.
/// let length = |job: &Job, _: Option<Time>| Time(job.estimate.0 / 2);
/// let (now, moves, arrivals, end) = (Time(0), Vec::new(), std::iter::empty(), Time(1000));
/// let mut starts = Vec::new();
/// Future { dispatcher, now, moves, arrivals, length, end }.run(|job, at| {
///     starts.push((job.0, at.0));
///     true
/// })?;
/// assert_eq!(starts, [(1, 0), (2, 30)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Future<A: Iterator<Item = Job>, L> {
    /// The machine, its running jobs and its queue.
    pub dispatcher: Dispatcher,
    /// The time at which the simulation starts.
    pub now: Time,
    /// The planned moves of running jobs.
    pub moves: Vec<PlannedMove>,
    /// Jobs that arrive after `now`, in order of arrival.
    pub arrivals: A,
    /// A function that returns a job's run time, counted from the job's start. If the job is
    /// already running, the second argument is its start time.
    pub length: L,
    /// The end time of the simulation.
    pub end: Time,
}

impl<A, L> Future<A, L>
where
    A: Iterator<Item = Job>,
    L: FnMut(&Job, Option<Time>) -> Time,
{
    /// Runs until `started` returns false, the end is reached, or no events remain. Calls `started`
    /// with the id and start time of each job that starts. At any given time, jobs end, then move,
    /// then arrive, and then the scheduler starts jobs. Running jobs that should have ended by
    /// `now` end one tick later.
    ///
    /// # Errors
    /// Returns an error if the strategy or the scheduler fails, or if an arriving job is already
    /// waiting or running.
    pub fn run(self, started: impl FnMut(JobId, Time) -> bool) -> Result<(), DispatchError> {
        self.run_while(started, || true)
    }

    /// Works like [`Future::run`], but also calls `goes_on` before advancing the time, and stops if
    /// `goes_on` returns false.
    ///
    /// # Errors
    /// Returns the errors of [`Future::run`].
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
            // The end of an advance reservation may also let jobs start.
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

/// Simulates a machine until no jobs are waiting. Returns the waiting jobs in start order, with
/// their start times. Jobs that never start are omitted. Each running job ends when expected, and
/// each waiting job runs for exactly its estimate. No other jobs arrive.
///
/// # Errors
/// Returns an error if the strategy or the scheduler fails.
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
