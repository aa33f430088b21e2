//! Strategies as registry entries, and code that builds selected strategies.

use std::sync::Arc;

use pavior_kernel::{Buildable, CallerError, Options};
use pavior_mesh::{Grid, Request, orientations};
use thiserror::Error;

use crate::allowed;
use crate::checked::Checked;
use crate::claim::{Claim, by_count};
use crate::contiguous::complete;
use crate::errors::BuildError;
use crate::strategy::MachineStrategy;
use crate::{Refusal, Strategy};

/// A strategy described as data: its name, its options and its behavior.
pub type Entry = pavior_kernel::Entry<StrategyKind>;

/// A registry of the built-in strategies and any added ones.
pub type Registry = pavior_kernel::Registry<StrategyKind>;

/// A strategy with its options, such as `paging:1:snake`.
///
/// ```
/// # mod pavior { pub use pavior_allocation as strategies; }
/// use pavior::strategies::Selection;
/// let selection: Selection = "ff:turn=all".parse()?;
/// assert_eq!(selection.entry.title, "First Fit");
/// assert_eq!(selection.to_string(), "ff:turn=all");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Selection = pavior_kernel::Selection<StrategyKind>;

/// A strategy's behavior, as data. Tables, tests and machines are derived from it.
#[derive(Clone)]
pub struct StrategyKind {
    /// True if the strategy grants one box (or one fixed shape) per job.
    pub contiguous: bool,
    /// True if the strategy rotates requests by default.
    pub turns: bool,
    /// A check that the strategy works on a grid.
    pub supports: fn(&Grid, &Options) -> Result<(), Unsupported>,
    /// Returns the strategy's claim.
    pub claim: fn(&Options) -> Claim,
    build: Build,
}

/// A strategy as used by a machine.
pub(crate) type BoxedStrategy = Box<dyn MachineStrategy>;

/// A function that creates a strategy for an empty machine on a supported grid.
#[derive(Clone)]
enum Build {
    /// A strategy from this crate.
    BuiltIn(fn(&Grid, &Options) -> BoxedStrategy),
    /// A strategy defined outside this crate, whose proposals are checked before use.
    Own(Arc<StrategyClosure>),
}

type StrategyClosure =
    dyn Fn(&Grid, &Options) -> Result<Box<dyn Strategy>, CallerError> + Send + Sync;

/// Constructors for common kinds of strategies, and methods that modify a kind. Example:
/// `StrategyKind::own(true, build).with_claim(claim)`.
impl StrategyKind {
    /// Describes a built-in strategy that grants a single box, rotates requests, works on every
    /// grid, and never misses a free box.
    pub(crate) const fn contiguous(build: fn(&Grid, &Options) -> BoxedStrategy) -> StrategyKind {
        let build = Build::BuiltIn(build);
        StrategyKind { contiguous: true, turns: true, supports: ANY_GRID, claim: complete, build }
    }

    /// Describes a built-in strategy that does not rotate requests, works on every grid, and
    /// succeeds if and only if enough nodes are free.
    pub(crate) const fn noncontiguous(build: fn(&Grid, &Options) -> BoxedStrategy) -> StrategyKind {
        let build = Build::BuiltIn(build);
        StrategyKind { contiguous: false, turns: false, supports: ANY_GRID, claim: by_count, build }
    }

