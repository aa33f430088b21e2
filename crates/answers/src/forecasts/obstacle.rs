//! Determines why a job has no start time.

use pavior_allocation::{Fork, Machine};
use pavior_mesh::Request;

use super::Obstacle;
use crate::{Demand, Snapshot, Weights, blockers};

/// Explains why a request does not start: either it would not fit even if all jobs were gone, or it
/// starts only after the forecast ends. `empty` caches a copy of the machine without jobs for later
/// requests.
///
/// Cost: one search by the strategy, plus, if the search finds no placement, O(N) time on N nodes
/// for each orientation of each box.
pub(super) fn obstacle(machine: &Machine, empty: &mut Option<Fork>, request: &Request) -> Obstacle {
    let empty = empty.get_or_insert_with(|| machine.fork_empty());
    if empty.find(request).is_ok() {
        return Obstacle::Horizon;
    }
    // This function does not know which nodes are in a pool.
    let boxes = match request.pool {
        None => Demand::refused(machine, request).boxes,
        Some(_) => Vec::new(),
    };
    let snapshot = Snapshot::new(empty.free().clone(), empty.free().clone(), Vec::new());
    let weights = Weights::nodes(&snapshot);
    let places = boxes.iter().filter_map(|&shape| blockers(&snapshot, shape, &weights));
    let least = places.map(|place| (place.at, place.unavailable.len() as u32));
    Obstacle::Unavailable(least.min_by_key(|&(_, missing)| missing).filter(|place| place.1 > 0))
}
