//! Diagnoses refused requests, using the state in which they were refused.

use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::sync::OnceLock;

use pavior::answers::json::{Place, Point};
use pavior::answers::{self, Demand, PlannedStart, Queued, SearchLimits, Snapshot, why};
use pavior::strategies::{Selection, explain};
use pavior::{Answers, Cuboid, Grid, JobId, Machine, NodeId, Occupancy, Request, Time};
use serde::Serialize;
use utoipa::ToSchema;

use crate::core::reply::Instant;
use crate::core::{BoardView, Caller, JobName, Lease, NodeCounts, StateView, micros};
use crate::plan::Move;
use crate::waits;

/// The maximum number of moves in a plan that accompanies a diagnosis.
const MAX_MOVES: usize = 2;

/// Hypothetical changes to apply before answering a question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Leases assumed to have ended.
    pub(crate) ended: HashSet<u64>,
    /// Nodes assumed to have failed.
    pub(crate) failed: BTreeSet<NodeId>,
    /// Nodes assumed to have been repaired.
    pub(crate) repaired: BTreeSet<NodeId>,
}

/// Returns a machine's state for explanations, with `changes` applied.
pub(crate) fn state(view: &StateView, board: &BoardView, changes: &Changes) -> explain::State {
    let mut state = explain::State::new(board.grid);
    for lease in view.leases_on(board) {
        if !changes.ended.contains(&lease.id) {
            let added = state.hold(JobId(lease.id), &lease.cuboids());
            added.expect("leases of one machine do not overlap");
        }
    }
    let bad = board.failed.iter().chain(&board.drained).map(|&node| NodeId(node));
    for node in bad.filter(|node| !changes.repaired.contains(node)) {
        state.fail(node);
    }
    for &node in &changes.failed {
        state.fail(node);
    }
    state
}

/// Returns the time when a lease expires or its job is expected to end.
pub(crate) fn end(view: &StateView, JobId(id): JobId) -> Option<Time> {
    expected_end(view, view.leases.get(id)?.end_ms())
}

/// Converts a lease's expected end from milliseconds. If this end is already past, returns the
/// view's time instead.
fn expected_end(view: &StateView, end_ms: Option<u64>) -> Option<Time> {
    end_ms.map(|end_ms| micros(end_ms.max(view.now_ms)))
}

/// Returns true if an unavailable node is drained. Nodes that fail in `changes` are not drained.
fn is_drained(board: &BoardView, changes: &Changes, node: NodeId) -> bool {
    board.drained.binary_search(&node.0).is_ok() && !changes.failed.contains(&node)
}

fn counts(board: &BoardView, state: &explain::State, changes: &Changes) -> NodeCounts {
    let unavailable = state.failed();
    let drained = unavailable.iter().filter(|&&node| is_drained(board, changes, node));
    let drained = drained.count() as u64;
    NodeCounts {
        free: state.free().count().into(),
        busy: state.busy_nodes().into(),
        failed: unavailable.len() as u64 - drained,
        drained,
    }
}

/// A diagnosis of a refused request.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Diagnosis {
    /// The answer in sentences: the reason, the blocking leases, and the moves that would help.
    why: Vec<String>,
    counts: NodeCounts,
    /// The number of free nodes required.
    needed: u64,
    /// The missing resource: `nodes`, or a contiguous `place` for them; null if nothing is missing.
    missing: Option<&'static str>,
    /// The box in which the request fits; null if there is no such box, or if the strategy grants
    /// nodes by count.
    #[schema(value_type = Option<crate::core::schema::Part>)]
    fits: Option<Place>,
    /// The free box closest in size to the request.
    #[schema(value_type = Option<crate::core::schema::Part>)]
    nearest: Option<Place>,
    #[schema(value_type = Option<crate::core::schema::Part>)]
    largest_free: Option<Place>,
    blocked: Option<Blocked>,
}

/// The box where the request is expected to start, and the leases and nodes that block the box.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Blocked {
    #[schema(value_type = Vec<u16>)]
    base: Point,
    #[schema(value_type = Vec<u16>)]
    sides: Point,
    /// The number of busy or unavailable nodes in this box.
    busy_nodes: u64,
    /// The largest leases that hold nodes in this box.
    jobs: Vec<Blocker>,
    /// The number of leases that block this box but are not in `jobs`.
    and_more: u64,
    /// The failed nodes in this box.
    #[schema(value_type = Vec<Vec<u16>>)]
    failed: Vec<Point>,
    /// The drained nodes in this box.
    #[schema(value_type = Vec<Vec<u16>>)]
    drained: Vec<Point>,
    /// The time when the box becomes free; null if the time is unknown or hidden from the caller.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Instant>,
    /// Moves that would make room sooner, provided that moves were requested and the caller may see
    /// them.
    #[schema(value_type = Vec<crate::core::schema::Move>)]
    moves: Vec<Move>,
}

