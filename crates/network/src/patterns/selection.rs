//! How a name becomes a pattern.

use std::fmt;
use std::str::FromStr;

use pavior_kernel::{BadName, Options, Stream, bare_name, unknown_name};
use pavior_mesh::Grid;
use thiserror::Error;

use super::{PATTERNS, Pattern, PatternSpec, RankGrid};

/// A pattern with its options: what `one-to-all:from-zero` means.
///
/// ```
/// use pavior_network::PatternSelection;
/// let selection: PatternSelection = "one-to-all:order=from-zero".parse()?;
/// assert_eq!(selection.spec.title, "One to all");
/// assert_eq!(selection.to_string(), "one-to-all:from-zero");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PatternSelection {
    /// The pattern.
    pub spec: &'static PatternSpec,
    /// Its options.
    pub options: Options,
}

/// Why a pattern cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("pattern {pattern} {reason}")]
pub struct UnsupportedPattern {
    /// The pattern's canonical name.
    pub pattern: String,
    /// The reason, a clause that follows the name.
    pub reason: String,
}

impl PatternSelection {
    /// A pattern with all options at their defaults.
    pub fn defaults(spec: &'static PatternSpec) -> PatternSelection {
        PatternSelection { spec, options: Options::defaults(spec.options) }
    }

    /// Whether it makes sense on a machine.
    ///
    /// # Errors
    /// If the machine has one node, or lacks an axis that the pattern needs.
    pub fn supports(&self, grid: &Grid) -> Result<(), UnsupportedPattern> {
        let fail = |reason| UnsupportedPattern { pattern: self.to_string(), reason };
        if grid.nodes() == 1 {
            return Err(fail(format!("has no messages on {grid}, a machine of one node")));
        }
        (self.spec.objection)(grid, &self.options).map_or(Ok(()), |reason| Err(fail(reason)))
    }

    /// Whether jobs can be measured in iterations of it.
    ///
    /// # Errors
    /// If it has no iteration, only a number of messages.
    pub fn supports_iterations(&self) -> Result<(), UnsupportedPattern> {
        if self.spec.quota_only {
            let reason = "has no iterations; give a number of messages (--service messages:N)";
            return Err(UnsupportedPattern {
                pattern: self.to_string(),
                reason: reason.to_string(),
            });
        }
        Ok(())
    }

    /// The pattern of a job of at least two ranks; draws what is drawn once a job.
    pub fn build(&self, shape: &RankGrid, draw: &mut Stream) -> Box<dyn Pattern> {
        debug_assert!(shape.ranks > 1, "one rank sends nothing");
        (self.spec.build)(shape, &self.options, draw)
    }
}

impl FromStr for PatternSelection {
    type Err = BadName;

    fn from_str(text: &str) -> Result<PatternSelection, BadName> {
        let name = bare_name(text);
        let Some(spec) = PATTERNS.iter().find(|spec| spec.name == name) else {
            let known: Vec<&str> = PATTERNS.iter().map(|spec| spec.name).collect();
            return Err(unknown_name("pattern", name, &known));
        };
        Ok(PatternSelection { spec, options: Options::parse(name, text, spec.options)? })
    }
}

impl fmt::Display for PatternSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.options.name(self.spec.name))
    }
}

impl fmt::Debug for PatternSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
