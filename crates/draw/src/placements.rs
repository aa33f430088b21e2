//! What a schedule placed where, and why it cannot be drawn.

use pavior_mesh::Cuboid;
use thiserror::Error;

use crate::axis;

/// A job that was placed.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Its name.
    pub job: String,
    /// When it started.
    pub start: f64,
    /// When it departed; none if it was still running.
    pub end: Option<f64>,
    /// Its boxes.
    pub parts: Vec<Cuboid>,
}

/// Why placements cannot be drawn.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DrawError {
    /// There is no placement.
    #[error("there is no placement to draw")]
    NoPlacement,
    /// A time or a length of time is infinite, no number, or beyond what can be drawn.
    #[error("the {what} is {value}, which cannot be drawn")]
    NoNumber {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// An animation of so many jobs is not played by viewers.
    #[error("{jobs} jobs; an animation shows at most {most}")]
    TooManyJobs {
        /// The number of jobs.
        jobs: usize,
        /// The greatest number.
        most: usize,
    },
    /// The interval ends before it starts.
    #[error("an interval from {from} to {to} is empty")]
    EmptyInterval {
        /// Its start.
        from: f64,
        /// Its end.
        to: f64,
    },
    /// No job holds nodes in the interval.
    #[error("no job holds nodes from {from} to {to}")]
    NoJob {
        /// Its start.
        from: f64,
        /// Its end.
        to: f64,
    },
}

/// A time that can be drawn.
pub(crate) fn finite(what: &'static str, value: f64) -> Result<f64, DrawError> {
    if axis::can_show(value, false) { Ok(value) } else { Err(DrawError::NoNumber { what, value }) }
}

/// The first and the last instant; running jobs count to the last known instant.
pub(crate) fn span(placed: &[Placed]) -> Result<(f64, f64), DrawError> {
    let mut span: Option<(f64, f64)> = None;
    for one in placed {
        let start = finite("start of a job", one.start)?;
        let end = finite("end of a job", one.end.unwrap_or(start))?;
        let (first, last) = span.unwrap_or((start, end));
        span = Some((first.min(start), last.max(end)));
    }
    let (first, last) = span.ok_or(DrawError::NoPlacement)?;
    // An instant is drawn as a unit of time, or as the least that can be told apart from it.
    let after = if first + 1.0 > first { first + 1.0 } else { first + first.abs() / 2.0 };
    Ok((first, if last > first { last } else { after }))
}