/// A lease that blocks a request. If the lease belongs to another tenant, only its size is shown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Blocker {
    lease: Option<u64>,
    job: Option<JobName>,
    /// The total number of nodes that the lease holds.
    nodes: u64,
}

/// The request to be diagnosed, and the caller who asked for the diagnosis.
pub(crate) struct DiagnosisQuery<'a> {
    pub(crate) view: &'a StateView,
    pub(crate) board: &'a BoardView,
    pub(crate) changes: &'a Changes,
    pub(crate) request: Request,
    /// The state of the request in the queue.
    pub(crate) queued: Queued,
    pub(crate) planned: Option<PlannedStart>,
    /// True to search for moves that would make room. The search takes up to a second, and its
    /// result is shown only to the operator.
    pub(crate) plans: bool,
    pub(crate) caller: &'a Caller,
}

/// Data about a machine that is shared by all diagnoses in the same state.
pub(crate) struct Scene {
    snapshot: Snapshot,
    /// The expected end of each job, sorted by job number.
    ends: Vec<(JobId, Option<Time>)>,
    counts: NodeCounts,
    largest: OnceLock<Option<Cuboid>>,
}

impl Scene {
    /// Returns the scene for a machine in a view. Takes O(leases + N/64) for N nodes.
    pub(crate) fn in_view(view: &StateView, index: usize) -> Scene {
        let board = &view.boards[index];
        let mut healthy = Occupancy::all_free(board.grid);
        for &node in board.failed.iter().chain(&board.drained) {
            healthy.take_node(NodeId(node));
        }
        let here = || view.leases.held().filter(|held| held.board == index);
        let jobs = here().map(|held| (JobId(held.id), held.placement.clone())).collect();
        let ends = here().map(|held| (JobId(held.id), expected_end(view, held.end_ms))).collect();
        let snapshot = Snapshot::new(board.free.clone(), healthy, jobs);
        Scene { snapshot, ends, counts: view.counts(board), largest: OnceLock::new() }
    }

    /// Returns the scene for a machine that holds some or all of the leases in a view.
    fn of(view: &StateView, machine: &Machine, counts: NodeCounts) -> Scene {
        let snapshot = Snapshot::of(machine);
        let ends = snapshot.jobs().map(|(job, _)| (job, end(view, job))).collect();
        Scene { snapshot, ends, counts, largest: OnceLock::new() }
    }

    /// Returns a job's expected end. Tries index `next` first, because jobs are usually looked up
    /// in ascending order.
    fn end(&self, job: JobId, next: &Cell<usize>) -> Option<Time> {
        let is_next = self.ends.get(next.get()).is_some_and(|(other, _)| *other == job);
        let at = if is_next {
            next.get()
        } else {
            self.ends.binary_search_by_key(&job, |(job, _)| *job).ok()?
        };
        next.set(at + 1);
        self.ends[at].1
    }

    fn largest_free(&self) -> Option<Cuboid> {
        *self.largest.get_or_init(|| self.snapshot.free().largest_free())
    }
}

