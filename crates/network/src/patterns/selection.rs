//! Selecting patterns by name, and building them.

use pavior_kernel::{Buildable, Registry, Selection, Stream};
use pavior_mesh::Grid;
use thiserror::Error;

use super::{BuildPattern, Pattern, PatternKind, RankGrid};

/// A pattern and its options, such as `one-to-all:from-zero`.
///
/// ```
/// use pavior_network::PatternSelection;
/// let selection: PatternSelection = "one-to-all:order=from-zero".parse()?;
/// assert_eq!(selection.entry.title, "One to all");
/// assert_eq!(selection.to_string(), "one-to-all:from-zero");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type PatternSelection = Selection<PatternKind>;

/// A registry of built-in and user-defined patterns.
pub type PatternRegistry = Registry<PatternKind>;

/// The reason why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("pattern {pattern} {reason}")]
pub struct UnsupportedPattern {
    /// The pattern's canonical name.
    pub pattern: String,
    /// The reason, phrased to follow the pattern's name.
    pub reason: String,
}

impl Buildable for PatternKind {
    type Place = Grid;
    /// A job's ranks, and a random number stream for values that a pattern draws once per job.
    type For<'a> = (&'a RankGrid, &'a mut Stream);
    type Built = Box<dyn Pattern>;
    type Fault = UnsupportedPattern;

    /// Rejects machines with only one node and machines that cannot run the pattern.
    fn supports(selection: &PatternSelection, grid: &Grid) -> Result<(), UnsupportedPattern> {
        if grid.nodes() == 1 {
            let reason = format!("sends nothing on {grid}, a one-node machine");
            return Err(unsupported(selection, reason));
        }
        let objection = (selection.entry.does.objection)(grid, &selection.options);
        objection.map_or(Ok(()), |reason| Err(unsupported(selection, reason)))
    }

    /// Rejects jobs that have fewer than two ranks, because they send nothing.
    fn build(
        selection: &PatternSelection,
        (ranks, draw): (&RankGrid, &mut Stream),
    ) -> Result<Box<dyn Pattern>, UnsupportedPattern> {
        if ranks.ranks < 2 {
            let reason = format!("requires at least 2 ranks, not {}", ranks.ranks);
            return Err(unsupported(selection, reason));
        }
        Ok(match &selection.entry.does.build {
            BuildPattern::Function(build) => build(ranks, &selection.options, draw),
            BuildPattern::Closure(build) => build(ranks, &selection.options, draw),
        })
    }
}

fn unsupported(selection: &PatternSelection, reason: String) -> UnsupportedPattern {
    UnsupportedPattern { pattern: selection.to_string(), reason }
}

/// Checks that a job's communication can be specified as a number of iterations of the pattern.
///
/// # Errors
/// Returns an error if the pattern has no iterations and jobs must request a number of messages.
pub fn supports_iterations(selection: &PatternSelection) -> Result<(), UnsupportedPattern> {
    if !selection.entry.does.quota_only {
        return Ok(());
    }
    let reason = "has no iterations, which jobs from logs also need; synthetic jobs can use it \
                  with a number of messages (--service messages:N)";
    Err(unsupported(selection, reason.to_string()))
}

/// Builds one iteration of a job's pattern. Returns `None` if the pattern has no iterations.
pub(crate) fn iteration(
    selection: &PatternSelection,
    ranks: &RankGrid,
    draw: &mut Stream,
) -> Option<Box<dyn Pattern>> {
    supports_iterations(selection).ok()?;
    selection.build((ranks, draw)).ok()
}
