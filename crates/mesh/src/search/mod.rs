//! The exact search for a shape's first free box, in row-major order of bases.
//!
//! [`BoxSearch`] maintains an index of the busy nodes. The caller reports every box that is taken
//! or released. Each query runs the cheapest of several search methods:
//!
//! ```text
//!              take, give                         first(shapes)
//!                  |                                    |
//!        +---------+---------+                 refusals: refused before, or
//!        |         |         |                 to be searched near one box only?
//!   busy boxes   rows    refusals                       |
//!        |         |                                    v
//!        |         |                   few busy boxes on rings: corners
//!        |         |                   few busy boxes:          leaps
//!        +---------+-----------------> many, or many leaps:     rows
//! ```
//!
//! A machine of at most 8x8x8 has no list of boxes, so `cube` searches its eight words directly.
//!
//! Invariant: every method returns the same result. The method is chosen based only on the state,
//! never on the clock.
//!
//! Cost: see each file. The measurements behind the choice of method are in docs/search.md.

// A search is compiled for each instruction set, so all of its code must be inlined. Compilers
// vectorize a loop over several arrays only if it accesses the arrays by index.
#![allow(clippy::inline_always, clippy::needless_range_loop)]

mod box_index;
mod busy_boxes;
mod corners;
mod cube;
mod free_rows;
mod key_index;
mod lanes;
mod leaps;
mod refusals;
mod region;
mod row_search;
mod rows;
pub(crate) mod vectors;

use crate::{Cuboid, Grid, NodeId, Occupancy, Sides};
use box_index::BoxIndex;
use cube::Cube;
pub use refusals::RefusalKey;
use refusals::{Known, Refusals};
use vectors::Vectors;

/// The exact search, in row-major order.
///
/// The caller must report every box that is taken or released. Each box must be released as a
/// whole, exactly as it was taken.
///
/// ```
/// use pavior_mesh::{RefusalKey, BoxSearch, Cuboid, Grid, Occupancy};
/// let grid = Grid::mesh(&[5, 3])?;
/// let (mut free, mut search) = (Occupancy::all_free(grid), BoxSearch::new(grid));
/// let busy = Cuboid::new([1, 0, 0], [1, 1, 1]);
/// free.take(&busy).unwrap();
/// search.take(&busy);
/// let found = search.first(&free, RefusalKey::Once, &[[3, 2, 1]]);
/// assert_eq!(found, Some(Cuboid::new([2, 0, 0], [3, 2, 1])));
/// # Ok::<(), pavior_mesh::GridError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BoxSearch {
    grid: Grid,
    index: Index,
    refusals: Refusals,
    memory: bool,
}

#[derive(Clone, Debug)]
enum Index {
    /// The nodes of a machine of up to 8x8x8, one word per plane.
    Cube(Box<Cube>),
    Boxes(Box<BoxIndex>),
}

/// The methods that a search may use. All except `wide` are enabled unless a test or a benchmark
/// disables them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Each method can be enabled independently.
pub struct SearchMethods {
    /// Enables the search of words held in registers, for machines of up to 8x8x8.
    pub cube: bool,
    /// Enables the search by corners, which requires few busy boxes and at least one axis that
    /// wraps.
    pub corners: bool,
    /// Enables the search that leaps from one busy box to the next.
    pub leaps: bool,
    /// Enables the search that shifts rows. If this search is disabled or a row has more than 64
    /// nodes, the whole machine is shifted instead ([`BaseSet`](crate::BaseSet)).
    pub rows: bool,
    /// Enables the cache of refusals.
    pub memory: bool,
    /// Enables vector instructions that not every processor supports.
    pub vectors: bool,
    /// Forces the use of the widest lanes for rows, regardless of the grid's width.
    pub wide: bool,
}

impl Default for SearchMethods {
    fn default() -> Self {
        SearchMethods {
            cube: true,
            corners: true,
            leaps: true,
            rows: true,
            memory: true,
            vectors: true,
            wide: false,
        }
    }
}

/// The amount of work that searches have done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchWork {
    /// The number of busy boxes tested. Each leap tests the whole list, and each search by corners
    /// tests it once per shape. Searching an empty list counts as testing one box.
    pub boxes: u64,
    /// The number of rows computed, or the number of words for searches of the whole machine.
    pub words: u64,
}

impl BoxSearch {
    /// Creates a search on a grid whose nodes are all free.
    pub fn new(grid: Grid) -> BoxSearch {
        BoxSearch::with(grid, SearchMethods::default())
    }

    /// Creates a search that uses only the given methods.
    pub fn with(grid: Grid, methods: SearchMethods) -> BoxSearch {
        let vectors = if methods.vectors { Vectors::widest() } else { Vectors::Baseline };
        let index = match Cube::new(grid, vectors).filter(|_| methods.cube) {
            Some(cube) => Index::Cube(Box::new(cube)),
            None => Index::Boxes(Box::new(BoxIndex::new(grid, methods, vectors))),
        };
        BoxSearch { grid, index, refusals: Refusals::default(), memory: methods.memory }
    }

