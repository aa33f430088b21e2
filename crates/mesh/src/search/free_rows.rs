//! The free nodes, as rows that are updated only when they are searched.
//!
//! While the list of busy boxes is short, no search reads the rows, and flipping a large box costs
//! more than a search. Flips may therefore be deferred:
//!
//! ```text
//!   taken while the list is short:  the box waits
//!   given back while it waits:      the box is dropped
//!   before a search of the rows:    all waiting boxes are flipped
//! ```
//!
//! Invariant: once all waiting boxes are flipped, the rows show exactly the free nodes. No box is
//! listed as waiting twice, because two flips would cancel out.
//!
//! Cost: O(1) to add or drop one of the few waiting boxes, and O(rows of the box) to flip a box.

use super::SearchMethods;
use super::region::Region;
use super::row_search::InRows;
use super::rows::Rows;
use super::vectors::Vectors;
use crate::{BaseSet, Coordinates, Cuboid, Grid, Occupancy, Scan, Sides};

/// The free nodes as rows, apart from boxes that are still waiting to be flipped.
#[derive(Clone, Debug)]
pub(super) struct FreeRows {
    rows: Lanes,
    waiting: Vec<Cuboid>,
}

/// The rows, in lanes that are as narrow as possible. `Whole` is used if rows are disabled or have
/// more than 64 nodes. In these cases, each search computes a set of bases from the occupancy.
#[derive(Clone, Debug)]
enum Lanes {
    Narrow(Rows<u16, 16>),
    Middle(Rows<u32, 8>),
    Wide(Rows<u64, 4>),
    Whole(BaseSet),
}

impl FreeRows {
    pub(super) fn new(grid: Grid, methods: SearchMethods) -> FreeRows {
        let rows = match grid.side(0) {
            _ if !methods.rows => Lanes::Whole(BaseSet::new(grid)),
            65.. => Lanes::Whole(BaseSet::new(grid)),
            ..=16 if !methods.wide => Lanes::Narrow(Rows::new(grid)),
            ..=32 if !methods.wide => Lanes::Middle(Rows::new(grid)),
            _ => Lanes::Wide(Rows::new(grid)),
        };
        FreeRows { rows, waiting: Vec::new() }
    }

    /// Marks a box's free nodes as busy, or its busy nodes as free. If `may_wait` is true, the
    /// flip is deferred until the next search of the rows.
    pub(super) fn flip(&mut self, cuboid: &Cuboid, may_wait: bool) {
        if let Lanes::Whole(_) = self.rows {
            return;
        }
        match self.waiting.iter().position(|other| other == cuboid) {
            Some(index) => drop(self.waiting.swap_remove(index)),
            None if may_wait => self.waiting.push(*cuboid),
            None => self.rows.flip(cuboid),
        }
    }

    /// Returns true if a node is free, or `None` if there are no rows.
    pub(super) fn is_free(&self, grid: &Grid, point: Coordinates) -> Option<bool> {
        let shown = match &self.rows {
            Lanes::Narrow(rows) => rows.is_free(point),
            Lanes::Middle(rows) => rows.is_free(point),
            Lanes::Wide(rows) => rows.is_free(point),
            Lanes::Whole(_) => return None,
        };
        let flips = self.waiting.iter().filter(|cuboid| cuboid.contains(grid, point)).count();
        Some(shown ^ (flips % 2 == 1))
    }

    /// Estimates the number of instructions that a search takes, using measured constants. A shape
    /// with a long side takes more passes over the rows.
    pub(super) fn search_cost(&self, grid: &Grid, is_long: bool) -> u32 {
        let rows = u32::from(grid.side(2)) * (u32::from(grid.side(1)) + 1);
        let vectors = match self.rows {
            Lanes::Narrow(_) => rows / 16,
            Lanes::Middle(_) => rows / 8,
            Lanes::Wide(_) => rows / 4,
            Lanes::Whole(_) => grid.nodes().div_ceil(64),
        };
        let passes = if is_long { 3 } else { 1 };
        if grid.has_wrap() { 1500 + 50 * passes * vectors } else { 600 + 20 * passes * vectors }
    }

    /// Finds a shape's first free base in a region that contains all of the shape's free bases.
    /// Also returns the number of words computed.
    pub(super) fn first(
        &mut self,
        free: &Occupancy,
        shape: Sides,
        region: Region,
        vectors: Vectors,
    ) -> (Option<Coordinates>, u64) {
        for cuboid in self.waiting.drain(..) {
            self.rows.flip(&cuboid);
        }
        match &mut self.rows {
            Lanes::Narrow(rows) => vectors.run(InRows { rows, shape, region }),
            Lanes::Middle(rows) => vectors.run(InRows { rows, shape, region }),
            Lanes::Wide(rows) => vectors.run(InRows { rows, shape, region }),
            Lanes::Whole(bases) => {
                let before = bases.words_touched();
                let found = bases.find(free, shape, Scan::default());
                (found, bases.words_touched() - before)
            }
        }
    }
}

impl Lanes {
    fn flip(&mut self, cuboid: &Cuboid) {
        match self {
            Lanes::Narrow(rows) => rows.flip(cuboid),
            Lanes::Middle(rows) => rows.flip(cuboid),
            Lanes::Wide(rows) => rows.flip(cuboid),
            Lanes::Whole(_) => {}
        }
    }
}
