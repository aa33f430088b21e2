//! Notes that tell users which box a job has or why it is waiting.

use pavior::answers::{PlannedStart, Queued, Snapshot};
use pavior::strategies::explain;
use pavior::{Cuboid, Request};
use pavior_cluster::{Context, nearest_free};

use crate::Config;
use crate::ledger::reservations::Reservation;
use crate::names::{NodeName, Note, node_lists};
use crate::plan::explanation::explainer;
use crate::plan::world::World;

/// The maximum length of the rank list, in bytes. A command argument may be up to 128 KiB long.
const MAX_RANKS: usize = 64 << 10;

/// Returns a box's nodes, with x varying fastest. Rank i runs on the i-th node.
pub(crate) fn ranks(config: &Config, cuboid: &Cuboid) -> Vec<NodeName> {
    cuboid.nodes(&config.grid).map(|node| config.name(node).clone()).collect()
}

/// Formats the note for a job with an open gate, as a single word:
/// `pavior:box=4x4@0,8;ranks=n00,n01,...`. The job creates its hostfile from the list after
/// `ranks=`. The list uses ranges if it would otherwise be longer than [`MAX_RANKS`].
pub(crate) fn placed_note(config: &Config, cuboid: &Cuboid) -> Note {
    let at = explain::words(&config.grid, cuboid).replacen(" at ", "@", 1);
    let ranks = ranks(config, cuboid);
    let names: Vec<&str> = ranks.iter().map(NodeName::as_str).collect();
    let list = Some(names.join(",")).filter(|list| list.len() <= MAX_RANKS);
    let list = list.unwrap_or_else(|| node_lists::compress(&ranks));
    Note::new(&format!("pavior:box={at};ranks={list}"))
}

/// Formats the note for a job that can never be placed.
pub(crate) fn unplaced_note(fault: &str) -> Note {
    Note::new(&format!("pavior: not placed: {fault}; resubmit the job"))
}

/// Formats the note for a job that cannot finish in any box before a reservation begins.
pub(crate) fn reserved_note(world: World<'_>) -> Note {
    let World { config, ledger, .. } = world;
    let is_here = |one: &Reservation| one.nodes.iter().any(|name| config.nodes.contains_key(name));
    let mut magnetic = ledger.reservations.iter().filter(|one| one.is_magnetic);
    let magnetic = magnetic.find(|one| is_here(one)).map_or(String::new(), |one| {
        format!("; to use nodes in the magnetic reservation {0}, add --reservation={0}", one.name)
    });
    Note::new(&format!(
        "pavior: waiting for a reservation to end, because every box of the job's shape contains \
         nodes that are reserved before the job's time limit would expire{magnetic}"
    ))
}

/// Formats the note for a job that is left running on nodes that do not form the requested box.
pub(crate) fn misplaced_note() -> Note {
    Note::new("pavior: running on nodes that do not form the requested box; not requeued")
}

/// Formats the note for a job that a limit prevents from starting.
pub(crate) fn limited_note(limit: &str) -> Note {
    Note::new(&format!("pavior: not started yet because of limit {limit}"))
}

/// Formats a waiting job's note, which gives the reason, the planned start, the blocking jobs and
/// the nearest free box.
pub(crate) fn waiting_note(
    world: World<'_>,
    snapshot: &Snapshot,
    request: &Request,
    planned: Option<PlannedStart>,
) -> Note {
    let context = Context { moved: 0, queued: Queued::Kept, planned };
    let (why, mut lines) = explainer(world, |one| one.explain(snapshot, request, &context));
    let (nearest, grid) = (nearest_free(snapshot, request, why.as_ref()), &world.config.grid);
    lines.extend(nearest.map(|at| format!("Nearest free: {}.", explain::words(grid, &at))));
    Note::new(&format!("pavior: {}", lines.join(" ").replace('`', "")))
}
