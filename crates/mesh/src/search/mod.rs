//! The exact search for the first free box: an index of the busy boxes, and whichever of its searches
//! is the cheapest for a question.
//!
//! ```text
//!                 taken, given                      first(shapes)
//!                      |                                 |
//!        +-------------+------------+          refusals: known already?
//!        |             |            |                    |  only near what was released?
//!     busy list      rows       refusals                 v
//!        |             |                      few busy boxes: leaps over the list
//!        +-------------+--------------------> many, or too many leaps: shifts over the rows
//! ```
//!
//! Every way gives the same answer; which one is taken depends on the state alone, not on the clock.

// What a search is compiled anew for must be inlined whole, and lanes of several arrays are walked
// by index, or the compiler does not make vectors of them.
#![allow(clippy::inline_always, clippy::needless_range_loop)]

mod busy;
mod cube;
mod leaps;
mod places;
mod refusals;
mod region;
mod rows;
mod vectors;

use crate::{BaseSet, Cuboid, Grid, NodeId, Occupancy, Point, Scan, Sides};
use busy::Busy;
use cube::{Cube, InCube};
use leaps::{Found, Leaps};
pub use refusals::Asked;
use refusals::{Known, Refusals};
use region::Region;
use rows::{InRows, Rows};
use vectors::{Kernel, Vectors};

/// The exact search, in row-major order.
///
/// It must be told of every box that is taken and given, each given as it was taken.
///
/// ```
/// use pavior_mesh::{Asked, BoxSearch, Cuboid, Grid, Occupancy};
/// let grid = Grid::mesh(&[5, 3])?;
/// let (mut free, mut search) = (Occupancy::all_free(grid), BoxSearch::new(grid));
/// let busy = Cuboid::new([1, 0, 0], [1, 1, 1]);
/// free.take(&busy);
/// search.take(&busy);
/// let found = search.first(&free, Asked::Once, &[[3, 2, 1]]);
/// assert_eq!(found, Some(Cuboid::new([2, 0, 0], [3, 2, 1])));
/// # Ok::<(), pavior_mesh::GridError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BoxSearch {
    grid: Grid,
    busy: Busy,
    bits: Bits,
    /// Boxes that the bits do not show yet, or still show: while the list is short nobody looks at
    /// the bits, and flipping the rows of a large box costs more than a search.
    unflipped: Vec<Cuboid>,
    refusals: Refusals,
    ways: Ways,
    rings: bool,
    /// Lists longer than this are not leapt over.
    longest_list: usize,
    /// Up to so many boxes a search near one of them costs no less than one anywhere.
    few: usize,
    /// By groups of boxes: after how many leaps shifting over the rows would have been cheaper.
    budgets: [u32; Busy::GROUPS],
    vectors: Vectors,
    work: SearchWork,
}

