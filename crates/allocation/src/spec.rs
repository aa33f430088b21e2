//! What the registry knows of a strategy.

use pavior_kernel::{OptionSpec, Options};
use pavior_mesh::{Grid, Request, orientations};
use thiserror::Error;

use crate::Strategy;
use crate::claim::Claim;

/// A strategy as data: everything that names, help texts, tables, tests and benches derive from.
pub struct Spec {
    /// Kebab-case, as the field names it.
    pub name: &'static str,
    /// Its title, in words.
    pub title: &'static str,
    /// Authors and year.
    pub source: &'static str,
    /// Whether it grants one box (or one fixed shape) a job.
    pub contiguous: bool,
    /// Whether it turns requests when nothing is said.
    pub turns: bool,
    /// What can be set behind its name.
    pub options: &'static [OptionSpec],
    /// The option texts (what stands behind the name and its colon; empty for the defaults) that
    /// conformance and benches run.
    pub variants: &'static [&'static str],
    /// Whether it works on a grid.
    pub supports: fn(&Grid, &Options) -> Result<(), Unsupported>,
    /// What it claims.
    pub claim: fn(&Options) -> Claim,
    /// Makes one for an empty machine on a supported grid.
    pub build: fn(&Grid, &Options) -> Box<dyn Strategy>,
}

impl Spec {
    /// The nodes that must be free: the shape's for contiguous strategies, else the count.
    pub(crate) fn needed(&self, request: &Request) -> u64 {
        match request.shape {
            Some(shape) if self.contiguous => pavior_mesh::volume(shape),
            _ => u64::from(request.nodes),
        }
    }

    /// Whether a request, turned as may be, fits a grid at all.
    pub(crate) fn fits_grid(&self, request: &Request, grid: &Grid) -> bool {
        if self.contiguous {
            let fits = |shape| orientations(shape).any(|turned| grid.fits(turned));
            request.shape.is_some_and(fits)
        } else {
            request.nodes <= grid.nodes()
        }
    }
}

/// Why a strategy does not work on a grid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// For strategies that work on every grid.
pub(crate) const ANY_GRID: fn(&Grid, &Options) -> Result<(), Unsupported> = |_, _| Ok(());
