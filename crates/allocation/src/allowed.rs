//! The placements that a freedom allows for a request, regardless of the state.

use pavior_mesh::{Freedom, Grid, Request, Sides, orientations, volume};

use crate::Refusal;
use crate::strategies::shared::factor_shapes::factor_shapes;

/// Returns the boxes that a freedom allows, in order of preference: the requested box, its other
/// orientations in [`orientations`] order, and then all other boxes that have the requested number
/// of nodes or the volume of the requested shape, most compact first. Every box fits the grid. The
/// list is empty if the freedom also allows sets that are not boxes.
pub(crate) fn boxes(request: &Request, freedom: Freedom, grid: &Grid) -> Vec<Sides> {
    let mut shapes: Vec<Sides> = Vec::new();
    let asked = request.shape.into_iter();
    match freedom {
        Freedom::Connected | Freedom::Any => return shapes,
        Freedom::Box => shapes.extend(asked),
        Freedom::Turned | Freedom::AnyBox => shapes.extend(asked.flat_map(orientations)),
    }
    shapes.retain(|&sides| grid.fits(sides));
    if freedom == Freedom::AnyBox {
        let asked = shapes.clone();
        let of_shape = request.shape.and_then(|shape| u32::try_from(volume(shape)).ok());
        let counts = [Some(request.nodes), of_shape.filter(|&nodes| nodes != request.nodes)];
        for nodes in counts.into_iter().flatten() {
            let others = factor_shapes(nodes, grid);
            shapes.extend(others.into_iter().filter(|sides| !asked.contains(sides)));
        }
    }
    shapes
}

/// Returns the number of free nodes that a request with the given freedom needs.
pub(crate) fn needed(request: &Request, freedom: Freedom) -> u64 {
    let of_shape = request.shape.map(volume);
    match freedom {
        Freedom::Box | Freedom::Turned => of_shape.unwrap_or(u64::from(request.nodes)),
        Freedom::AnyBox => u64::from(request.nodes).min(of_shape.unwrap_or(u64::MAX)),
        Freedom::Connected | Freedom::Any => u64::from(request.nodes),
    }
}

/// Returns the maximum number of nodes that may be granted for a request with the given freedom.
/// `own` is the maximum that the strategy itself would grant.
pub(crate) fn most(request: &Request, freedom: Freedom, own: u64) -> u64 {
    let (nodes, of_shape) = (u64::from(request.nodes), request.shape.map(volume));
    match freedom {
        Freedom::Box | Freedom::Turned => of_shape.unwrap_or(nodes),
        Freedom::AnyBox => nodes.max(of_shape.unwrap_or(0)),
        Freedom::Connected | Freedom::Any => nodes.max(own),
    }
}

/// Checks that an empty grid can satisfy a request with the given freedom.
pub(crate) fn fits_grid(request: &Request, freedom: Freedom, grid: &Grid) -> Result<(), Refusal> {
    let fits = match freedom {
        _ if request.is_empty() => return Err(Refusal::EmptyRequest),
        _ if request.nodes > grid.nodes() => false,
        Freedom::Box | Freedom::Turned if request.shape.is_none() => return Err(Refusal::NoShape),
        Freedom::Connected | Freedom::Any => true,
        _ => !boxes(request, freedom, grid).is_empty(),
    };
    if fits { Ok(()) } else { Err(Refusal::LargerThanMachine) }
}
