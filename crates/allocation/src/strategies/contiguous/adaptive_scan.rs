//! Adaptive Scan (`as`): scan each line of bases and jump over the *coverage* of each busy box,
//! which is the set of bases at which the request would overlap that box.
//!
//! The strategy finds a free placement whenever one exists. From a covered base, the scan jumps to
//! the first column past every coverage that contains the base. All columns in between are covered,
//! too, so the result is the base that row-major First Fit finds for the same orientation.
//!
//! ```text
//!   a line of bases, request 2x1, S busy:    . . S . . S .
//!   coverages in columns 1..2 and 4..5:        c c   c c
//!   base 0 is free, so the scan stops there; otherwise, it would jump from 1 to 3
//! ```
//!
//! The `search` option never changes the answer. The engine is the same as First Fit's; `plain` is
//! the search described in the literature.
//!
//! Cost of `plain`: O(L J B) for L lines of bases, B busy boxes, and J jumps per line (at most B +
//! 1). The source states O(N B). A release takes O(B) to search the list; in the literature, it
//! takes O(1) because a pointer to the entry is stored.
//!
//! Source: Ding & Bhuyan, "An adaptive submesh allocation strategy for two-dimensional mesh
//! connected systems", ICPP 1993. Only the abstract and later summaries were available. The
//! abstract's "adaptive" and the MFA paper's "stride 1" are consistent only if the step size adapts
//! to the obstacle, as it does here.
//!
//! Departures: the vertical jump (`rows=jump`) is our own. After a row without a base, the scan
//! resumes just above the lowest top edge among the row's coverages, because each of these
//! coverages also covers the rows below that edge. Support for 3D meshes and tori is also our
//! addition. On tori, coverages are split at the wrap, and lines are scanned as usual.

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
    meaning: "the row to try after a row that has no base: the next row, or the next row with \
              different coverage",
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
    /// The number of bases visited, plus the number of coverages compared with bases.
    tested: u64,
}

/// The result of scanning a line.
enum Line {
    /// The first column that is not covered.
    Base(u16),
    /// The line has no base. `next` is the row above the coverage whose top edge is lowest.
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
