//! Plans that make room on a dispatcher's machine by a given time ([`room_by`]), and the jobs that
//! these plans delay.
//!
//! To find the delays, the dispatcher is run forward once with the plan and once without it. Both
//! runs assume that every job runs exactly as long as estimated. In the run with the plan, requeued
//! jobs wait at the end of the queue, and the nodes needed for the moves or the request stay free.

use std::cmp::Reverse;
use std::collections::HashMap;

use pavior_kernel::Time;
use pavior_mesh::{Cuboid, JobId, Occupancy};
use pavior_scheduling::{
    AdvanceReservation, BadReservation, DispatchError, Dispatcher, PlannedMove, Scheduler,
    run_forward,
};
use pavior_workload::Job;
use thiserror::Error;

use crate::{Prospect, Room, RoomBy, RoomPlan, SearchLimits, Snapshot, room_by};

/// A question about making room on a dispatcher's machine.
#[derive(Clone, Copy, Debug)]
pub struct RoomQuestion<'a> {
    /// The nodes to free.
    pub room: Room<'a>,
    /// The time from which the nodes are needed, and by which they must be free.
    pub by: Time,
    /// The duration for which the nodes are needed.
    pub length: Time,
    /// The time unit in which losses are counted, or `None` if jobs must not be requeued. The loss
    /// from requeuing a job is its node count times the number of units since it started.
    pub requeue: Option<Time>,
    /// Limits on the search.
    pub limits: SearchLimits,
}

/// A job that a plan delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedJob {
    /// The job, which is waiting or requeued.
    pub job: JobId,
    /// The job's start time without the plan. If the job is running, this is its actual start time.
    pub before: Time,
    /// The job's start time with the plan, or `None` if it never starts.
    pub planned: Option<Time>,
}

impl DelayedJob {
    /// Returns the delay, or `None` if the job never starts.
    pub fn delay(&self) -> Option<Time> {
        self.planned.map(|planned| planned.since(self.before))
    }
}

/// The reason that the delays caused by a plan cannot be determined.
#[derive(Clone, Debug, Error)]
pub enum RoomError {
    /// The strategy or the scheduler failed.
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
    /// The nodes that the plan needs cannot be kept free.
    #[error(transparent)]
    Reservation(#[from] BadReservation),
}

impl RoomQuestion<'_> {
    /// Finds the best plan, assuming that running jobs end at their estimated end times. No job
    /// moves to nodes that are reserved in advance. Cost: see [`room_by`].
    ///
    /// # Panics
    /// Never panics, because a dispatcher rejects reservations made for another machine.
    pub fn plan(&self, dispatcher: &Dispatcher, now: Time) -> RoomBy {
        let (machine, running) = (dispatcher.machine(), dispatcher.running());
        let mut open = Occupancy::all_free(*machine.grid());
        for reservation in dispatcher.calendar().iter() {
            open.keep(reservation.others()).expect("a calendar belongs to one machine");
        }
        let snapshot = Snapshot::of(machine).within(&open);
        let prospect = |job: JobId| {
            let Some(running) = running.get(job) else { return Prospect::default() };
            let lost = |unit: Time| {
                let units = now.since(running.start).0 / unit.0.max(1);
                u64::from(machine.nodes_of(job)).saturating_mul(units)
            };
            Prospect { end: Some(running.expected_end(now)), loss: self.requeue.map(lost) }
        };
        room_by(&snapshot, self.room, self.by, prospect, &self.limits)
    }

    /// Finds the jobs that start later with a plan than without it. The jobs are sorted by
    /// decreasing delay and then by job number. `scheduler` creates a scheduler of the same kind as
    /// the dispatcher's. The cost is two forward runs.
    ///
    /// # Errors
    /// Returns an error if the strategy or the scheduler fails, or if one of the highest
    /// reservation numbers is already in use.
    pub fn delayed(
        &self,
        plan: &RoomPlan,
        dispatcher: &Dispatcher,
        now: Time,
        scheduler: impl Fn() -> Box<dyn Scheduler>,
    ) -> Result<Vec<DelayedJob>, RoomError> {
        let fork = || dispatcher.fork(scheduler(), |job| job.estimate);
        let start = |&job: &JobId| Some((job, dispatcher.running().get(job)?.start));
        let requeued = plan.requeued.iter().filter_map(start);
        let before = run_forward(fork(), now, Vec::new())?;
        let (with, moves) = self.planned(fork(), plan, now)?;
        let after: HashMap<JobId, Time> = run_forward(with, now, moves)?.into_iter().collect();
        let all = before.into_iter().chain(requeued);
        let all = all.map(|(job, before)| {
            let planned = after.get(&job).copied();
            DelayedJob { job, before, planned }
        });
        let mut late: Vec<_> = all.filter(|one| one.delay() != Some(Time::ZERO)).collect();
        late.sort_by_key(|one| (Reverse(one.delay().unwrap_or(Time::MAX)), one.job));
        Ok(late)
    }

    /// Applies a plan by requeuing jobs and reserving the nodes that must stay free.
    fn planned(
        &self,
        mut dispatcher: Dispatcher,
        plan: &RoomPlan,
        now: Time,
    ) -> Result<(Dispatcher, Vec<PlannedMove>), RoomError> {
        for &job in &plan.requeued {
            if let Some((running, _)) = dispatcher.end(job) {
                let again = dispatcher.submit(Job { arrival: now, ..running.job });
                again.map_err(DispatchError::from)?;
            }
        }
        let grid = *dispatcher.machine().grid();
        // Number the reservations from the top down, where numbers are unlikely to be in use.
        let mut number = u64::MAX;
        let mut keep = |boxes: Vec<Cuboid>, from: Time, to: Time| {
            number -= 1;
            if boxes.is_empty() || from >= to {
                return Ok(());
            }
            dispatcher.reserve(AdvanceReservation::new(number, &grid, boxes, (from, to))?)
        };
        let mut moves = Vec::new();
        for (step, ready) in plan.moves.moves.iter().zip(&plan.ready) {
            let at = (*ready).max(now);
            keep(step.to.clone(), now, at)?;
            moves.push(PlannedMove { at, job: step.job, to: step.to.clone().into() });
        }
        let needed = match self.room {
            Room::Box(_) => plan.moves.boxes.clone(),
            Room::Nodes(nodes) => {
                let inside = nodes.iter().filter(|node| node.0 < grid.nodes());
                inside.map(|&node| Cuboid::node(grid.point(node))).collect()
            }
        };
        let by = self.by.max(now);
        keep(needed, by, by.saturating_add(self.length))?;
        Ok((dispatcher, moves))
    }
}