    /// Describes a strategy from outside this crate. `build` creates the strategy for an empty
    /// machine. The strategy must work on every grid. If `contiguous` is true, it must grant one
    /// box, rotate requests and miss no free box. Otherwise, it must not rotate requests, and must
    /// succeed if and only if enough nodes are free. Its proposals are checked before use.
    ///
    /// ```
    /// use pavior_allocation::{CallerError, Entry, Machine, Registry, Selection, StrategyKind};
    /// # use pavior_allocation::Request;
    /// // Any closure that creates a `Strategy` is suitable. This is First Fit under another name.
    /// let first_fit: Selection = "ff".parse()?;
    /// let kind = StrategyKind::own(true, move |grid, _| {
    ///     first_fit.build(grid).map_err(CallerError::new)
    /// });
    /// let own = Registry::new().add(Entry::new("own-first-fit", kind.with_turns(false)))?;
    /// let mut machine = Machine::new("mesh:4x2".parse()?, own)?;
    /// assert!(machine.probe(&Request::shape([4, 2])).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn own(
        contiguous: bool,
        build: impl Fn(&Grid, &Options) -> Result<Box<dyn Strategy>, CallerError>
        + Send
        + Sync
        + 'static,
    ) -> StrategyKind {
        let (claim, build) = (if contiguous { complete } else { by_count }, Arc::new(build));
        let (turns, build) = (contiguous, Build::Own(build));
        StrategyKind { contiguous, turns, supports: ANY_GRID, claim, build }
    }

    /// Replaces the claim.
    pub const fn with_claim(mut self, claim: fn(&Options) -> Claim) -> StrategyKind {
        self.claim = claim;
        self
    }

    /// Restricts the strategy to the grids that `supports` accepts.
    pub const fn with_supports(
        mut self,
        supports: fn(&Grid, &Options) -> Result<(), Unsupported>,
    ) -> StrategyKind {
        self.supports = supports;
        self
    }

    /// Sets whether the strategy rotates requests by default.
    pub const fn with_turns(mut self, turns: bool) -> StrategyKind {
        self.turns = turns;
        self
    }
}

impl StrategyKind {
    /// Returns the number of free nodes that a request needs: its shape's volume for a contiguous
    /// strategy, or its node count for any other strategy. If the request has a freedom, this is
    /// the size of the smallest set that the freedom allows.
    pub(crate) fn needed(&self, request: &Request) -> u64 {
        if let Some(freedom) = request.freedom {
            return allowed::needed(request, freedom);
        }
        match request.shape {
            Some(shape) if self.contiguous => pavior_mesh::volume(shape),
            _ => u64::from(request.nodes),
        }
    }

    /// Checks that the request, in some orientation, could be granted on an empty grid.
    ///
    /// # Errors
    /// Returns the reason if the request could not be granted.
    pub(crate) fn fits_grid(&self, request: &Request, grid: &Grid) -> Result<(), Refusal> {
        if let Some(freedom) = request.freedom {
            return allowed::fits_grid(request, freedom, grid);
        }
        let fits = match request.shape {
            _ if request.nodes == 0 => false,
            // Most shapes fit unrotated, so the other orientations are rarely needed.
            Some(shape) if self.contiguous => {
                grid.fits(shape) || orientations(shape).any(|turned| grid.fits(turned))
            }
            None if self.contiguous => false,
            hint => request.nodes <= grid.nodes() && hint.is_none_or(|sides| !sides.contains(&0)),
        };
        if fits { Ok(()) } else { Err(self.never(request, grid)) }
    }

    /// Returns the reason that a request can never be granted on this grid.
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

    fn build(selection: &Selection, grid: &Grid) -> Result<Box<dyn Strategy>, BuildError> {
        Ok(build_for_machine(selection, grid)?)
    }
}

/// Builds a selected strategy for a machine. Proposals from strategies outside this crate are
/// checked before use.
pub(crate) fn build_for_machine(
    selection: &Selection,
    grid: &Grid,
) -> Result<BoxedStrategy, BuildError> {
    selection.supports(grid)?;
    Ok(match &selection.entry.does.build {
        Build::BuiltIn(build) => build(grid, &selection.options),
        Build::Own(build) => Box::new(Checked::new(build(grid, &selection.options)?)),
    })
}

/// The reason why a strategy does not work on a grid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// A check that accepts every grid.
pub const ANY_GRID: fn(&Grid, &Options) -> Result<(), Unsupported> = |_, _| Ok(());
