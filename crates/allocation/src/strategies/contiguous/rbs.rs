//! Right of Busy Submeshes: on the left border and on the line just right of each busy submesh,
//! look for a base that no submesh covers. On the first line with such a base, pick the lowest base
//! in the highest clear segment.
//!
//! The strategy finds a free base for the requested orientation whenever one exists. Move any free
//! placement left until it hits the left border or a busy submesh: it is then on the left border or
//! on that submesh's right border line. If the x axis wraps, it may move forever, but then it is
//! also free at x = 0, which is always tested.
//!
//! ```text
//!   . . . . . .     line of S for a 2x2 request: x = x2 + 1, from one row
//!   . S S b . .     below S (a base there still touches its right side)
//!   . S S | T T     to its top row. T covers the two lower bases, so
//!   . . . | . .     b remains
//!   +---------> x
//! ```
//!
//! The busy list is sorted by top row y2, highest first. A box's coverage ends at its y2, so a
//! segment above one coverage is above all later ones. A line therefore never has more than one
//! live segment, and subtracting all B coverages from it takes O(B). The order is not just an
//! optimization: in any other order, the same loop picks busy nodes, as a test shows.
//!
//! The engine computes the set of all bases, with one bit per base, and searches this set along the
//! lines. This takes O(N/64 log(side)) for the set and O(1) per line.
//!
//! Cost of `plain`: O(B^2) for B busy submeshes. Adding or removing a submesh takes O(B). Only in
//! 2D does a line never have more than one live segment, so 3D is not supported (BL and TBL
//! generalize the method). A y axis that wraps is not supported either, because its end could cut a
//! line in two.
//!
//! Source: Chiu & Chen, "An efficient submesh allocation scheme for two-dimensional meshes with
//! little overhead", IEEE TPDS 10(5), 1999. The loop is reconstructed from published summaries.
//! They do not say which base in a clear segment is chosen; here, it is the lowest. Support for an
//! x axis that wraps is our addition.

use pavior_kernel::Options;
use pavior_mesh::{BaseSet, Grid, Occupancy, Sides};

use crate::contiguous::{BoxRule, Contiguous, Scored, View};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{ENGINE, is_plain};
use crate::strategies::shared::busy_list::is_short;
use crate::strategies::shared::right_borders::lines::RightBorders;
use crate::strategies::shared::turning::TURN_OFF;
use crate::{Placement, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "rbs",
    title: "Right of Busy Submeshes",
    source: "Chiu & Chen 1999",
    options: &[TURN_OFF, ENGINE],
    variants: &["", "plain", "turn=all", "plain:turn=all"],
    does: StrategyKind::contiguous(build)
        .with_turns(false)
        .with_supports(|grid, _| RightBorders::supports(grid)),
};

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let borders = RightBorders::new(*grid);
    if is_plain(options) {
        return Contiguous::new(grid, options, RightOfBusy { borders, bases: None }).boxed();
    }
    let rule = RightOfBusy { borders, bases: Some(BaseSet::new(*grid)) };
    Contiguous::new(grid, options, rule).exact().boxed()
}

#[derive(Clone)]
struct RightOfBusy {
    borders: RightBorders,
    /// The set of all bases, used by the engine.
    bases: Option<BaseSet>,
}

impl BoxRule for RightOfBusy {
    const READS_BUSY_LIST: bool = false;

    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        let found = match &mut self.bases {
            Some(bases) if !is_short(view.grid(), self.borders.list().boxes().len()) => {
                bases.compute(view.occupancy(), shape);
                self.borders.begin(bases);
                self.borders.next(bases)
            }
            _ => self.borders.first(shape),
        };
        found.map(Scored::from)
    }

    fn granted(&mut self, placement: &Placement) {
        self.borders.add(placement);
    }

    fn released(&mut self, placement: &Placement) {
        self.borders.remove(placement);
    }

    fn work(&self) -> Work {
        let words = self.bases.as_ref().map_or(0, BaseSet::words_touched);
        self.borders.work() + Work::of_words(words)
    }

    fn validate(&self, free: &Occupancy) {
        self.borders.list().validate(free);
    }
}
