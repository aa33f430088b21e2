//! The plain search for nuclei, base by base. It is the reference for the search by sets of bases.
//!
//! Cost: with prefix sums, O(1) per base for all bases up to the one that is taken.

use pavior_mesh::{Coordinates, Grid, Scan, Sides};

use crate::strategies::shared::base_search::BaseSearch;

/// Returns the free bases of a nucleus in row-major order. Counts the bases that are tested.
pub(super) fn bases<'s>(
    search: &'s BaseSearch,
    grid: Grid,
    sides: Sides,
    tested: &'s mut u64,
) -> impl Iterator<Item = Coordinates> + use<'s> {
    let bases = Scan::default().bases(grid, sides).inspect(|_| *tested += 1);
    bases.filter(move |&base| search.is_base(base, sides))
}
