//! A plain search for L-shapes, testing one base at a time. It is the reference for the search that
//! uses sets of bases.
//!
//! Cost: O(N) per state, and O(bases) per L.

use pavior_mesh::{Cuboid, Grid, Occupancy, Scan};

use crate::Work;
use crate::strategies::shared::l_shapes::LShape;
use crate::strategies::shared::prefix_sums::PrefixSums;

/// A search that tests every base.
#[derive(Clone)]
pub(crate) struct PlainSearch {
    /// The prefix sums that count the busy nodes in each part.
    sums: PrefixSums,
    tested: u64,
}

impl PlainSearch {
    pub(super) fn new(grid: Grid) -> PlainSearch {
        PlainSearch { sums: PrefixSums::new(grid), tested: 0 }
    }

    pub(super) fn load(&mut self, free: &Occupancy) {
        self.sums.load(free);
    }

    /// Returns the parts at the first base, in row-major order, at which both parts are free.
    pub(super) fn first(&mut self, free: &Occupancy, l_shape: LShape) -> Option<[Cuboid; 2]> {
        let bases = Scan::default().bases(*free.grid(), l_shape.bounding());
        let mut parts = bases.map(|base| l_shape.at(base)).inspect(|_| self.tested += 1);
        parts.find(|parts| parts.iter().all(|part| self.sums.busy_in(part) == 0))
    }

    pub(super) fn work(&self) -> Work {
        self.sums.work() + Work::of_boxes(self.tested)
    }
}
