//! Moves running jobs to make room for the oldest waiting job (migration).
//!
//! After the scheduler has started all the jobs it can, the oldest waiting job may still be refused
//! even though enough nodes are free. In that case, the `unblock` planner searches for the cheapest
//! set of jobs to move so that the waiting job's box fits. The jobs in this set move immediately,
//! and each move delays its job's end by the cost of the move. The jobs are moved only if
//!
//! - the total cost is less than the time until running jobs are expected to make room
//!   (`earliest`), and
//! - on a fork in which these moves are made, the strategy grants the oldest waiting job its nodes.
//!
//! The scheduler is then called again. The same oldest job is considered at most once in each state
//! of the machine.
//!
//! Cost: that of `earliest`, plus that of `unblock` for at most [`MOST_JOBS`] jobs and [`BUDGET`]
//! words.

use std::sync::Arc;

use pavior_allocation::{Fork, Machine, Placement};
use pavior_answers::{Move, SearchLimits, Shape, Snapshot, Weights, earliest, unblock};
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Freedom, JobId, Request};
use pavior_scheduling::Dispatcher;
use pavior_workload::Job;
use rustc_hash::FxHashMap;

/// The maximum number of jobs to move to make room for one job.
const MOST_JOBS: usize = 3;
/// The maximum number of words to read while planning. Reading them takes about 1 ms.
const BUDGET: u64 = 200_000;

/// The cost of moving running jobs, and the rule for which jobs may be moved.
#[derive(Clone)]
pub struct Migration {
    /// The run time that each moved node adds to a job.
    pub price: Time,
    /// A predicate that returns true for jobs that may be moved.
    pub may_move: Arc<dyn Fn(&Job) -> bool + Send + Sync>,
}

/// The state of migration during a run.
pub(crate) struct Mover {
    setup: Migration,
    /// The oldest waiting job and the machine state for which moves were last planned.
    asked: Option<(JobId, u64)>,
    /// The end time of each running job, and a flag that is true if the job may be moved.
    running: FxHashMap<JobId, (Time, bool)>,
}

impl Mover {
    pub(crate) fn new(setup: &Migration) -> Mover {
        Mover { setup: setup.clone(), asked: None, running: FxHashMap::default() }
    }

    /// Records that a job has started and that it will end at `end`.
    pub(crate) fn starts(&mut self, job: &Job, end: Time) {
        self.running.insert(job.id, (end, (self.setup.may_move)(job)));
    }

    pub(crate) fn departs(&mut self, job: JobId) {
        self.running.remove(&job);
    }

    /// Returns the cost of moving a job with the given number of nodes.
    pub(crate) fn price(&self, nodes: u32) -> Time {
        Time(self.setup.price.0.saturating_mul(u64::from(nodes)))
    }

    /// Delays a job's end time by the cost of a move. Returns the new end time, or `None` on
    /// overflow.
    pub(crate) fn postpone(&mut self, job: JobId, price: Time) -> Option<Time> {
        let (end, _) = self.running.get_mut(&job)?;
        *end = end.checked_add(price)?;
        Some(*end)
    }

    /// Returns moves that make room for the oldest waiting job and save more time than they cost.
    pub(crate) fn plan(&mut self, now: Time, dispatcher: &mut Dispatcher) -> Option<Vec<Move>> {
        let oldest = dispatcher.queue().get(0)?;
        let (request, question) = (oldest.request, (oldest.id, dispatcher.machine().state()));
        if self.asked.replace(question) == Some(question) {
            return None;
        }
        let (request, machine) = (&request, dispatcher.machine());
        let enough = machine.needed(request) <= u64::from(machine.free().count());
        if !enough || dispatcher.probe_unreserved(request).is_ok() {
            return None;
        }
        let machine = dispatcher.machine();
        let shape = shape(request, machine)?;
        let whole = Snapshot::of(machine);
        let ends: FxHashMap<JobId, Time> = dispatcher
            .running()
            .by_estimated_end()
            .map(|running| (running.job.id, running.expected_end(now)))
            .collect();
        let gain = earliest(&whole, shape, |job| ends.get(&job).copied());
        let gain = gain.map_or(Time::MAX, |room| room.at.since(now));
        let snapshot = whole.keeping(|job, nodes| {
            let may_move = self.running.get(&job).is_some_and(|(_, may_move)| *may_move);
            !may_move || self.price(nodes) >= gain
        });
        let limits = SearchLimits { max_jobs: MOST_JOBS, turn: shape.turn, budget: BUDGET };
        let plan = unblock(&snapshot, shape, &Weights::nodes(&snapshot), &limits).plan?;
        let nodes = |step: &Move| step.to.iter().map(Cuboid::volume).sum::<u32>();
        let price = plan.moves.iter().map(|step| self.price(nodes(step)).0);
        let pays = price.fold(0, u64::saturating_add) < gain.0;
        (pays && !plan.moves.is_empty() && is_granted(machine, &plan.moves, request))
            .then_some(plan.moves)
    }
}

/// Returns the box that a request needs, or `None` if the strategy cannot grant it a box.
fn shape(request: &Request, machine: &Machine) -> Option<Shape> {
    let (sides, boxes) = (request.shape?, machine.some_boxes_for(request));
    let may_turn = matches!(request.freedom, Some(Freedom::Turned | Freedom::AnyBox));
    let turn = may_turn || boxes.iter().any(|other| *other != sides);
    (!boxes.is_empty()).then_some(Shape { sides, turn })
}

/// Returns true if the strategy grants the request after the given moves.
fn is_granted(machine: &Machine, moves: &[Move], request: &Request) -> bool {
    let mut fork = machine.fork();
    let mut held: FxHashMap<JobId, Placement> = FxHashMap::default();
    let mut step = |fork: &mut Fork, step: &Move| {
        let to = Placement::from(step.to.clone());
        let from = held.insert(step.job, to.clone());
        let from = from.as_ref().or_else(|| machine.placement(step.job))?;
        fork.give(from).ok()?;
        fork.take(&to).ok()
    };
    moves.iter().all(|one| step(&mut fork, one).is_some()) && fork.find(request).is_ok()
}
