//! Room by a time: who moves or is requeued, what that loses, and who is delayed by it.

use std::collections::HashMap;

use pavior_answers::{Prospect, Room, RoomBy, RoomPlan, SearchLimits, Shape, Snapshot, room_by};
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, JobId, NodeId, Occupancy};
use pavior_scheduling::{PlannedMove, run_forward};
use serde::Serialize;

use crate::core::reply::{Part, parts};
use crate::core::{BoardView, Instant, ServedMachine, StateView, micros};

/// What is to be free, when, and for how long.
pub(crate) struct Wanted {
    pub(crate) shapes: Vec<Shape>,
    /// The nodes to be emptied, if no box is asked for.
    pub(crate) drain: Option<Vec<NodeId>>,
    pub(crate) by_ms: u64,
    pub(crate) for_ms: u64,
    /// Whether leases may be requeued.
    pub(crate) requeue: bool,
    pub(crate) limits: SearchLimits,
}

/// How room is made by a time.
#[derive(Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub(crate) struct RoomAnswer {
    /// Whether there is a plan.
    pub(crate) found: bool,
    /// Whether there is proof that no plan loses less, or that there is none of so many leases.
    pub(crate) proven: bool,
    /// The box that is free then; null for nodes.
    pub(crate) placement: Option<Part>,
    /// The leases that are requeued: ended now, with their requests back in the queue.
    pub(crate) requeued: Vec<u64>,
    /// The work that they lose, in nodes times seconds.
    pub(crate) lost_node_s: Option<f64>,
    /// The nodes of the leases that move.
    pub(crate) cost: Option<u64>,
    /// In an order in which they can be carried out.
    pub(crate) moves: Vec<RoomMove>,
    /// The leases that are said to end before and hold nodes that are needed.
    pub(crate) awaited: Vec<u64>,
    /// Who starts later than without the plan, if all run as long as they are said to.
    pub(crate) delayed: Vec<Delayed>,
}

/// A move of a lease.
#[derive(Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub(crate) struct RoomMove {
    lease: u64,
    from: Vec<Part>,
    to: Vec<Part>,
    /// When its nodes are free, by those who end until then; null is now.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    ready: Option<Instant>,
}

/// A request that starts later.
#[derive(Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub(crate) struct Delayed {
    /// The request that waits, or the lease that is requeued.
    id: u64,
    /// When it would start without the plan, or has started.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    before: Instant,
    /// When it starts with it; null if never.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    planned: Option<Instant>,
    /// The seconds between; null if it never starts.
    by_s: Option<f64>,
}

/// The best plan for a machine of a view. Nodes that are reserved ahead are not moved to.
///
/// # Errors
/// If the view contradicts itself, or strategy or scheduler fail.
pub(crate) fn room(
    view: &StateView,
    board: &BoardView,
    (now_ms, seed): (u64, u64),
    wanted: &Wanted,
) -> Result<RoomAnswer, String> {
    let machine = ServedMachine::of(view, board, seed)?;
    let now = micros(now_ms);
    let mut open = Occupancy::all_free(board.grid);
    for reservation in view.reservations_on(board) {
        open.keep(reservation.ahead(&board.grid)?.others()).map_err(|error| error.to_string())?;
    }
    let snapshot = Snapshot::of(machine.machine()).within(&open);
    let prospect = |job: JobId| {
        let Some(running) = machine.running().get(job) else { return Prospect::default() };
        let nodes = u64::from(machine.machine().nodes_of(job));
        let lost = nodes.saturating_mul(now.since(running.start).0 / 1000);
        let loss = wanted.requeue.then_some(lost);
        Prospect { end: Some(running.expected_end(now)), loss }
    };
    let room = match &wanted.drain {
        Some(nodes) => Room::Nodes(nodes),
        None => Room::Box(&wanted.shapes),
    };
    let RoomBy { plan, proven } =
        room_by(&snapshot, room, micros(wanted.by_ms), prospect, &wanted.limits);
    let delayed = match &plan {
        Some(plan) if board.spec.scheduler.is_some() => {
            let trial = Trial { view, board, now_ms, seed };
            trial.delayed(plan, wanted)?
        }
        _ => Vec::new(),
    };
    Ok(RoomAnswer::of(board, plan.as_ref(), proven, delayed))
}

