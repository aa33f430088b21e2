//! The list of strategies, and how a name becomes one.

use std::fmt;
use std::str::FromStr;

use pavior_kernel::{BadName, Options, bare_name, unknown_name};
use pavior_mesh::Grid;
use thiserror::Error;

use crate::spec::{Spec, Unsupported};
use crate::strategies::{ALIASES, ALL};
use crate::{Strategy, claim::Claim};

/// Every strategy, contiguous ones first.
pub fn all() -> &'static [&'static Spec] {
    ALL
}

/// Other names: each with the strategy and options that it stands for.
pub fn aliases() -> &'static [(&'static str, &'static str)] {
    ALIASES
}

/// A strategy with its options: what `paging:1:snake` means.
///
/// ```
/// use pavior_allocation::Selection;
/// let selection: Selection = "ff:turn=all".parse()?;
/// assert_eq!(selection.spec.title, "First Fit");
/// assert_eq!(selection.to_string(), "ff:turn=all");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Selection {
    /// The strategy.
    pub spec: &'static Spec,
    /// Its options.
    pub options: Options,
}

/// Why a strategy cannot be made for a machine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{strategy} does not work on {machine}: {reason}")]
pub struct BuildError {
    /// The strategy's canonical name.
    pub strategy: String,
    /// The machine.
    pub machine: Grid,
    /// The reason.
    pub reason: Unsupported,
}

impl Selection {
    /// A strategy with all options at their defaults.
    pub fn defaults(spec: &'static Spec) -> Selection {
        Selection { spec, options: Options::defaults(spec.options) }
    }

    /// The selections that conformance and benches run.
    pub fn variants(spec: &'static Spec) -> impl Iterator<Item = Selection> {
        spec.variants.iter().map(|options| {
            let name = match *options {
                "" => spec.name.to_string(),
                options => format!("{}:{options}", spec.name),
            };
            name.parse().expect("variants are written right")
        })
    }

    /// What the strategy claims with these options.
    pub fn claim(&self) -> Claim {
        (self.spec.claim)(&self.options)
    }

    /// Whether it works on a grid.
    ///
    /// # Errors
    /// If not, with the reason.
    pub fn supports(&self, grid: &Grid) -> Result<(), BuildError> {
        (self.spec.supports)(grid, &self.options).map_err(|reason| BuildError {
            strategy: self.to_string(),
            machine: *grid,
            reason,
        })
    }

    /// A strategy for an empty machine.
    ///
    /// # Errors
    /// If it does not work on such a machine.
    pub fn build(&self, grid: &Grid) -> Result<Box<dyn Strategy>, BuildError> {
        self.supports(grid)?;
        Ok((self.spec.build)(grid, &self.options))
    }
}

impl FromStr for Selection {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Selection, BadName> {
        let name = bare_name(text);
        if let Some((_, target)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
            // What stands behind an alias goes behind its target; a fault is shown where it was typed.
            let whole = format!("{target}{}", &text[name.len()..]);
            return whole.parse().map_err(|bad: BadName| {
                let at = |at: usize| (at + name.len()).saturating_sub(target.len());
                BadName { span: at(bad.span.start)..at(bad.span.end), ..bad }
            });
        }
        let Some(spec) = ALL.iter().find(|spec| spec.name == name) else {
            let mut known: Vec<&str> = ALL.iter().map(|spec| spec.name).collect();
            known.extend(ALIASES.iter().map(|(alias, _)| alias));
            return Err(unknown_name("strategy", name, &known));
        };
        Ok(Selection { spec, options: Options::parse(name, text, spec.options)? })
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.options.name(self.spec.name))
    }
}
