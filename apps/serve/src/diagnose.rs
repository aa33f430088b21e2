//! What stands in the way of a request, in a state as it was when it was refused.

use std::collections::HashSet;

use pavior_allocation::explain;
use pavior_allocation::{Answers, Machine, Selection};
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Request};
use serde::Serialize;
use utoipa::ToSchema;

use crate::core::reply::{Part, Point, parts, point};
use crate::core::{BoardView, Caller, JobName, NodeCounts, StateView};

/// Changes to imagine before a question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Leases that end.
    pub(crate) ended: HashSet<u64>,
    /// Nodes that fail.
    pub(crate) failed: Vec<NodeId>,
    /// Nodes that are repaired.
    pub(crate) repaired: HashSet<NodeId>,
}

/// A machine of a view as the explanations see it.
pub(crate) fn state(view: &StateView, board: &BoardView, changes: &Changes) -> explain::State {
    let mut state = explain::State::new(board.grid);
    for lease in view.leases_on(board) {
        if !changes.ended.contains(&lease.id) {
            let held = state.hold(JobId(lease.id), &lease.cuboids());
            held.expect("leases of one machine do not overlap");
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

/// A request that is asked about.
pub(crate) struct Asked {
    pub(crate) request: Request,
    /// The nodes that must be free for it.
    needed: u64,
    /// Whether they are all that it takes, wherever they lie.
    by_count: bool,
}

impl Asked {
    /// What a machine's strategy takes a request for.
    pub(crate) fn of(machine: &Machine, request: Request) -> Asked {
        let by_count = machine.answers(&request) == Answers::Count;
        Asked { request, needed: machine.needed(&request), by_count }
    }

    /// The same for a strategy by name.
    pub(crate) fn on(
        board: &BoardView,
        strategy: &str,
        request: Request,
        seed: u64,
    ) -> Result<Asked, String> {
        let strategy: Selection =
            strategy.parse().map_err(|error: pavior_kernel::BadName| error.reason)?;
        let machine = Machine::with_seed(board.grid, &strategy, seed);
        machine.map(|machine| Asked::of(&machine, request)).map_err(|error| error.to_string())
    }
}

/// Whether an unavailable node is drained. One that is imagined to fail has failed.
fn is_drained(board: &BoardView, changes: &Changes, node: NodeId) -> bool {
    board.drained.binary_search(&node.0).is_ok() && !changes.failed.contains(&node)
}

/// The nodes of each kind in a state.
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

/// What stands in the way of a request.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Diagnosis {
    counts: NodeCounts,
    /// The nodes that must be free for it.
    needed: u64,
    /// What is missing: `nodes`, or a `place` among enough of them; null if nothing is.
    missing: Option<&'static str>,
    /// Where it fits, if it does. Of boxes nothing is said where the strategy grants by count.
    fits: Option<Part>,
    /// The free box that is nearest to it.
    nearest: Option<Part>,
    largest_free: Option<Part>,
    blocked: Option<Blocked>,
}

/// The place with the fewest busy nodes, and what is in the way there.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Blocked {
    #[schema(value_type = Vec<u16>)]
    base: Point,
    #[schema(value_type = Vec<u16>)]
    sides: Point,
    busy_nodes: u64,
    jobs: Vec<Blocker>,
    /// Nodes there that have failed, and that no lease holds.
    #[schema(value_type = Vec<Vec<u16>>)]
    failed: Vec<Point>,
    /// Nodes there that are drained, and that no lease holds.
    #[schema(value_type = Vec<Vec<u16>>)]
    drained: Vec<Point>,
}

/// A lease in the way; of another tenant's, the number of nodes alone.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Blocker {
    lease: Option<u64>,
    job: Option<JobName>,
    nodes: u64,
}

/// What stands in the way of a request, as callers see it: numbers of other tenants' leases are
/// left out. Where a strategy grants by count, nodes are what is missing, and no box is spoken of.
pub(crate) fn diagnosis(
    view: &StateView,
    board: &BoardView,
    state: &explain::State,
    changes: &Changes,
    asked: &Asked,
    granted: bool,
    caller: &Caller,
) -> Diagnosis {
    let grid = &board.grid;
    let part = |cuboid: Option<Cuboid>| cuboid.map(|cuboid| Part::of(grid, &cuboid));
    let counts = counts(board, state, changes);
    let missing = match granted {
        true => None,
        false if asked.needed > counts.free => Some("nodes"),
        false => Some("place"),
    };
    let needed = asked.needed;
    let Some(shape) = asked.request.shape.filter(|_| !asked.by_count) else {
        let largest = if asked.by_count { None } else { state.free().largest_free() };
        let (fits, nearest, largest_free, blocked) = (None, None, part(largest), None);
        return Diagnosis { counts, needed, missing, fits, nearest, largest_free, blocked };
    };
    let found = explain::Diagnosis::of(state, shape);
    let blocked = found.blocked.as_ref().map(|blocked| {
        let job = |&(JobId(id), nodes): &(JobId, u32)| {
            let lease = view.leases.binary_search_by_key(&id, |lease| lease.id);
            let lease = lease.ok().map(|index| &view.leases[index]);
            let seen = lease.filter(|lease| caller.may_touch(&lease.tenant));
            Blocker {
                lease: seen.map(|lease| lease.id),
                job: seen.and_then(|lease| lease.job.clone()),
                nodes: nodes.into(),
            }
        };
        let points = |nodes: &[NodeId]| -> Vec<Point> {
            nodes.iter().map(|&node| point(grid, grid.point(node))).collect()
        };
        let (drained, failed): (Vec<NodeId>, Vec<NodeId>) =
            blocked.failed.iter().partition(|&&node| is_drained(board, changes, node));
        Blocked {
            base: point(grid, blocked.at.base),
            sides: point(grid, blocked.at.sides),
            busy_nodes: blocked.nodes().into(),
            jobs: blocked.jobs.iter().map(job).collect(),
            failed: points(&failed),
            drained: points(&drained),
        }
    });
    let (fits, nearest) = (part(found.fits), part(found.nearest));
    let largest_free = part(found.largest_free);
    Diagnosis { counts, needed, missing, fits, nearest, largest_free, blocked }
}

/// What a strategy would do.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Choice {
    strategy: String,
    pub(crate) granted: bool,
    /// Why it would refuse.
    reason: Option<&'static str>,
    nodes: u64,
    /// The contact of the placement.
    index: Option<i64>,
    parts: Vec<Part>,
}

/// What a strategy would do with a request in a state.
pub(crate) fn answer(
    grid: &Grid,
    state: &explain::State,
    strategy: &Selection,
    request: &Request,
    seed: u64,
) -> Result<Choice, String> {
    let answer =
        explain::answer(state, strategy, request, seed).map_err(|error| error.to_string())?;
    let strategy = strategy.to_string();
    Ok(match answer.outcome {
        Ok(choice) => Choice {
            strategy,
            granted: true,
            reason: None,
            nodes: choice.placement.nodes().into(),
            index: Some(choice.index()),
            parts: parts(grid, choice.placement.parts()),
        },
        Err(refusal) => Choice {
            strategy,
            granted: false,
            reason: Some(refusal.word()),
            nodes: 0,
            index: None,
            parts: Vec::new(),
        },
    })
}