impl RoomAnswer {
    fn of(
        board: &BoardView,
        plan: Option<&RoomPlan>,
        proven: bool,
        delayed: Vec<Delayed>,
    ) -> RoomAnswer {
        let grid = &board.grid;
        let ids = |jobs: &[JobId]| jobs.iter().map(|job| job.0).collect::<Vec<u64>>();
        let moves = plan.iter().flat_map(|plan| plan.moves.moves.iter().zip(&plan.ready));
        let moves = moves.map(|(step, ready)| RoomMove {
            lease: step.job.0,
            from: parts(grid, &step.from),
            to: parts(grid, &step.to),
            ready: (*ready > Time::ZERO).then_some(Instant(ready.0 / 1000)),
        });
        let place = plan.and_then(|plan| plan.moves.boxes.first());
        RoomAnswer {
            found: plan.is_some(),
            proven,
            placement: place.map(|at| Part::of(grid, at)),
            requeued: plan.map_or(Vec::new(), |plan| ids(&plan.requeued)),
            lost_node_s: plan.map(|plan| plan.lost as f64 / 1000.0),
            cost: plan.map(|plan| plan.moves.cost),
            moves: moves.collect(),
            awaited: plan.map_or(Vec::new(), |plan| ids(&plan.awaited)),
            delayed,
        }
    }
}

/// A machine of a view that is run forward with and without a plan.
struct Trial<'a> {
    view: &'a StateView,
    board: &'a BoardView,
    now_ms: u64,
    seed: u64,
}

impl Trial<'_> {
    /// Who starts later by a plan, the most delayed first.
    fn delayed(&self, plan: &RoomPlan, wanted: &Wanted) -> Result<Vec<Delayed>, String> {
        let now = micros(self.now_ms);
        let machine = || ServedMachine::of(self.view, self.board, self.seed);
        let forward = |machine: ServedMachine, moves: Vec<PlannedMove>| {
            let starts = run_forward(machine.into_dispatcher(), now, moves);
            let starts = starts.map_err(|error| error.to_string())?;
            Ok::<HashMap<JobId, Time>, String>(starts.into_iter().collect())
        };
        let without = machine()?;
        let running: Vec<(JobId, Time)> = plan
            .requeued
            .iter()
            .filter_map(|&job| Some((job, without.running().get(job)?.start)))
            .collect();
        let before = forward(without, Vec::new())?;
        let (with, moves) = self.planned(machine()?, plan, wanted)?;
        let after = forward(with, moves)?;
        let late = before.into_iter().chain(running).filter_map(|(job, then)| {
            let planned = after.get(&job).copied();
            let by = planned.map(|at| at.since(then));
            (by != Some(Time::ZERO)).then(|| Delayed {
                id: job.0,
                before: Instant(then.0 / 1000),
                planned: planned.map(|at| Instant(at.0 / 1000)),
                by_s: by.map(|by| by.0 as f64 / 1e6),
            })
        });
        let mut late: Vec<Delayed> = late.collect();
        let rank = |one: &Delayed| one.by_s.unwrap_or(f64::INFINITY);
        late.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then(a.id.cmp(&b.id)));
        Ok(late)
    }

    /// The machine with a plan under way: who is requeued waits, and nodes that will be needed are
    /// kept free.
    fn planned(
        &self,
        mut machine: ServedMachine,
        plan: &RoomPlan,
        wanted: &Wanted,
    ) -> Result<(ServedMachine, Vec<PlannedMove>), String> {
        let (now, by) = (micros(self.now_ms), micros(wanted.by_ms));
        plan.requeued.iter().for_each(|job| machine.requeue(job.0, now));
        // Numbers that no reservation has: they count down from the last.
        let mut number = u64::MAX;
        let mut keep = |machine: &mut ServedMachine, boxes: Vec<Cuboid>, from, to| {
            number -= 1;
            if boxes.is_empty() || from >= to {
                return Ok(());
            }
            machine.keep_free(number, boxes, (from, to))
        };
        let mut moves = Vec::new();
        for (step, ready) in plan.moves.moves.iter().zip(&plan.ready) {
            let at = (*ready).max(now);
            keep(&mut machine, step.to.clone(), now, at)?;
            moves.push(PlannedMove { at, job: step.job, to: step.to.clone().into() });
        }
        let grid = self.board.grid;
        let needed = match &wanted.drain {
            None => plan.moves.boxes.clone(),
            Some(nodes) => nodes.iter().map(|&node| Cuboid::node(grid.point(node))).collect(),
        };
        keep(&mut machine, needed, by.max(now), by.max(now).saturating_add(micros(wanted.for_ms)))?;
        Ok((machine, moves))
    }
}
