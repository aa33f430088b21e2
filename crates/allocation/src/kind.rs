//! What the registry knows of a strategy, and how a selected one is made.

use std::fmt;
use std::sync::Arc;

use pavior_kernel::{Buildable, CallerError, Options};
use pavior_mesh::{Grid, Request, orientations};
use thiserror::Error;

use crate::allowed;
use crate::checked::Checked;
use crate::claim::{Claim, by_count};
use crate::contiguous::complete;
use crate::errors::BuildError;
use crate::{Refusal, Strategy};

/// A strategy as data: its name, options and what it does.
pub type Entry = pavior_kernel::Entry<StrategyKind>;

/// The built-in strategies and those that are added.
pub type Registry = pavior_kernel::Registry<StrategyKind>;

/// A strategy with its options: what `paging:1:snake` means.
///
/// ```
/// use pavior_allocation::Selection;
/// let selection: Selection = "ff:turn=all".parse()?;
/// assert_eq!(selection.entry.title, "First Fit");
/// assert_eq!(selection.to_string(), "ff:turn=all");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Selection = pavior_kernel::Selection<StrategyKind>;

/// What a strategy does, as data that tables, tests and machines derive from.
#[derive(Clone)]
pub struct StrategyKind {
    /// Whether it grants one box (or one fixed shape) a job.
    pub contiguous: bool,
    /// Whether it turns requests when nothing is said.
    pub turns: bool,
    /// Whether it works on a grid.
    pub supports: fn(&Grid, &Options) -> Result<(), Unsupported>,
    /// What it claims.
    pub claim: fn(&Options) -> Claim,
    /// Makes one for an empty machine on a supported grid.
    pub build: BuildStrategy,
}

/// Makes a strategy for an empty machine.
#[derive(Clone)]
pub enum BuildStrategy {
    /// By a function.
    Function(fn(&Grid, &Options) -> Box<dyn Strategy>),
    /// By a closure that has captured something.
    Closure(Arc<StrategyClosure>),
}

/// A closure that makes a strategy, or says why it cannot.
pub type StrategyClosure =
    dyn Fn(&Grid, &Options) -> Result<Box<dyn Strategy>, CallerError> + Send + Sync;

impl fmt::Debug for BuildStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BuildStrategy::Function(_) => "Function",
            BuildStrategy::Closure(_) => "Closure",
        })
    }
}

/// What most strategies say, and what one of them says otherwise:
/// `StrategyKind::contiguous(build).with_claim(claim)`.
impl StrategyKind {
    /// A strategy that grants one box, turns requests, works on every grid and misses no free box.
    pub const fn contiguous(build: fn(&Grid, &Options) -> Box<dyn Strategy>) -> StrategyKind {
        StrategyKind {
            contiguous: true,
            turns: true,
            supports: ANY_GRID,
            claim: complete,
            build: BuildStrategy::Function(build),
        }
    }

    /// A strategy that does not turn requests, works on every grid, and succeeds exactly when
    /// enough nodes are free.
    pub const fn noncontiguous(build: fn(&Grid, &Options) -> Box<dyn Strategy>) -> StrategyKind {
        StrategyKind {
            contiguous: false,
            turns: false,
            supports: ANY_GRID,
            claim: by_count,
            build: BuildStrategy::Function(build),
        }
    }

    /// The same with another claim.
    pub const fn with_claim(mut self, claim: fn(&Options) -> Claim) -> StrategyKind {
        self.claim = claim;
        self
    }

    /// The same on some grids only.
    pub const fn with_supports(
        mut self,
        supports: fn(&Grid, &Options) -> Result<(), Unsupported>,
    ) -> StrategyKind {
        self.supports = supports;
        self
    }

    /// The same, which turns requests or does not when nothing is said.
    pub const fn with_turns(mut self, turns: bool) -> StrategyKind {
        self.turns = turns;
        self
    }
}

impl StrategyKind {
    /// The nodes that must be free: the shape's for contiguous strategies, else the count; with a
    /// freedom, those of the smallest set that it allows.
    pub(crate) fn needed(&self, request: &Request) -> u64 {
        if let Some(freedom) = request.freedom {
            return allowed::needed(request, freedom);
        }
        match request.shape {
            Some(shape) if self.contiguous => pavior_mesh::volume(shape),
            _ => u64::from(request.nodes),
        }
    }

    /// Whether the request asks for something that a grid could have, turned as may be.
    ///
    /// # Errors
    /// If not, with the reason.
    pub(crate) fn fits_grid(&self, request: &Request, grid: &Grid) -> Result<(), Refusal> {
        if let Some(freedom) = request.freedom {
            return allowed::fits_grid(request, freedom, grid);
        }
        let fits = match request.shape {
            _ if request.nodes == 0 => false,
            // Most shapes fit as they are: then no orientation need be made.
            Some(shape) if self.contiguous => {
                grid.fits(shape) || orientations(shape).any(|turned| grid.fits(turned))
            }
            None if self.contiguous => false,
            hint => request.nodes <= grid.nodes() && hint.is_none_or(|sides| !sides.contains(&0)),
        };
        if fits { Ok(()) } else { Err(self.never(request, grid)) }
    }

    /// Why no grid of this size could grant a request.
    #[cold]
    fn never(&self, request: &Request, grid: &Grid) -> Refusal {
        if request.is_empty() {
            Refusal::EmptyRequest
        } else if self.contiguous && request.shape.is_none() && request.nodes <= grid.nodes() {
            Refusal::NoShape
        } else {
            Refusal::LargerThanMachine
        }
    }
}

impl Buildable for StrategyKind {
    type Place = Grid;
    type For<'a> = &'a Grid;
    type Built = Box<dyn Strategy>;
    type Fault = BuildError;

    fn supports(selection: &Selection, grid: &Grid) -> Result<(), BuildError> {
        let supports = selection.entry.does.supports;
        supports(grid, &selection.options).map_err(|reason| BuildError::Unsupported {
            strategy: selection.to_string(),
            machine: *grid,
            reason,
        })
    }

    /// What a strategy that is not built in proposes is checked before it is believed.
    fn build(selection: &Selection, grid: &Grid) -> Result<Box<dyn Strategy>, BuildError> {
        selection.supports(grid)?;
        let strategy = match &selection.entry.does.build {
            BuildStrategy::Function(build) => build(grid, &selection.options),
            BuildStrategy::Closure(build) => build(grid, &selection.options)?,
        };
        Ok(if selection.entry.is_builtin() { strategy } else { Checked::wrap(strategy) })
    }
}

/// Why a strategy does not work on a grid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// For strategies that work on every grid.
pub const ANY_GRID: fn(&Grid, &Options) -> Result<(), Unsupported> = |_, _| Ok(());