impl DiagnosisQuery<'_> {
    /// Asks the strategy about the request, then diagnoses the request in the given state.
    ///
    /// # Errors
    /// Returns an error if the strategy cannot be built.
    pub(crate) fn diagnosis(
        &self,
        state: &explain::State,
        strategy: &str,
        seed: u64,
    ) -> Result<Diagnosis, String> {
        let strategy: Selection =
            strategy.parse().map_err(|error: pavior::BadName| error.reason)?;
        let mut machine = state.machine(&strategy, seed).map_err(|error| error.to_string())?;
        let demand = Demand::of(&mut machine, &self.request);
        let by_count = machine.answers(&self.request) == Answers::Count;
        let counts = counts(self.board, state, self.changes);
        Ok(self.diagnose(&Scene::of(self.view, &machine, counts), &demand, by_count))
    }

    /// Diagnoses the request, hiding the names and end times of other tenants' leases. If the
    /// strategy grants nodes by count, the diagnosis contains no box.
    pub(crate) fn diagnose(&self, scene: &Scene, demand: &Demand, by_count: bool) -> Diagnosis {
        let DiagnosisQuery { view, board, caller, .. } = *self;
        let (grid, counts) = (&board.grid, scene.counts);
        let snapshot = &scene.snapshot;
        let max_jobs = if self.plans && caller.tenant.is_none() { MAX_MOVES } else { 0 };
        let limits = SearchLimits::jobs(max_jobs);
        let next = Cell::new(0);
        // Only the operator sees when other tenants' leases end.
        let may_see = |job| caller.tenant.is_none() || lease(view, caller, job).is_some();
        let end = |job: JobId| scene.end(job, &next).filter(|_| may_see(job));
        let (queued, planned) = (self.queued, self.planned);
        let why = why(snapshot, &answers::Question { demand, queued, planned, end: &end, limits });
        let missing = match demand.placed {
            Some(_) => None,
            None if demand.needed > counts.free => Some("nodes"),
            None => Some("place"),
        };
        let boxes = !demand.boxes.is_empty();
        let shape = self.request.shape.filter(|_| boxes && why.place.is_empty());
        let nearest =
            shape.and_then(|sides| answers::nearest(snapshot, answers::Shape::new(sides), 1).pop());
        let largest = if by_count { None } else { scene.largest_free() };
        let part = |cuboid: Option<Cuboid>| cuboid.map(|cuboid| Place::of(grid, &cuboid));
        let fits = why.place.first().copied().filter(|_| boxes);
        Diagnosis {
            why: waits::Names::of(view, board, caller).lines(&why),
            counts,
            needed: demand.needed,
            missing,
            fits: part(fits),
            nearest: part(nearest),
            largest_free: part(largest),
            blocked: why.blocked.as_ref().map(|blocked| self.blocked(snapshot, blocked)),
        }
    }

    fn blocked(&self, snapshot: &Snapshot, blocked: &answers::Blocked) -> Blocked {
        let DiagnosisQuery { view, board, changes, caller, .. } = *self;
        let name = |JobId(id): JobId| JobName::Large(id);
        let holder = |job, nodes| {
            let visible = lease(view, caller, job);
            Blocker {
                lease: visible.map(|lease| lease.id),
                job: visible.and_then(|lease| lease.job.clone()),
                nodes,
            }
        };
        let (drained, failed): (Vec<NodeId>, Vec<NodeId>) =
            blocked.unavailable.iter().partition(|&&node| is_drained(board, changes, node));
        let json = blocked.json(snapshot, name, holder, Instant::from);
        Blocked {
            base: json.at.base,
            sides: json.at.sides,
            busy_nodes: json.busy_nodes as u64,
            jobs: json.jobs,
            and_more: json.and_more as u64,
            failed: Point::all(&board.grid, &failed),
            drained: Point::all(&board.grid, &drained),
            until: json.until,
            moves: json.moves,
        }
    }
}

/// Returns the lease with the given number if the caller may see it.
pub(crate) fn lease<'a>(
    view: &'a StateView,
    caller: &Caller,
    JobId(id): JobId,
) -> Option<&'a Lease> {
    let lease = view.leases.get(id).map(|lease| &**lease);
    lease.filter(|lease| caller.may_touch(&lease.tenant))
}

/// A strategy's decision.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Choice {
    strategy: String,
    pub(crate) granted: bool,
    /// The reason for the refusal if the strategy refuses the request.
    reason: Option<&'static str>,
    nodes: u64,
    /// The placement's contact index.
    #[schema(minimum = 0)]
    index: Option<i64>,
    #[schema(value_type = Vec<crate::core::schema::Part>)]
    parts: Vec<Place>,
}

/// Returns a strategy's decision about a request in the given state.
pub(crate) fn decision_of(
    grid: &Grid,
    state: &explain::State,
    strategy: &Selection,
    request: &Request,
    seed: u64,
) -> Result<Choice, String> {
    let answer =
        explain::answer(state, strategy, request, seed).map_err(|error| error.to_string())?;
    let choice = answer.outcome.as_ref().ok();
    let placement = choice.map(|choice| &choice.placement);
    Ok(Choice {
        strategy: strategy.to_string(),
        granted: choice.is_some(),
        reason: answer.outcome.as_ref().err().map(|refusal| refusal.word()),
        nodes: placement.map_or(0, |placement| placement.nodes().into()),
        index: choice.map(explain::Choice::index),
        parts: placement.map_or_else(Vec::new, |placement| Place::all(grid, placement.parts())),
    })
}
