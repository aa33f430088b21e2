//! The index of machines that do not fit into registers: the list of busy boxes, the free nodes as
//! rows, and the choice between them.

use super::busy::Busy;
use super::corners::Corners;
use super::leaps::{self, Found, Leaps};
use super::refusals::Known;
use super::region::Region;
use super::rows::{InRows, Rows};
use super::vectors::Vectors;
use super::{SearchWork, Ways};
use crate::{BaseSet, Coordinates, Cuboid, Grid, Occupancy, Scan, Sides};

#[derive(Clone, Debug)]
pub(super) struct Boxes {
    grid: Grid,
    busy: Busy,
    bits: Bits,
    /// Boxes that the bits do not show yet, or still show: while the list is short no search looks
    /// at the bits, and flipping the rows of a large box costs more than a search.
    unflipped: Vec<Cuboid>,
    rings: bool,
    /// Longer lists are not searched.
    longest_list: usize,
    /// Up to so many boxes all candidates are looked at, on rings.
    corner_search_limit: usize,
    /// By groups of boxes: after how many leaps shifting over the rows would have been cheaper.
    budgets: [u32; Busy::GROUPS],
    vectors: Vectors,
    pub(super) work: SearchWork,
}

/// The free nodes in the form that is searched.
#[derive(Clone, Debug)]
enum Bits {
    Narrow(Rows<u16, 16>),
    Middle(Rows<u32, 8>),
    Wide(Rows<u64, 4>),
    Whole(BaseSet),
}

impl Bits {
    fn new(grid: Grid, ways: Ways) -> Bits {
        match grid.side(0) {
            _ if !ways.rows => Bits::Whole(BaseSet::new(grid)),
            65.. => Bits::Whole(BaseSet::new(grid)),
            ..=16 if !ways.wide => Bits::Narrow(Rows::new(grid)),
            ..=32 if !ways.wide => Bits::Middle(Rows::new(grid)),
            _ => Bits::Wide(Rows::new(grid)),
        }
    }

    fn flip(&mut self, cuboid: &Cuboid) {
        match self {
            Bits::Narrow(rows) => rows.flip(cuboid),
            Bits::Middle(rows) => rows.flip(cuboid),
            Bits::Wide(rows) => rows.flip(cuboid),
            Bits::Whole(_) => {}
        }
    }

    /// About how many instructions a search takes, measured.
    fn cost(&self, grid: &Grid) -> u32 {
        let rows = u32::from(grid.side(2)) * (u32::from(grid.side(1)) + 1);
        let vectors = match self {
            Bits::Narrow(_) => rows / 16,
            Bits::Middle(_) => rows / 8,
            Bits::Wide(_) => rows / 4,
            Bits::Whole(_) => grid.nodes().div_ceil(64),
        };
        if grid.has_wrap() { 1500 + 50 * vectors } else { 600 + 20 * vectors }
    }
}

/// The longest list to leap over.
const MOST: usize = Busy::LANES * Busy::GROUPS;
/// The longest list of which all candidates are looked at.
const CORNER_SEARCH_LIMIT: usize = 15;

impl Boxes {
    /// All nodes free.
    pub(super) fn new(grid: Grid, ways: Ways, vectors: Vectors) -> Boxes {
        let bits = Bits::new(grid, ways);
        let cost = if ways.rows { bits.cost(&grid) } else { u32::MAX };
        let leap = |groups: u32| 60 + 20 * groups;
        // A search takes about as many leaps as there are boxes.
        let pays = |&count: &u32| count * leap(count.div_ceil(Busy::LANES as u32)) <= cost;
        let leaps = (1..=MOST as u32).take_while(pays).last().unwrap_or(0) as usize;
        let (rings, lanes) = (grid.has_wrap(), grid.sides().iter().all(|&n| n <= leaps::LONGEST));
        let corner_search_limit =
            if ways.corners && rings && lanes { CORNER_SEARCH_LIMIT } else { 0 };
        Boxes {
            grid,
            busy: Busy::default(),
            rings,
            longest_list: if ways.leaps && lanes {
                leaps.max(corner_search_limit)
            } else {
                corner_search_limit
            },
            corner_search_limit,
            budgets: std::array::from_fn(|index| cost / leap(index as u32 + 1)),
            bits,
            unflipped: Vec::new(),
            vectors,
            work: SearchWork::default(),
        }
    }

    /// A box is busy now.
    pub(super) fn take(&mut self, cuboid: &Cuboid) {
        self.busy.add(cuboid);
        self.flip(cuboid);
    }

    /// A box that was taken is free again.
    pub(super) fn give(&mut self, cuboid: &Cuboid) {
        self.busy.remove(cuboid);
        self.flip(cuboid);
    }

