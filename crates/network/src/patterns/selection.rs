//! A selected pattern: its entry in the registry, its options, and the pattern that they make.

use pavior_kernel::{Registry, Selection, Stream};
use pavior_mesh::Grid;
use thiserror::Error;

use super::{BuildPattern, Pattern, PatternKind, RankGrid};

/// A pattern with its options: what `one-to-all:from-zero` means.
///
/// ```
/// use pavior_network::PatternSelection;
/// let selection: PatternSelection = "one-to-all:order=from-zero".parse()?;
/// assert_eq!(selection.entry.title, "One to all");
/// assert_eq!(selection.to_string(), "one-to-all:from-zero");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type PatternSelection = Selection<PatternKind>;

/// The built-in patterns and those that are added.
pub type PatternRegistry = Registry<PatternKind>;

/// Why a pattern cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("pattern {pattern} {reason}")]
pub struct UnsupportedPattern {
    /// The pattern's canonical name.
    pub pattern: String,
    /// The reason, a clause that follows the name.
    pub reason: String,
}

/// What a selection of a pattern can do.
pub trait SelectedPattern {
    /// Whether it makes sense on a machine.
    ///
    /// # Errors
    /// If the machine has one node, or lacks an axis that the pattern needs.
    fn supports(&self, grid: &Grid) -> Result<(), UnsupportedPattern>;

    /// Whether jobs can be measured in iterations of it.
    ///
    /// # Errors
    /// If it has no iteration, only a number of messages.
    fn supports_iterations(&self) -> Result<(), UnsupportedPattern>;

    /// The pattern of a job; draws what is drawn once a job.
    ///
    /// # Errors
    /// If the job has fewer than two ranks, which send nothing.
    fn build(
        &self,
        ranks: &RankGrid,
        draw: &mut Stream,
    ) -> Result<Box<dyn Pattern>, UnsupportedPattern>;
}

impl SelectedPattern for PatternSelection {
    fn supports(&self, grid: &Grid) -> Result<(), UnsupportedPattern> {
        let fail = |reason| UnsupportedPattern { pattern: self.to_string(), reason };
        if grid.nodes() == 1 {
            return Err(fail(format!("has no messages on {grid}, a machine of one node")));
        }
        (self.entry.does.objection)(grid, &self.options).map_or(Ok(()), |reason| Err(fail(reason)))
    }

    fn supports_iterations(&self) -> Result<(), UnsupportedPattern> {
        if self.entry.does.quota_only {
            let reason = "has no iterations, by which jobs of a log communicate, too; drawn jobs \
                          send a number of messages by it (--service messages:N)";
            return Err(UnsupportedPattern {
                pattern: self.to_string(),
                reason: reason.to_string(),
            });
        }
        Ok(())
    }

    fn build(
        &self,
        ranks: &RankGrid,
        draw: &mut Stream,
    ) -> Result<Box<dyn Pattern>, UnsupportedPattern> {
        if ranks.ranks < 2 {
            let reason = format!("has no messages among {} ranks", ranks.ranks);
            return Err(UnsupportedPattern { pattern: self.to_string(), reason });
        }
        Ok(match &self.entry.does.build {
            BuildPattern::Function(build) => build(ranks, &self.options, draw),
            BuildPattern::Closure(build) => build(ranks, &self.options, draw),
        })
    }
}

/// An iteration of a job's pattern; none if it has none.
pub(crate) fn iteration(
    selection: &PatternSelection,
    ranks: &RankGrid,
    draw: &mut Stream,
) -> Option<Box<dyn Pattern>> {
    selection.supports_iterations().ok()?;
    selection.build(ranks, draw).ok()
}
