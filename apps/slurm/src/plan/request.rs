//! The box that a job requests.

use pavior::boxes::{orientations, volume};
use pavior::workload::Shaper;
use pavior::{Grid, Request, Sides};

use crate::Config;
use crate::ledger::SlurmJob;
use crate::ledger::records::CONTROL_CHARACTERS;
use crate::plan::shape;

/// Creates the rule that converts a node count to a box. The gate rounds counts the same way.
pub(crate) fn shaper(grid: &Grid) -> Shaper {
    // The rule is deterministic, so neither the seed nor the replication matters.
    Shaper::new(&"compact".parse().expect("`compact` is a shape rule"), grid, 1, 0)
}

/// Returns a job's request: the shape in its comment or, failing that, the box that the shape
/// rule derives from the number of nodes.
///
/// # Errors
/// Returns an error if the job has no valid request. The message quotes no text from the job.
pub(crate) fn request(
    config: &Config,
    job: &SlurmJob,
    shaper: &mut Shaper,
) -> Result<Request, String> {
    let Ok(comment) = &job.comment else { return Err(CONTROL_CHARACTERS.into()) };
    match shape::read(comment, config.grid.axes())? {
        Some(sides) => shaped_request(config, job, sides),
        None if job.nodes == 0 => Err(no_box_message(job.nodes)),
        None => {
            let request = shaper.request(job.nodes);
            let has_box = request.shape.map(volume) == Some(job.nodes.into());
            if has_box { Ok(request) } else { Err(no_box_message(job.nodes)) }
        }
    }
}

/// Returns the request for a shape that must fit the machine and match the job's number of nodes.
fn shaped_request(config: &Config, job: &SlurmJob, sides: Sides) -> Result<Request, String> {
    if !orientations(sides).any(|turned| config.grid.fits(turned)) {
        return Err(format!("its shape does not fit on {}", config.grid));
    }
    let (nodes, requested) = (volume(sides), job.nodes);
    if nodes != u64::from(requested) {
        return Err(format!("its shape has {nodes} nodes, but the job requests {requested}"));
    }
    Ok(Request::shape(sides))
}

/// Formats the error for a job whose number of nodes does not form a box.
pub(crate) fn no_box_message(nodes: u32) -> String {
    format!("no box on the machine has {nodes} nodes")
}
