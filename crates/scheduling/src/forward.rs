//! One future: what starts when if each job runs as long as it is said to.
//!
//! Cost: that of the decisions, one round at each end of a job and each begin or end of a
//! reservation ahead.

use pavior_allocation::Placement;
use pavior_kernel::{Agenda, Time};
use pavior_mesh::JobId;

use crate::{DispatchError, Dispatcher};

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

/// Runs a machine with its queue forward until nothing waits, and says when each waiting job has
/// started, in the order of the starts; a job that never starts is left out. Running jobs end when
/// they are expected to, waiting ones after their estimates. No others come.
///
/// # Errors
/// If strategy or scheduler fail.
pub fn run_forward(
    mut dispatcher: Dispatcher,
    now: Time,
    moves: Vec<PlannedMove>,
) -> Result<Vec<(JobId, Time)>, DispatchError> {
    let mut agenda: Agenda<Event> = Agenda::new();
    for running in dispatcher.running().by_estimated_end() {
        let end = running.expected_end(now).max(now.saturating_add(Time(1)));
        agenda.schedule(end, ENDS, Event::End(running.job.id));
    }
    for step in moves {
        agenda.schedule(step.at.max(now), MOVES, Event::Move(step));
    }
    let (mut now, mut starts) = (now, Vec::new());
    loop {
        while agenda.next_time() == Some(now) {
            match agenda.pop() {
                Some((_, Event::End(job))) => drop(dispatcher.end(job)),
                Some((_, Event::Move(step))) => {
                    drop(dispatcher.machine_mut().relocate(step.job, step.to));
                }
                None => {}
            }
        }
        while let Some(started) = dispatcher.start_next(now, &mut ())? {
            let (job, length) = (started.job.id, started.job.estimate.max(Time(1)));
            agenda.schedule(now.saturating_add(length), ENDS, Event::End(job));
            starts.push((job, now));
        }
        let change = dispatcher.calendar().next_change(now);
        let next = [agenda.next_time(), change].into_iter().flatten().min();
        match next.filter(|_| !dispatcher.queue().is_empty()) {
            Some(next) => now = next,
            None => return Ok(starts),
        }
    }
}
