//! GABL's plain search, which searches the busy list for each piece. The list also contains the
//! pieces found so far.
//!
//! Invariant: once a shape is too large or fits nowhere, this does not change, so each shape is
//! tried until it fails, and never again.
//!
//! Cost: one O(B^2) search per piece and shape, for B busy boxes.

use pavior_mesh::{Cuboid, Grid, Request, Sides, volume};

use super::busy_search::BusySearch;
use crate::Placement;
use crate::strategies::shared::ranked_shapes::sort_shapes;
use crate::strategies::shared::turning::Turn;

/// Finds a free box with a given shape in one of its orientations.
pub(super) fn first(
    busy: &mut BusySearch,
    grid: &Grid,
    shape: Sides,
    turn: Turn,
) -> Option<Cuboid> {
    turn.shapes(*grid, &Request::shape(shape)).find_map(|shape| busy.first(shape))
}

/// Takes as many pieces of each shape as possible, one shape after another, until the count is
/// reached. Enough nodes must be free, and the last shape must be a single node.
pub(super) fn pieces(
    busy: &mut BusySearch,
    grid: &Grid,
    nodes: u32,
    shapes: impl Iterator<Item = Sides>,
    turn: Turn,
) -> Placement {
    let (mut left, mut pieces) = (u64::from(nodes), Vec::new());
    for shape in shapes {
        while volume(shape) <= left {
            let Some(piece) = first(busy, grid, shape, turn) else { break };
            busy.add(&Placement::Whole(piece));
            pieces.push(piece);
            left -= volume(shape);
        }
    }
    assert_eq!(left, 0, "enough nodes are free, and the last shape is one node");
    // A proposal must not change the state, so its pieces are removed from the busy list again.
    let proposal = Placement::Parts(pieces);
    busy.remove(&proposal);
    proposal
}

/// Lists all shapes of at most `nodes` nodes that fit within a shape, largest first.
pub(super) fn largest_first(shape: Sides, nodes: u32) -> Vec<Sides> {
    let most = shape.map(|side| u32::from(side).min(nodes) as u16);
    let mut shapes = Vec::new();
    for a in 1..=most[0] {
        for b in 1..=most[1] {
            shapes.extend((1..=most[2]).map(|c| [a, b, c]));
        }
    }
    shapes.retain(|&sides| volume(sides) <= u64::from(nodes));
    sort_shapes(&mut shapes, &|sides| u64::MAX - volume(sides));
    shapes
}
