//! The plain search for nuclei, which tests one base at a time. It is the reference for the
//! set-based search.
//!
//! Cost: with prefix sums, O(1) for each base up to and including the chosen one.

use pavior_mesh::{Coordinates, Grid, Scan, Sides};

use crate::strategies::shared::base_search::BaseSearch;

/// Returns the free bases of a nucleus in row-major order. Adds the number of bases tested to
/// `tested`.
pub(super) fn bases<'s>(
    search: &'s BaseSearch,
    grid: Grid,
    sides: Sides,
    tested: &'s mut u64,
) -> impl Iterator<Item = Coordinates> + use<'s> {
    let bases = Scan::default().bases(grid, sides).inspect(|_| *tested += 1);
    bases.filter(move |&base| search.is_base(base, sides))
}
