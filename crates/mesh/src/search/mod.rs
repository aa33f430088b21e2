//! The exact search for the first free box: an index of the busy boxes, and whichever of its
//! searches is the cheapest for a question.
//!
//! ```text
//!                 taken, given                      first(shapes)
//!                      |                                 |
//!        +-------------+------------+          refusals: known already?
//!        |             |            |                    |  only near what was released?
//!     busy list      rows       refusals                 v
//!        |             |                      few boxes on rings: their corners
//!        |             |                      few busy boxes: leaps over the list
//!        +-------------+--------------------> many, or too many leaps: shifts over the rows
//! ```
//!
//! A machine of at most 8x8x8 has no list: its nodes are eight words, and are searched at once.
//!
//! Every way gives the same answer; which one is taken depends on the state alone, not on the
//! clock.

// What a search is compiled anew for must be inlined whole, and lanes of several arrays are walked
// by index, or the compiler does not make vectors of them.
#![allow(clippy::inline_always, clippy::needless_range_loop)]

mod boxes;
mod busy;
mod corners;
mod cube;
mod leaps;
mod places;
mod refusals;
mod region;
mod rows;
pub(crate) mod vectors;

use crate::{Cuboid, Grid, NodeId, Occupancy, Sides};
use boxes::Boxes;
use cube::Cube;
pub use refusals::RefusalKey;
use refusals::{Known, Refusals};
use vectors::Vectors;

/// The exact search, in row-major order.
///
/// It must be told of every box that is taken and given, each given as it was taken.
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

/// What is searched.
#[derive(Clone, Debug)]
enum Index {
    /// The whole machine in registers.
    Cube(Box<Cube>),
    Boxes(Box<Boxes>),
}

/// The ways that a search may take. All are on unless a test or a measurement turns some off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Each way is on or off, in any combination.
pub struct Ways {
    /// Words in registers, on machines of at most 8x8x8.
    pub cube: bool,
    /// All candidates at once, among few busy boxes on rings.
    pub corners: bool,
    /// Leaps over the list of busy boxes.
    pub leaps: bool,
    /// Shifts over the rows. With none of the three, and on grids wider than 64, shifts over the
    /// whole machine ([`BaseSet`](crate::BaseSet)).
    pub rows: bool,
    /// The memory of refusals.
    pub memory: bool,
    /// Instructions that not every processor has.
    pub vectors: bool,
    /// Rows in the widest lanes, whatever the grid's width.
    pub wide: bool,
}

impl Default for Ways {
    fn default() -> Self {
        Ways {
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

/// How much searches have looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchWork {
    /// Busy boxes tested: for each leap all of the list, and one where there is none.
    pub boxes: u64,
    /// Rows computed, or words of the whole machine.
    pub words: u64,
}

impl BoxSearch {
    /// A search of a grid with all nodes free.
    pub fn new(grid: Grid) -> BoxSearch {
        BoxSearch::with(grid, Ways::default())
    }

    /// A search that takes some ways only.
    pub fn with(grid: Grid, ways: Ways) -> BoxSearch {
        let vectors = if ways.vectors { Vectors::widest() } else { Vectors::Baseline };
        let index = match Cube::new(grid, vectors).filter(|_| ways.cube) {
            Some(cube) => Index::Cube(Box::new(cube)),
            None => Index::Boxes(Box::new(Boxes::new(grid, ways, vectors))),
        };
        BoxSearch { grid, index, refusals: Refusals::default(), memory: ways.memory }
    }

    /// The grid that it searches.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// A box is busy now.
    pub fn take(&mut self, cuboid: &Cuboid) {
        match &mut self.index {
            Index::Cube(cube) => cube.flip(cuboid),
            Index::Boxes(boxes) => boxes.take(cuboid),
        }
    }

    /// A box that was taken is free again.
    pub fn give(&mut self, cuboid: &Cuboid) {
        self.untake(cuboid);
        match &self.index {
            Index::Boxes(boxes) if !boxes.are_few() => self.refusals.released(&self.grid, cuboid),
            _ => self.refusals.forget(),
        }
    }

    /// Undoes a take since which nothing but [`RefusalKey::Once`] was asked: what was refused
    /// before it is refused still, since nothing is free that was not free then.
    pub fn untake(&mut self, cuboid: &Cuboid) {
        match &mut self.index {
            Index::Cube(cube) => cube.flip(cuboid),
            Index::Boxes(boxes) => boxes.give(cuboid),
        }
    }

    /// Holds the list and the rows against the truth. For tests.
    ///
    /// # Panics
    /// Where they disagree.
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
            assert_eq!(shown.unwrap_or(truth), truth, "the rows disagree at {point:?}");
        }
    }

    /// How much it has looked at so far.
    pub fn work(&self) -> SearchWork {
        match &self.index {
            Index::Cube(cube) => cube.work,
            Index::Boxes(boxes) => boxes.work,
        }
    }

    /// The first free box, in row-major order of the bases, of the first of these shapes that has
    /// one. `asked` names the question for the memory of refusals.
    ///
    /// `free` is what taking and giving has left free.
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