/// The ways that a search may take. All are on unless a test or a measurement turns some off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Each way is on or off, in any combination.
pub struct Ways {
    /// Words in registers, on machines of at most 8x8x8.
    pub cube: bool,
    /// Leaps over the list of busy boxes.
    pub leaps: bool,
    /// Shifts over the rows. With neither, and on grids wider than 64, shifts over the whole
    /// machine ([`BaseSet`]).
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
        Ways { cube: true, leaps: true, rows: true, memory: true, vectors: true, wide: false }
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

/// The free nodes in the form that is searched.
#[derive(Clone, Debug)]
enum Bits {
    Cube(Box<Cube>),
    Narrow(Rows<u16, 16>),
    Middle(Rows<u32, 8>),
    Wide(Rows<u64, 4>),
    Whole(BaseSet),
}

impl Bits {
    fn new(grid: Grid, ways: Ways) -> Bits {
        if ways.cube
            && let Some(cube) = Cube::new(grid)
        {
            return Bits::Cube(Box::new(cube));
        }
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
            Bits::Cube(cube) => cube.flip(cuboid),
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
            Bits::Cube(_) => return 0,
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

impl BoxSearch {
    /// A search of a grid with all nodes free.
    pub fn new(grid: Grid) -> BoxSearch {
        BoxSearch::with(grid, Ways::default())
    }

    /// A search that takes some ways only.
    pub fn with(grid: Grid, ways: Ways) -> BoxSearch {
        let bits = Bits::new(grid, ways);
        let alone = ways.leaps && !ways.rows;
        let cost = if alone { u32::MAX } else { bits.cost(&grid) };
        let small = matches!(bits, Bits::Cube(_));
        let leap = |groups: u32| 60 + 20 * groups;
        // A search takes about as many leaps as there are boxes.
        let pays = |&count: &u32| count * leap(count.div_ceil(Busy::LANES as u32)) <= cost;
        let longest_list = (1..=MOST as u32).take_while(pays).last().unwrap_or(0);
        let leaps = ways.leaps && grid.sides().iter().all(|&side| side <= leaps::LONGEST);
        BoxSearch {
            grid,
            busy: Busy::default(),
            rings: grid.has_wrap(),
            longest_list: if leaps && !small { longest_list as usize } else { 0 },
            few: match (small, leaps) {
                (true, _) => usize::MAX,
                (false, true) => (longest_list as usize).min(2 * Busy::LANES),
                (false, false) => 0,
            },
            budgets: std::array::from_fn(|index| cost / leap(index as u32 + 1)),
            bits,
            unflipped: Vec::new(),
            refusals: Refusals::default(),
            ways,
            vectors: if ways.vectors { Vectors::widest() } else { Vectors::Baseline },
            work: SearchWork::default(),
        }
    }

    /// A box is busy now.
    pub fn take(&mut self, cuboid: &Cuboid) {
        self.busy.add(cuboid);
        self.flip(cuboid);
    }

    /// A box that was taken is free again.
    pub fn give(&mut self, cuboid: &Cuboid) {
        self.busy.remove(cuboid);
        self.flip(cuboid);
        if self.busy.count() <= self.few {
            self.refusals.forget();
        } else {
            self.refusals.released(&self.grid, cuboid);
        }
    }

    /// Undoes a take since which nothing but [`Asked::Once`] was asked: what was refused before it is
    /// refused still, since nothing is free that was not free then.
    pub fn untake(&mut self, cuboid: &Cuboid) {
        self.busy.remove(cuboid);
        self.flip(cuboid);
    }

    /// Notes that a box's nodes change sides. Two flips of one box are none.
    fn flip(&mut self, cuboid: &Cuboid) {
        match &mut self.bits {
            Bits::Whole(_) => return,
            Bits::Cube(cube) => return cube.flip(cuboid),
            _ => {}
        }
        match self.unflipped.iter().position(|other| other == cuboid) {
            Some(index) => drop(self.unflipped.swap_remove(index)),
            None if self.busy.count() <= self.longest_list => self.unflipped.push(*cuboid),
            None => self.bits.flip(cuboid),
        }
    }

    /// Holds the list and the rows against the truth; panics where they disagree. For tests.
    pub fn validate(&self, free: &Occupancy) {
        let mut truth = Occupancy::all_free(self.grid);
        self.busy.iter().for_each(|cuboid| truth.take(&cuboid));
        assert_eq!(truth, *free, "the list of busy boxes disagrees with the occupancy");
        for node in (0..self.grid.nodes()).map(NodeId) {
            let point = self.grid.point(node);
            let unflipped = |cuboid: &&Cuboid| cuboid.contains(&self.grid, point);
            let flipped = self.unflipped.iter().filter(unflipped).count() % 2 == 1;
            let is_free = flipped
                ^ match &self.bits {
                    Bits::Cube(cube) => cube.is_free(point),
                    Bits::Narrow(rows) => rows.is_free(point),
                    Bits::Middle(rows) => rows.is_free(point),
                    Bits::Wide(rows) => rows.is_free(point),
                    Bits::Whole(_) => continue,
                };
            assert_eq!(is_free, free.is_node_free(node), "the rows disagree at {point:?}");
        }
    }

    /// How much it has looked at so far.
    pub fn work(&self) -> SearchWork {
        self.work
    }

    /// The first free box, in row-major order of the bases, of the first of these shapes that has
    /// one. `asked` names the question for the memory of refusals.
    ///
    /// `free` is what taking and giving has left free.
    pub fn first(&mut self, free: &Occupancy, asked: Asked, shapes: &[Sides]) -> Option<Cuboid> {
        let asked = if self.ways.memory { asked } else { Asked::Once };
        let known = self.refusals.of(asked);
        if known == Known::Refused {
            return None;
        }
        if let Bits::Cube(cube) = &self.bits {
            let (found, tried) = self.vectors.run(InCube { cube, shapes });
            self.work.words += tried * cube::SIDE as u64;
            if found.is_none() {
                self.refusals.note(asked);
            }
            return found;
        }
        let found = match (self.busy.count(), self.rings) {
            (0, _) => {
                self.work.boxes += 1;
                let fits = |&&shape: &&Sides| self.grid.fits(shape);
                shapes.iter().find(fits).map(|&shape| Cuboid::new([0; 3], shape))
            }
            (count, _) if count > self.longest_list => self.shifting(free, known, shapes),
            (..=8, false) => self.leaping::<1, false>(free, known, shapes),
            (..=8, true) => self.leaping::<1, true>(free, known, shapes),
            (..=16, false) => self.leaping::<2, false>(free, known, shapes),
            (..=16, true) => self.leaping::<2, true>(free, known, shapes),
            (..=32, false) => self.leaping::<4, false>(free, known, shapes),
            (..=32, true) => self.leaping::<4, true>(free, known, shapes),
            (_, false) => self.leaping::<8, false>(free, known, shapes),
            (_, true) => self.leaping::<8, true>(free, known, shapes),
        };
        if found.is_none() {
            self.refusals.note(asked);
        }
        found
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
    fn shift(&mut self, free: &Occupancy, shape: Sides, region: Region) -> Option<Point> {
        for cuboid in self.unflipped.drain(..) {
            self.bits.flip(&cuboid);
        }
        let vectors = self.vectors;
        let (found, words) = match &mut self.bits {
            Bits::Narrow(rows) => vectors.run(InRows { rows, shape, region }),
            Bits::Middle(rows) => vectors.run(InRows { rows, shape, region }),
            Bits::Wide(rows) => vectors.run(InRows { rows, shape, region }),
            Bits::Cube(_) => unreachable!("it is asked before all else"),
            Bits::Whole(bases) => {
                let before = bases.words_touched();
                let found = vectors.run(Whole { bases, free, shape });
                (found, bases.words_touched() - before)
            }
        };
        self.work.words += words;
        found
    }
}

/// A search over the whole machine.
struct Whole<'s> {
    bases: &'s mut BaseSet,
    free: &'s Occupancy,
    shape: Sides,
}

impl Kernel for Whole<'_> {
    type Output = Option<Point>;

    #[inline(always)]
    fn run(self) -> Option<Point> {
        self.bases.find(self.free, self.shape, Scan::default())
    }
}
