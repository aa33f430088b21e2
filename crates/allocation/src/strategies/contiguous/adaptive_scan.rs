//! Adaptive Scan (`as`): follow each line of bases, and jump over the coverages of busy boxes, that
//! is, the bases at which the request would overlap them.
//!
//! The strategy misses no free placement. From a covered base, the scan jumps to the first column
//! after all coverages that contain the base. All columns in between are covered as well.
//! Therefore, the result is the base that First Fit finds for the same orientation in row-major
//! order.
//!
//! ```text
//!   a line of bases, request 2x1, S busy:    . . S . . S .
//!   its coverages are columns 1..2 and 4..5:   c c   c c
//!   base 0 is free; if it were covered, the scan would jump from 1 to 3
//! ```
//!
//! Several searches give the same answers. The engine is that of First Fit; `plain` is the search
//! from the literature.
//!
//! Cost of `plain`: O(L J B) for L lines of bases, J jumps on a line (at most B + 1) and B busy
//! boxes. The source quotes O(N B). A release takes O(B) to search the list (O(1) in the
//! literature, with a pointer to the entry).
//!
//! Source: Ding & Bhuyan, "An adaptive submesh allocation strategy for two-dimensional mesh
//! connected systems", ICPP 1993. Only the abstract and later summaries were available. "Adaptive"
//! (the abstract) and "stride 1" (the MFA paper) agree only if the step adapts to the obstacle, as
//! it does here.
//!
//! Departures: the vertical jump (`rows=jump`) is our own. After a row without a base, the scan
//! continues above the lowest top of the coverages in that row, because all of them also cover the
//! rows below that top. Support for 3D meshes and tori is also our addition. On tori, coverages are
//! cut at the wrap, and lines are followed as usual.

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Cuboid, Grid, Scan, Sides};

use super::ff;
use crate::Work;
use crate::contiguous::{BoxRule, Contiguous, Scored, View, first_base};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{ENGINE, is_plain};
use crate::strategies::shared::coverage::CoverageList;
use crate::strategies::shared::turning::TURN_ON;

pub(crate) static ENTRY: Entry = Entry {
    name: "as",
    title: "Adaptive Scan",
    source: "Ding & Bhuyan 1993",
    options: &[TURN_ON, ROWS, ENGINE],
    variants: &["", "plain", "turn=none", "plain:rows=jump"],
    does: StrategyKind::contiguous(build).with_claim(first_base),
};

const ROWS: OptionSpec = OptionSpec {
    key: "rows",
    values: Values::OneOf(&["step", "jump"]),
    default: "step",
    meaning: "the row to try after one without a base: the next row, or the next one that is \
              covered differently",
    bare: false,
};

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    if !is_plain(options) {
        return ff::first_fit(grid, options, Scan::default());
    }
    let rule = AdaptiveScan {
        grid: *grid,
        jump_rows: options.get("rows") == "jump",
        coverages: CoverageList::default(),
        tested: 0,
    };
    Contiguous::new(grid, options, rule).boxed()
}

#[derive(Clone)]
struct AdaptiveScan {
    grid: Grid,
    jump_rows: bool,
    coverages: CoverageList,
    /// The number of bases visited, plus the number of coverages compared with them.
    tested: u64,
}

/// The result of following a line.
enum Line {
    /// The first column that is not covered.
    Base(u16),
    /// There is no base. `next` is the row above the lowest top of the coverages on the line.
    Covered { next: u16 },
}

impl AdaptiveScan {
    fn first(&mut self, shape: Sides) -> Option<Cuboid> {
        let [columns, rows, planes] =
            std::array::from_fn(|axis| self.grid.starts(axis, shape[axis]));
        for z in 0..planes {
            let mut y = 0;
            while y < rows {
                match self.walk(y, z, columns) {
                    Line::Base(x) => return Some(Cuboid::new([x, y, z], shape)),
                    Line::Covered { next } if self.jump_rows => y = next,
                    Line::Covered { .. } => y += 1,
                }
            }
        }
        None
    }

    fn walk(&mut self, y: u16, z: u16, columns: u16) -> Line {
        let (mut x, mut lowest_top) = (0, u16::MAX - 1);
        while x < columns {
            let mut behind = x;
            self.tested += 1 + self.coverages.pieces().len() as u64;
            for [xs, ys, zs] in self.coverages.pieces() {
                if xs.contains(x) && ys.contains(y) && zs.contains(z) {
                    behind = behind.max(xs.high + 1);
                    lowest_top = lowest_top.min(ys.high);
                }
            }
            if behind == x {
                return Line::Base(x);
            }
            x = behind;
        }
        Line::Covered { next: lowest_top + 1 }
    }
}

impl BoxRule for AdaptiveScan {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        self.coverages.load(view.grid(), view.busy(), shape);
        self.first(shape).map(Scored::from)
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested) + self.coverages.work()
    }
}
