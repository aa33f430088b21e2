//! Selects a search method on machines larger than 8x8x8.
//!
//! ```text
//!   busy boxes:   0         up to 15, on rings     up to a bound      more
//!   search:       none      corners                leaps              rows
//! ```
//!
//! The bound is the list length at which leaping costs as much as shifting rows. It depends on
//! whether the shape has a long side. If a search by leaps takes too many steps, a row search takes
//! over from the plane that the leaps have reached.
//!
//! Invariant: the list of busy boxes and the rows agree on which nodes are busy.
//!
//! Cost: O(1) to take or release a box while the list is short, and O(rows of the box) otherwise.

use super::busy_boxes::BusyBoxes;
use super::corners::Corners;
use super::free_rows::FreeRows;
use super::leaps::{self, Found, Leaps};
use super::refusals::Known;
use super::region::Region;
use super::vectors::Vectors;
use super::{SearchMethods, SearchWork};
use crate::{Coordinates, Cuboid, Grid, Occupancy, Sides};

/// The list of busy boxes, and the rows of free nodes.
#[derive(Clone, Debug)]
pub(super) struct BoxIndex {
    grid: Grid,
    busy: BusyBoxes,
    free_rows: FreeRows,
    /// True if any axis wraps.
    rings: bool,
    /// The maximum length at which the list, rather than the rows, is searched, indexed by whether
    /// the shape has a long side.
    longest_list: [usize; 2],
    /// The maximum list length for a search by corners, or 0 to disable this search.
    corner_search_limit: usize,
    /// The number of leaps that cost as much as a row search, indexed by whether the shape has a
    /// long side and by the number of groups minus one.
    budgets: [[u32; BusyBoxes::GROUPS]; 2],
    vectors: Vectors,
    pub(super) work: SearchWork,
}

/// The maximum length of a list that can be searched by leaps.
const LEAP_SEARCH_LIMIT: usize = BusyBoxes::LANES * BusyBoxes::GROUPS;
/// The maximum length of a list that can be searched by corners.
const CORNER_SEARCH_LIMIT: usize = 15;

/// The minimum side length at which a row search takes many passes.
const LONG_SIDE: u16 = 9;

/// Returns true if a shape, given by its orientations, has a long side.
fn is_long(shapes: &[Sides]) -> bool {
    shapes.first().is_some_and(|shape| shape.iter().any(|&side| side >= LONG_SIDE))
}

impl BoxIndex {
    pub(super) fn new(grid: Grid, methods: SearchMethods, vectors: Vectors) -> BoxIndex {
        let free_rows = FreeRows::new(grid, methods);
        let rows_cost = [false, true].map(|is_long| {
            if methods.rows { free_rows.search_cost(&grid, is_long) } else { u32::MAX }
        });
        // The measured number of instructions per leap. A search takes about one leap per box.
        let leap_cost = |groups: u32| 60 + 20 * groups;
        let leaps_pay = |count: u32, rows_cost: u32| {
            count * leap_cost(count.div_ceil(BusyBoxes::LANES as u32)) <= rows_cost
        };
        let rings = grid.has_wrap();
        let sides_fit = grid.sides().iter().all(|&n| n <= leaps::LONGEST);
        // A limit of 0 disables a search method.
        let limit = |is_on: bool, most: usize| if is_on && sides_fit { most } else { 0 };
        let corner_search_limit = limit(methods.corners && rings, CORNER_SEARCH_LIMIT);
        let longest_list = rows_cost.map(|cost| {
            let counts = 1..=LEAP_SEARCH_LIMIT as u32;
            let paying = counts.take_while(|&count| leaps_pay(count, cost)).last().unwrap_or(0);
            limit(methods.leaps, paying as usize).max(corner_search_limit)
        });
        BoxIndex {
            grid,
            busy: BusyBoxes::default(),
            rings,
            longest_list,
            corner_search_limit,
            budgets: rows_cost
                .map(|cost| std::array::from_fn(|index| cost / leap_cost(index as u32 + 1))),
            free_rows,
            vectors,
            work: SearchWork::default(),
        }
    }

    pub(super) fn take(&mut self, cuboid: &Cuboid) {
        self.busy.add(cuboid);
        self.flip(cuboid);
    }

    /// Marks a box as permanently busy. `free` contains the parts of the box that were free.
    /// Afterward, the list contains the whole box rather than these parts.
    pub(super) fn cover(&mut self, cuboid: &Cuboid, free: &[Cuboid]) {
        let is_listed = self.busy.add_cover(cuboid);
        for part in free {
            if is_listed {
                self.free_rows.flip(part, false);
            } else {
                self.take(part);
            }
        }
    }

    /// Marks a box as busy. Only the parts in `free` were free; the rest was already covered.
    pub(super) fn take_over(&mut self, cuboid: &Cuboid, free: &[Cuboid]) {
        self.busy.add(cuboid);
        for part in free {
            self.flip(part);
        }
    }

    /// Marks a busy box as free again.
    pub(super) fn give(&mut self, cuboid: &Cuboid) {
        self.busy.remove(cuboid);
        self.flip(cuboid);
    }

    /// Returns true if the list is so short that searching the whole machine costs no more than
    /// searching near a single box.
    pub(super) fn is_short(&self) -> bool {
        self.busy.count() <= self.longest_list[0].min(2 * BusyBoxes::LANES)
    }

