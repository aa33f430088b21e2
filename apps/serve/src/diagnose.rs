//! What stands in the way of a request, in a state as it was when it was refused.

use std::collections::HashSet;

use pavior_allocation::explain::{self, Diagnosis};
use pavior_allocation::{Answers, Machine, Selection};
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Request};
use serde_json::{Value, json};

use crate::core::{BoardView, Caller, NodeCounts, StateView, parts, point};

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
    let drained = drained.count() as u32;
    NodeCounts {
        free: state.free().count(),
        busy: state.busy_nodes(),
        failed: unavailable.len() as u32 - drained,
        drained,
    }
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
) -> Value {
    let grid = &board.grid;
    let cuboid = |cuboid: Option<Cuboid>| {
        cuboid.map_or(Value::Null, |cuboid| parts(grid, &[cuboid]).remove(0))
    };
    let counts = counts(board, state, changes);
    let missing = match granted {
        true => None,
        false if asked.needed > u64::from(counts.free) => Some("nodes"),
        false => Some("place"),
    };
    let Some(shape) = asked.request.shape.filter(|_| !asked.by_count) else {
        let largest = if asked.by_count { None } else { state.free().largest_free() };
        return json!({
            "counts": counts, "needed": asked.needed, "missing": missing, "fits": null,
            "nearest": null, "largest_free": cuboid(largest), "blocked": null,
        });
    };
    let found = Diagnosis::of(state, shape);
    let blocked = found.blocked.as_ref().map_or(Value::Null, |blocked| {
        let job = |&(JobId(id), nodes): &(JobId, u32)| {
            let lease = view.leases.binary_search_by_key(&id, |lease| lease.id);
            let lease = lease.ok().map(|index| &view.leases[index]);
            let seen = lease.filter(|lease| caller.may_touch(&lease.tenant));
            json!({
                "lease": seen.map(|lease| lease.id),
                "job": seen.and_then(|lease| lease.job.as_ref()),
                "nodes": nodes,
            })
        };
        let points = |nodes: &[NodeId]| -> Vec<Value> {
            nodes.iter().map(|&node| point(grid, grid.point(node))).collect()
        };
        let (drained, failed): (Vec<NodeId>, Vec<NodeId>) =
            blocked.failed.iter().partition(|&&node| is_drained(board, changes, node));
        json!({
            "base": &blocked.at.base[..grid.axes()],
            "sides": &blocked.at.sides[..grid.axes()],
            "busy_nodes": blocked.nodes(),
            "jobs": blocked.jobs.iter().map(job).collect::<Vec<_>>(),
            "failed": points(&failed),
            "drained": points(&drained),
        })
    });
    json!({
        "counts": counts,
        "needed": asked.needed,
        "missing": missing,
        "fits": cuboid(found.fits),
        "nearest": cuboid(found.nearest),
        "largest_free": cuboid(found.largest_free),
        "blocked": blocked,
    })
}

/// What a strategy would do with a request in a state.
pub(crate) fn answer(
    grid: &Grid,
    state: &explain::State,
    strategy: &Selection,
    request: &Request,
    seed: u64,
) -> Result<Value, String> {
    let answer =
        explain::answer(state, strategy, request, seed).map_err(|error| error.to_string())?;
    Ok(match answer.outcome {
        Ok(choice) => json!({
            "strategy": strategy.to_string(),
            "granted": true,
            "reason": null,
            "nodes": choice.placement.nodes(),
            "index": choice.index(),
            "parts": parts(grid, choice.placement.parts()),
        }),
        Err(refusal) => json!({
            "strategy": strategy.to_string(),
            "granted": false,
            "reason": refusal.word(),
            "nodes": 0,
            "index": null,
            "parts": [],
        }),
    })
}
