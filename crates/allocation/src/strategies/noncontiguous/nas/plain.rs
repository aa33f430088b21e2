//! The plain search for nuclei, base by base. It judges the search by sets of bases.
//!
//! Cost: O(1) a base, by prefix sums, for all bases up to the one that is taken.

use pavior_mesh::{Coordinates, Grid, Scan, Sides};

use crate::strategies::shared::base_search::BaseSearch;

/// The free bases of a nucleus in row-major order; counts those that it tests.
pub(super) fn bases<'s>(
    search: &'s BaseSearch,
    grid: Grid,
    sides: Sides,
    tested: &'s mut u64,
) -> impl Iterator<Item = Coordinates> + use<'s> {
    let bases = Scan::default().bases(grid, sides).inspect(|_| *tested += 1);
    bases.filter(move |&base| search.is_base(base, sides))
}
