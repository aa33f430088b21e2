//! Scan Search: scan each line of bases along one axis. From a covered base, jump to the next base
//! that is clear of every box that covers the current base.
//!
//! The strategy finds a free placement whenever one exists. Like First Fit, it grants the first
//! base in scan order, because jumps skip only covered bases. `choo` and `tff` therefore give the
//! same answer on every machine.
//!
//! ```text
//!   x           0 1 2 3 4 5 6     A covers bases 0 to 3, B 3 to 5:
//!   coverages   A A A A . . .     A covers base 0, so go to 4;
//!               . . . B B B .     B covers base 4, so go to 6, which is free
//! ```
//!
//! The search does not store an occupancy map. It stores only the next possible x on the current
//! line (y, z), whereas the paper's status table has an entry for every line.
//!
//! The `search` option never changes the answer. The engine is First Fit's; `plain` is the search
//! described in the literature.
//!
//! Cost of `plain`: there are at most D * H lines of bases. With B busy boxes, finding the boxes
//! that cover part of a line takes O(B), plus one step per jump, so the total is O(D * H * B). The
//! source states O(L W^2 H^2). A grant takes O(1) and a release O(B). After the first few searches,
//! no more memory is allocated.
//!
//! Source: Choo, Yoo & Youn, "Processor scheduling and allocation for 3D torus multicomputer
//! systems", IEEE TPDS 11(5), 2000. Only the abstract was available. The contents of its Coverage
//! Status Table are not known, so this search is a reconstruction that gives the same result.
//! Meshes and machines with fewer axes are special cases. The axis order is an option.

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Cuboid, Grid, Scan, Sides};

use super::ff;
use crate::Work;
use crate::claim::Claim;
use crate::contiguous::{BoxRule, Contiguous, Scored, View, first_base};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{ENGINE, is_plain};
use crate::strategies::shared::coverage::covered;
use crate::strategies::shared::turning::TURN_ON;

pub(crate) static ENTRY: Entry = Entry {
    name: "choo",
    title: "Scan Search",
    source: "Choo, Yoo & Youn 2000",
    options: &[TURN_ON, SCAN, ENGINE],
    variants: &["", "plain", "scan=yzx", "plain:scan=yzx"],
    does: StrategyKind::contiguous(build).with_claim(claim),
};

const SCAN: OptionSpec = OptionSpec {
    key: "scan",
    values: Values::OneOf(&["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"]),
    default: "xyz",
    meaning: "the scan order of the axes: fastest-varying first, all ascending",
    bare: false,
};

fn claim(options: &Options) -> Claim {
    Claim { scan: scan_of(options), ..first_base(options) }
}

fn scan_of(options: &Options) -> Scan {
    options.get("scan").parse().expect("the values are scan orders")
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    if !is_plain(options) {
        return ff::first_fit(grid, options, scan_of(options));
    }
    let axis = |letter: u8| usize::from(letter - b'x');
    let letters = options.get("scan").as_bytes();
    let rule = ScanSearch {
        axes: std::array::from_fn(|rank| axis(letters[rank])),
        plane: Vec::new(),
        line: Vec::new(),
        tested: 0,
    };
    Contiguous::new(grid, options, rule).boxed()
}

#[derive(Clone)]
struct ScanSearch {
    /// The axis along which lines run, followed by the other two axes, with the slowest last.
    axes: [usize; 3],
    /// Scratch space for the boxes that cover bases in the current plane and on the current line.
    plane: Vec<Cuboid>,
    line: Vec<Cuboid>,
    /// The number of bases tested, plus the number of boxes compared with planes, lines or bases.
    tested: u64,
}

impl ScanSearch {
    /// Finds a shape's first base in scan order. The shape must fit the grid.
    fn first(&mut self, grid: &Grid, busy: &[Cuboid], shape: Sides) -> Option<Cuboid> {
        let [fast, middle, slow] = self.axes;
        for c in 0..grid.starts(slow, shape[slow]) {
            let covers = |held: &&Cuboid| hits(grid, slow, held, shape[slow], c);
            self.tested += busy.len() as u64;
            self.plane.clear();
            self.plane.extend(busy.iter().filter(covers));
            for b in 0..grid.starts(middle, shape[middle]) {
                let covers = |held: &&Cuboid| hits(grid, middle, held, shape[middle], b);
                self.tested += self.plane.len() as u64;
                self.line.clear();
                self.line.extend(self.plane.iter().filter(covers));
                if let Some(a) = self.first_on_line(grid, fast, shape[fast]) {
                    let mut base = [0; 3];
                    (base[fast], base[middle], base[slow]) = (a, b, c);
                    return Some(Cuboid::new(base, shape));
                }
            }
        }
        None
    }

    /// Finds the first base on the current line that no box covers.
    fn first_on_line(&mut self, grid: &Grid, axis: usize, side: u16) -> Option<u16> {
        let limit = grid.starts(axis, side);
        let mut at = 0;
        while at < limit {
            self.tested += 1 + self.line.len() as u64;
            let spans = self.line.iter().flat_map(|held| covered(grid, axis, held, side));
            let ends = spans.flatten().filter(|span| span.contains(at)).map(|span| span.high);
            match ends.max() {
                None => return Some(at),
                Some(end) => at = end + 1,
            }
        }
        None
    }
}

/// Returns true if, on one axis, a box covers the given base of a shape with this side.
fn hits(grid: &Grid, axis: usize, held: &Cuboid, side: u16, base: u16) -> bool {
    covered(grid, axis, held, side).into_iter().flatten().any(|span| span.contains(base))
}

impl BoxRule for ScanSearch {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        self.first(view.grid(), view.busy(), shape).map(Scored::from)
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested)
    }
}
