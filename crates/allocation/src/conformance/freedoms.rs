//! Checks requests with a freedom against the oracle in every occupancy of a small grid.
//!
//! A request must be granted if and only if a placement that its freedom allows is free, and a
//! granted placement must be allowed. Strategies for partition hardware may refuse, so only the
//! second rule applies to them.

use pavior_mesh::{
    Cuboid, Freedom, Grid, JobId, NodeId, Request, Scan, Sides, orientations, picture, volume,
};

use super::requests;
use crate::claim::{BoxGroup, Claim};
use crate::freedom::is_hardware;
use crate::{Machine, Placement, Selection, oracle};

/// Tries every request with every freedom in every occupancy of a grid, and returns the number of
/// answers. Occupancies are in Gray-code order, so consecutive ones differ in a single node.
///
/// # Errors
/// Returns the first broken claim, with a drawing of the state.
#[expect(
    clippy::missing_panics_doc,
    reason = "each busy node has a job, and jobs are only placed on free nodes"
)]
pub fn freedoms(selection: &Selection, grid: &Grid) -> Result<u64, String> {
    let mut machine = Machine::with_seed(*grid, selection, 1).map_err(|error| error.to_string())?;
    let asked = requests(selection, grid);
    let mut answers = 0;
    for code in 0u64..1 << grid.nodes() {
        if code > 0 {
            let node = NodeId(code.trailing_zeros());
            let job = JobId(node.0.into());
            if machine.release(job).is_err() {
                let single = Placement::Whole(Cuboid::node(grid.point(node)));
                machine.allocate_at(job, single).expect("the node is free");
            }
        }
        for request in &asked {
            for freedom in Freedom::ALL {
                let request = request.with_freedom(freedom);
                let answer = machine.probe(&request).ok();
                judge(&machine, &request, freedom, answer.as_ref()).map_err(|reason| {
                    let drawn = picture::draw(machine.free());
                    format!("{selection} on {grid}: {reason}\n{request:?}\n{answer:?}\n{drawn}")
                })?;
                answers += 1;
            }
        }
    }
    Ok(answers)
}

/// Checks an answer, which is a refusal or a placement.
fn judge(
    machine: &Machine,
    request: &Request,
    freedom: Freedom,
    answer: Option<&Placement>,
) -> Result<(), String> {
    let (grid, free) = (machine.grid(), machine.free());
    let allowed: Vec<BoxGroup> = every_box(grid)
        .filter(|sides| is_allowed(request, freedom, *sides))
        .map(BoxGroup::cuboid)
        .collect();
    let possible = match freedom {
        Freedom::Connected => oracle::largest_connected(free) >= request.nodes,
        Freedom::Any => free.count() >= request.nodes,
        _ => oracle::first(free, &allowed, Scan::default()).is_some(),
    };
    let Some(placement) = answer else {
        let may_refuse = !possible || is_hardware(&Claim::of(machine.selection()));
        return if may_refuse {
            Ok(())
        } else {
            Err("the request was refused, but a valid placement exists".into())
        };
    };
    let parts = placement.parts();
    let good = match freedom {
        Freedom::Connected => oracle::is_connected(grid, parts),
        Freedom::Any => true,
        _ => parts.len() == 1 && allowed.contains(&BoxGroup::cuboid(parts[0].sides)),
    };
    let free_nodes = free.clone().take_all(parts).is_ok();
    if good && free_nodes && placement.nodes() >= request.nodes {
        Ok(())
    } else {
        Err("the granted nodes do not satisfy the request".into())
    }
}

/// Returns the sides of every box that fits the grid. Each node is the far corner of exactly one
/// such box with its base at the origin.
fn every_box(grid: &Grid) -> impl Iterator<Item = Sides> {
    Scan::default().bases(*grid, [1; 3]).map(|last| last.map(|side| side + 1))
}

/// Returns true if a freedom allows a box with these sides. Returns false for freedoms without
/// boxes.
fn is_allowed(request: &Request, freedom: Freedom, sides: Sides) -> bool {
    let turned = |shape: Sides| orientations(shape).any(|turned| turned == sides);
    match freedom {
        Freedom::Box => request.shape == Some(sides),
        Freedom::Turned => request.shape.is_some_and(turned),
        Freedom::AnyBox => {
            let nodes = volume(sides);
            nodes == u64::from(request.nodes) || request.shape.map(volume) == Some(nodes)
        }
        Freedom::Connected | Freedom::Any => false,
    }
}