    /// Returns the grid that is searched.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Marks a box as busy.
    pub fn take(&mut self, cuboid: &Cuboid) {
        match &mut self.index {
            Index::Cube(cube) => cube.flip(cuboid),
            Index::Boxes(boxes) => boxes.take(cuboid),
        }
    }

    /// Marks a box as permanently busy. `free` lists the disjoint parts of the box that were free.
    /// This is cheaper than taking many parts. After releasing another box that overlaps the
    /// covered box, the caller must cover the covered box again.
    ///
    /// ```
    /// use pavior_mesh::{BoxSearch, Cuboid, Grid, Occupancy, RefusalKey};
    /// let grid = Grid::mesh(&[40, 3])?;
    /// let (mut free, mut search) = (Occupancy::all_free(grid), BoxSearch::new(grid));
    /// let busy = Cuboid::new([1, 0, 0], [1, 1, 1]);
    /// free.take(&busy).unwrap();
    /// search.take(&busy);
    /// let parts = [Cuboid::new([0, 0, 0], [1, 1, 1]), Cuboid::new([0, 1, 0], [2, 2, 1])];
    /// free.take_all(&parts).unwrap();
    /// search.cover(&Cuboid::new([0, 0, 0], [2, 3, 1]), &parts);
    /// let found = search.first(&free, RefusalKey::Once, &[[3, 2, 1]]);
    /// assert_eq!(found, Some(Cuboid::new([2, 0, 0], [3, 2, 1])));
    /// # Ok::<(), pavior_mesh::GridError>(())
    /// ```
    pub fn cover(&mut self, cuboid: &Cuboid, free: &[Cuboid]) {
        match &mut self.index {
            Index::Cube(cube) => free.iter().for_each(|part| cube.flip(part)),
            Index::Boxes(boxes) => boxes.cover(cuboid, free),
        }
    }

    /// Marks as busy a box that overlaps a covered box. `free` lists the disjoint parts of the new
    /// box that were free. After releasing the new box, the caller must cover the other box again.
    pub fn take_over(&mut self, cuboid: &Cuboid, free: &[Cuboid]) {
        match &mut self.index {
            Index::Cube(cube) => free.iter().for_each(|part| cube.flip(part)),
            Index::Boxes(boxes) => boxes.take_over(cuboid, free),
        }
    }

    /// Marks a busy box as free again.
    pub fn give(&mut self, cuboid: &Cuboid) {
        self.untake(cuboid);
        match &self.index {
            Index::Boxes(boxes) if !boxes.is_short() => self.refusals.released(&self.grid, cuboid),
            _ => self.refusals.forget(),
        }
    }

    /// Undoes a call to `take`, provided that all searches since then used [`RefusalKey::Once`].
    /// Earlier refusals remain valid, because every node that is now free was also free when they
    /// were recorded.
    pub fn untake(&mut self, cuboid: &Cuboid) {
        match &mut self.index {
            Index::Cube(cube) => cube.flip(cuboid),
            Index::Boxes(boxes) => boxes.give(cuboid),
        }
    }

    /// Compares the list and the rows with the occupancy, for tests.
    ///
    /// # Panics
    /// Panics if the list or the rows differ from the occupancy.
    pub fn validate(&self, free: &Occupancy) {
        if let Index::Boxes(boxes) = &self.index {
            assert_eq!(boxes.listed(), *free, "the list disagrees with the occupancy");
        }
        for node in (0..self.grid.nodes()).map(NodeId) {
            let point = self.grid.point(node);
            let shown = match &self.index {
                Index::Cube(cube) => Some(cube.is_free(point)),
                Index::Boxes(boxes) => boxes.is_free(point),
            };
            let truth = free.is_node_free(node);
            assert_eq!(shown.unwrap_or(truth), truth, "rows and occupancy disagree at {point:?}");
        }
    }

    /// Returns the work done so far.
    pub fn work(&self) -> SearchWork {
        match &self.index {
            Index::Cube(cube) => cube.work,
            Index::Boxes(boxes) => boxes.work,
        }
    }

    /// Returns the first free box, in row-major order of bases, of the first shape that fits.
    /// `asked` identifies the query in the refusal cache. `free` must contain exactly the nodes
    /// that are currently free.
    pub fn first(
        &mut self,
        free: &Occupancy,
        asked: RefusalKey,
        shapes: &[Sides],
    ) -> Option<Cuboid> {
        let asked = if self.memory { asked } else { RefusalKey::Once };
        let known = self.refusals.of(&self.grid, asked);
        if known == Known::Refused {
            return None;
        }
        let found = match &mut self.index {
            Index::Cube(cube) => cube.first(shapes),
            Index::Boxes(boxes) => boxes.first(free, known, shapes),
        };
        if found.is_none() {
            self.refusals.note(asked);
        }
        found
    }
}
