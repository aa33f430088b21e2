//! Job placements over time, and the errors that can occur when drawing them.

use pavior_mesh::Cuboid;
use thiserror::Error;

use crate::axis;

/// A job with its start and end times and the nodes that it holds.
///
/// ```
/// # mod pavior { pub use pavior_draw as draw; pub use pavior_mesh::*; }
/// use pavior::draw::{Placed, schedule};
/// use pavior::{Cuboid, Grid};
/// let parts = vec![Cuboid::new([0, 0], [4, 2])];
/// let job = Placed { job: "a".to_string(), start: 0.0, end: Some(60.0), parts };
/// let svg = schedule("One job", &Grid::mesh(&[4, 4])?, &[job], (None, None), "s")?;
/// assert!(svg.starts_with("<svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The name of the job.
    pub job: String,
    /// The start time.
    pub start: f64,
    /// The end time, or `None` if the job was still running.
    pub end: Option<f64>,
    /// The boxes of nodes that the job holds.
    pub parts: Vec<Cuboid>,
}

/// An error that prevents placements from being drawn.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DrawError {
    /// There are no placements.
    #[error("no placements to draw")]
    NoPlacement,
    /// A time or a duration is infinite, NaN, or too large to draw.
    #[error("the {what} is {value}, which cannot be drawn")]
    NoNumber {
        /// The name of the time or duration.
        what: &'static str,
        /// The value that cannot be drawn.
        value: f64,
    },
    /// The animation has more jobs than viewers can play.
    #[error("an animation can show at most {most} jobs, not {jobs}")]
    TooManyJobs {
        /// The number of jobs.
        jobs: usize,
        /// The maximum number of jobs.
        most: usize,
    },
    /// The end of the interval is not after its start.
    #[error("the interval from {from} to {to} is empty")]
    EmptyInterval {
        /// The start of the interval.
        from: f64,
        /// The end of the interval.
        to: f64,
    },
    /// No job holds nodes in the interval.
    #[error("no job holds nodes between {from} and {to}")]
    NoJob {
        /// The start of the interval.
        from: f64,
        /// The end of the interval.
        to: f64,
    },
}

/// Returns `value` if it can be drawn. Otherwise, returns an error that refers to it as `what`.
pub(crate) fn finite(what: &'static str, value: f64) -> Result<f64, DrawError> {
    if axis::can_show(value, false) { Ok(value) } else { Err(DrawError::NoNumber { what, value }) }
}

/// Returns the earliest and latest times. For a running job, only the start time is considered.
pub(crate) fn span(placed: &[Placed]) -> Result<(f64, f64), DrawError> {
    let mut span: Option<(f64, f64)> = None;
    for one in placed {
        let start = finite("start of a job", one.start)?;
        let end = finite("end of a job", one.end.unwrap_or(start))?;
        let (first, last) = span.unwrap_or((start, end));
        span = Some((first.min(start), last.max(end)));
    }
    let (first, last) = span.ok_or(DrawError::NoPlacement)?;
    // If all times are equal, use an interval of one unit, or longer if floats are too coarse.
    let after = if first + 1.0 > first { first + 1.0 } else { first + first.abs() / 2.0 };
    Ok((first, if last > first { last } else { after }))
}