    /// Flips a box in the rows. While the list is short, the flip is deferred, because no search
    /// reads the rows.
    fn flip(&mut self, cuboid: &Cuboid) {
        self.free_rows.flip(cuboid, self.busy.count() <= self.longest_list[1]);
    }

    /// Returns the nodes that are not in any box on the list.
    pub(super) fn listed(&self) -> Occupancy {
        let mut free = Occupancy::all_free(self.grid);
        for node in self.busy.iter().flat_map(|cuboid| cuboid.nodes(&self.grid)) {
            let was_free = free.take_node(node);
            assert!(was_free || self.busy.has_covers(), "the boxes in the list are disjoint");
        }
        free
    }

    /// Returns true if the rows mark a node as free, or `None` if there are no rows.
    pub(super) fn is_free(&self, point: Coordinates) -> Option<bool> {
        self.free_rows.is_free(&self.grid, point)
    }

    /// Returns the first free box, in row-major order, of the first shape that fits.
    ///
    /// The search by leaps is compiled separately for lists of up to 1, 2, 4 or 8 groups of eight
    /// boxes, with and without rings.
    pub(super) fn first(
        &mut self,
        free: &Occupancy,
        known: Known,
        shapes: &[Sides],
    ) -> Option<Cuboid> {
        let longest_list = self.longest_list[usize::from(is_long(shapes))];
        match (self.busy.count(), self.rings) {
            (0, _) => {
                self.work.boxes += 1;
                let fits = |&&shape: &&Sides| self.grid.fits(shape);
                shapes.iter().find(fits).map(|&shape| Cuboid::new([0; 3], shape))
            }
            (count, _) if count > longest_list => self.first_by_rows(free, known, shapes),
            (count, _) if count <= self.corner_search_limit => self.first_by_corners(shapes),
            (..=8, false) => self.first_by_leaps::<1, false>(free, known, shapes),
            (..=8, true) => self.first_by_leaps::<1, true>(free, known, shapes),
            (..=16, false) => self.first_by_leaps::<2, false>(free, known, shapes),
            (..=16, true) => self.first_by_leaps::<2, true>(free, known, shapes),
            (..=32, false) => self.first_by_leaps::<4, false>(free, known, shapes),
            (..=32, true) => self.first_by_leaps::<4, true>(free, known, shapes),
            (_, false) => self.first_by_leaps::<8, false>(free, known, shapes),
            (_, true) => self.first_by_leaps::<8, true>(free, known, shapes),
        }
    }

    /// Searches by corners among at most [`CORNER_SEARCH_LIMIT`] boxes. The search is compiled
    /// separately for each combination of groups, vectors and candidates (see [`Corners`]).
    fn first_by_corners(&mut self, shapes: &[Sides]) -> Option<Cuboid> {
        fn among<const G: usize, const R: usize, const C: usize>(
            boxes: &BoxIndex,
            shapes: &[Sides],
        ) -> Option<Cuboid> {
            let (groups, count) = (boxes.busy.groups::<G>(), boxes.busy.count());
            if boxes.grid.side(2) == 1 {
                Corners::<G, R, C, 1>::new(boxes.grid, groups, count).first(shapes)
            } else {
                Corners::<G, R, C, C>::new(boxes.grid, groups, count).first(shapes)
            }
        }
        let count = self.busy.count();
        self.work.boxes += (count * shapes.len()) as u64;
        match count {
            ..=1 => among::<1, 1, 2>(self, shapes),
            2..=3 => among::<1, 2, 4>(self, shapes),
            4..=5 => among::<1, 3, 6>(self, shapes),
            6..=7 => among::<1, 4, 8>(self, shapes),
            8..=11 => among::<2, 12, 12>(self, shapes),
            _ => among::<2, 16, 16>(self, shapes),
        }
    }

    /// Searches by leaps among at most N groups of boxes. If there are too many leaps, continues by
    /// rows.
    fn first_by_leaps<const N: usize, const RINGS: bool>(
        &mut self,
        free: &Occupancy,
        known: Known,
        shapes: &[Sides],
    ) -> Option<Cuboid> {
        let budget = self.budgets[usize::from(is_long(shapes))][N - 1];
        let (grid, count) = (self.grid, self.busy.count() as u64);
        for &shape in shapes {
            let Some(mut region) = known.region(&grid, shape) else { continue };
            let busy = &self.busy;
            let leaps = Leaps::<'_, N, RINGS> { grid, busy, shape, region, budget };
            let (found, steps) = leaps.run();
            self.work.boxes += u64::from(steps) * count;
            let base = match found {
                Found::Base(base) => Some(base),
                Found::Nothing => None,
                Found::Unknown(z) => {
                    region.first[2] = z;
                    self.search_rows(free, shape, region)
                }
            };
            if let Some(base) = base {
                return Some(Cuboid::new(base, shape));
            }
        }
        None
    }

    fn first_by_rows(
        &mut self,
        free: &Occupancy,
        known: Known,
        shapes: &[Sides],
    ) -> Option<Cuboid> {
        shapes.iter().find_map(|&shape| {
            let region = known.region(&self.grid, shape)?;
            self.search_rows(free, shape, region).map(|base| Cuboid::new(base, shape))
        })
    }

    /// Finds a shape's first free base in a region, using the rows.
    fn search_rows(
        &mut self,
        free: &Occupancy,
        shape: Sides,
        region: Region,
    ) -> Option<Coordinates> {
        let (found, words) = self.free_rows.first(free, shape, region, self.vectors);
        self.work.words += words;
        found
    }
}
