//! Explains why a job in a dispatcher's queue is waiting.

use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_scheduling::{DispatchError, Dispatcher, Scheduler, run_forward};

use super::{Demand, PlannedStart, Question, Queued, Why, why};
use crate::{SearchLimits, Snapshot, waits};

/// Explains why a waiting job does not start, and when it is expected to start. Returns `None` if
/// the job is not in the queue.
///
/// The planned time comes from the scheduler's reservation for the job. If there is no reservation,
/// the time comes from a simulation in which every job runs as long as estimated and no more jobs
/// arrive. The simulation runs `scheduler` on a copy of the dispatcher. Build this scheduler from
/// the same name as the dispatcher's own. Call this function only after the dispatcher has started
/// all the jobs it can. Otherwise, the answer does not include the job's state in the queue.
///
/// Cost: as for [`run_forward`], [`waits`] and [`why`].
///
/// ```
/// # mod pavior { pub use pavior_answers as answers; pub use pavior_scheduling as scheduling;
/// #     pub use pavior_workload as workload;
/// #     pub use {pavior_allocation::*, pavior_kernel::*}; }
/// use pavior::answers::{Cause, Queued, SearchLimits, waiting};
/// use pavior::scheduling::{Dispatcher, Selection};
/// use pavior::workload::Job;
/// use pavior::{JobId, Machine, Request, Time};
///
/// let fcfs: Selection = "fcfs".parse()?;
/// let machine = Machine::new("mesh:4x4".parse()?, "tff")?;
/// let mut dispatcher = Dispatcher::new(machine, fcfs.build(())?);
/// for (number, sides) in [(1, [4, 3]), (2, [4, 4]), (3, [2, 1])] {
///     dispatcher.submit(Job::new(JobId(number), Time(0), Request::shape(sides), Time(60)))?;
/// }
/// while dispatcher.start_next(Time(0), &mut ())?.is_some() {}
///
/// // Job 2 waits for nodes, and job 3 for job 2.
/// let mut ask = |job| waiting(&dispatcher, fcfs.build(())?, job, Time(10), SearchLimits::jobs(0));
/// let second = ask(JobId(2))?.expect("it waits");
/// assert_eq!((second.cause, second.planned.unwrap().at), (Cause::Nodes, Time(60)));
/// let third = ask(JobId(3))?.expect("it waits");
/// assert_eq!(third.cause, Cause::Queue(Queued::Behind(Some(JobId(2)))));
/// assert_eq!(third.planned.unwrap().at, Time(120));
/// assert!(ask(JobId(1))?.is_none(), "it runs");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the strategy or the scheduler fails.
pub fn waiting(
    dispatcher: &Dispatcher,
    scheduler: Box<dyn Scheduler>,
    job: JobId,
    now: Time,
    limits: SearchLimits,
) -> Result<Option<Why>, DispatchError> {
    let Some(waiting) = dispatcher.queue().iter().find(|waiting| waiting.id == job) else {
        return Ok(None);
    };
    let request = waiting.request;
    let mut copy = dispatcher.fork(scheduler, |job| job.estimate);
    let placed = copy.probe_unreserved(&request).ok().map(|found| found.parts().to_vec());
    let standing = dispatcher.standing(now);
    let mut planned = PlannedStart::of(standing.as_ref(), job, Time::MAX);
    if planned.is_none() {
        let starts = run_forward(copy, now, Vec::new())?;
        let start = starts.into_iter().find(|(started, _)| *started == job);
        planned = start.map(|(_, at)| PlannedStart { at, place: None });
    }

    let machine = dispatcher.machine();
    let demand = Demand { placed, ..Demand::refused(machine, &request) };
    let end = |job| dispatcher.running().get(job).map(|running| running.expected_end(now));
    let reasons = waits(dispatcher, standing.as_ref(), (now, Time::MAX));
    let own = reasons.iter().find(|(other, _)| *other == job);
    let queued = Queued::of(own.map(|(_, why)| why));
    let question = Question { queued, planned, limits, ..Question::new(&demand, &end) };
    Ok(Some(why(&Snapshot::of(machine), &question)))
}
