//! The boxes that jobs request.

use pavior::boxes::{orientations, volume};
use pavior::workload::Shaper;
use pavior::{Cuboid, Grid, NodeId, Request, Sides};

use crate::Config;
use crate::ledger::SlurmJob;
use crate::ledger::records::CONTROL_CHARACTERS;
use crate::plan::shape;

/// Returns the rule that turns a number of nodes into a box. `job_submit.lua` uses the same rule.
pub(crate) fn shaper(grid: &Grid) -> Shaper {
    Shaper::new(&"compact".parse().expect("a shape rule"), grid, 1, 0)
}

/// Returns the request of a job: the shape in its comment, or the box that the shape rule derives
/// from its number of nodes.
///
/// # Errors
/// Returns a sentence, which contains no text from the job, if the job has no valid request.
pub(crate) fn request(
    config: &Config,
    job: &SlurmJob,
    shaper: &mut Shaper,
) -> Result<Request, String> {
    if job.bad_comment {
        return Err(CONTROL_CHARACTERS.into());
    }
    let Some(sides) = shape::read(&job.comment, config.grid.axes())? else {
        let request = shaper.request(job.nodes.max(1));
        return match request.shape.map(volume) {
            Some(nodes) if nodes == u64::from(job.nodes) => Ok(request),
            _ => Err(no_box(job)),
        };
    };
    if !orientations(sides).any(|turned| config.grid.fits(turned)) {
        return Err(format!("its shape does not fit {}", config.grid));
    }
    if volume(sides) != u64::from(job.nodes) {
        let (nodes, requested) = (volume(sides), job.nodes);
        return Err(format!("its shape has {nodes} nodes, but it asks for {requested}"));
    }
    Ok(Request::shape(sides))
}

/// Returns the error message for a job if no box has its number of nodes.
pub(crate) fn no_box(job: &SlurmJob) -> String {
    format!("no box of the machine has {} nodes", job.nodes)
}

/// Returns the box formed by a set of nodes (in ascending order) if the box has these sides, in any
/// orientation.
pub(crate) fn box_of(config: &Config, ids: &[NodeId], sides: Sides) -> Option<Cuboid> {
    let grid = config.grid;
    if ids.is_empty() || ids.len() as u64 != volume(sides) {
        return None;
    }
    let has_ids =
        |cuboid: &Cuboid| cuboid.nodes(&grid).all(|node| ids.binary_search(&node).is_ok());
    orientations(sides).filter(|&turned| grid.fits(turned)).find_map(|turned| {
        // The base is one of the nodes, which limits the search.
        ids.iter()
            .map(|&id| Cuboid::new(grid.point(id), turned).canonical(&grid))
            .find(|cuboid| cuboid.lies_on(&grid) && has_ids(cuboid))
    })
}