    /// Whether there are so few boxes that a search near one of them costs no less than one
    /// anywhere.
    pub(super) fn are_few(&self) -> bool {
        self.busy.count() <= self.longest_list.min(2 * Busy::LANES)
    }

    /// Notes that a box's nodes change sides. Two flips of one box are none.
    fn flip(&mut self, cuboid: &Cuboid) {
        if let Bits::Whole(_) = &self.bits {
            return;
        }
        match self.unflipped.iter().position(|other| other == cuboid) {
            Some(index) => drop(self.unflipped.swap_remove(index)),
            None if self.busy.count() <= self.longest_list => self.unflipped.push(*cuboid),
            None => self.bits.flip(cuboid),
        }
    }

    /// What the list leaves free.
    pub(super) fn listed(&self) -> Occupancy {
        let mut free = Occupancy::all_free(self.grid);
        self.busy
            .iter()
            .for_each(|cuboid| free.take(&cuboid).expect("the boxes of the list are disjoint"));
        free
    }

    /// Whether the rows show a node as free; none if there are no rows.
    pub(super) fn is_free(&self, point: Coordinates) -> Option<bool> {
        let shown = match &self.bits {
            Bits::Narrow(rows) => rows.is_free(point),
            Bits::Middle(rows) => rows.is_free(point),
            Bits::Wide(rows) => rows.is_free(point),
            Bits::Whole(_) => return None,
        };
        let unflipped = |cuboid: &&Cuboid| cuboid.contains(&self.grid, point);
        Some(shown ^ (self.unflipped.iter().filter(unflipped).count() % 2 == 1))
    }

    /// The first free box, in row-major order of the bases, of the first of these shapes that has
    /// one.
    pub(super) fn first(
        &mut self,
        free: &Occupancy,
        known: Known,
        shapes: &[Sides],
    ) -> Option<Cuboid> {
        match (self.busy.count(), self.rings) {
            (0, _) => {
                self.work.boxes += 1;
                let fits = |&&shape: &&Sides| self.grid.fits(shape);
                shapes.iter().find(fits).map(|&shape| Cuboid::new([0; 3], shape))
            }
            (count, _) if count > self.longest_list => self.shifting(free, known, shapes),
            (count, _) if count <= self.corner_search_limit => self.corners(shapes),
            (..=8, false) => self.leaping::<1, false>(free, known, shapes),
            (..=8, true) => self.leaping::<1, true>(free, known, shapes),
            (..=16, false) => self.leaping::<2, false>(free, known, shapes),
            (..=16, true) => self.leaping::<2, true>(free, known, shapes),
            (..=32, false) => self.leaping::<4, false>(free, known, shapes),
            (..=32, true) => self.leaping::<4, true>(free, known, shapes),
            (_, false) => self.leaping::<8, false>(free, known, shapes),
            (_, true) => self.leaping::<8, true>(free, known, shapes),
        }
    }

    /// Looks at all candidates among at most [`CORNER_SEARCH_LIMIT`] boxes.
    fn corners(&mut self, shapes: &[Sides]) -> Option<Cuboid> {
        fn among<const G: usize, const R: usize, const C: usize>(
            boxes: &Boxes,
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

    /// Searches by leaps over at most N groups of busy boxes, and where that takes too many, by
    /// shifts.
    fn leaping<const N: usize, const RINGS: bool>(
        &mut self,
        free: &Occupancy,
        known: Known,
        shapes: &[Sides],
    ) -> Option<Cuboid> {
        let (grid, count, budget) = (self.grid, self.busy.count() as u64, self.budgets[N - 1]);
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
                    self.shift(free, shape, region)
                }
            };
            if let Some(base) = base {
                return Some(Cuboid::new(base, shape));
            }
        }
        None
    }

    /// Searches by shifts.
    fn shifting(&mut self, free: &Occupancy, known: Known, shapes: &[Sides]) -> Option<Cuboid> {
        shapes.iter().find_map(|&shape| {
            let region = known.region(&self.grid, shape)?;
            self.shift(free, shape, region).map(|base| Cuboid::new(base, shape))
        })
    }

    /// The first free base of a shape, which lies in this region if there is one.
    fn shift(&mut self, free: &Occupancy, shape: Sides, region: Region) -> Option<Coordinates> {
        for cuboid in self.unflipped.drain(..) {
            self.bits.flip(&cuboid);
        }
        let vectors = self.vectors;
        let (found, words) = match &mut self.bits {
            Bits::Narrow(rows) => vectors.run(InRows { rows, shape, region }),
            Bits::Middle(rows) => vectors.run(InRows { rows, shape, region }),
            Bits::Wide(rows) => vectors.run(InRows { rows, shape, region }),
            Bits::Whole(bases) => {
                let before = bases.words_touched();
                let found = bases.find(free, shape, Scan::default());
                (found, bases.words_touched() - before)
            }
        };
        self.work.words += words;
        found
    }
}
