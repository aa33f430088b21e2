//! Stack-Based Allocation: subtract each busy box's coverage from the area of all bases, keeping
//! the pieces on a stack. Any piece that remains after all boxes have been subtracted consists of
//! free bases.
//!
//! The strategy finds a free placement whenever one exists, because subtraction loses no free base,
//! and every piece is either processed completely or not needed. Both orientations are tried.
//!
//! ```text
//!   1 3 3 4      subtracting a coverage C from the area of all bases leaves four pieces,
//!   1 C C 4      taken in this order: left of C (full height), below, above, and right of
//!   1 2 2 4      it, so that bases at the lower left come first
//! ```
//!
//! The engine first uses the exact search to determine whether a base exists. It then consults the
//! set of all bases and divides only pieces that contain a base.
//!
//! Cost of `plain`: with B busy boxes, O(B) for each piece popped from the stack. The source states
//! O(B^2). The number of pieces is small in practice, but an adversarial arrangement creates O(B^2)
//! pieces in 2D, so the worst case is higher. A grant takes O(1) and a release O(B).
//!
//! Source: Yoo & Das, "A fast and efficient processor allocation scheme for mesh-connected
//! multicomputers", IEEE Transactions on Computers 51(1), 2002 (other papers wrongly cite TPDS).
//! The loop, the piece order, and the disjointness of the pieces are reconstructed from published
//! summaries. Support for 3D and tori is our addition. On tori, a coverage consists of up to eight
//! boxes, because it is cut at coordinate 0 of each ring.

mod plain;

use pavior_kernel::Options;
use pavior_mesh::{BaseSet, Cuboid, Grid, Sides};

use crate::Work;
use crate::contiguous::{BoxRule, Contiguous, Scored, View};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::contiguous::sba::plain::{Area, StackBased};
use crate::strategies::shared::base_search::{ENGINE, is_plain};
use crate::strategies::shared::busy_list::is_short;
use crate::strategies::shared::turning::TURN_ON;

pub(crate) static ENTRY: Entry = Entry {
    name: "sba",
    title: "Stack-Based Allocation",
    source: "Yoo & Das 2002",
    options: &[TURN_ON, ENGINE],
    variants: &["", "plain"],
    does: StrategyKind::contiguous(build),
};

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let stack = StackBased::default();
    if is_plain(options) {
        return Contiguous::new(grid, options, stack).boxed();
    }
    let rule = Engine { stack, bases: BaseSet::new(*grid) };
    Contiguous::new(grid, options, rule).exact().boxed()
}

/// The engine, which performs the same search but does not divide pieces that contain no base.
#[derive(Clone)]
struct Engine {
    stack: StackBased,
    bases: BaseSet,
}

impl BoxRule for Engine {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        if is_short(view.grid(), view.busy().len()) {
            return self.stack.best(view, shape);
        }
        self.bases.compute(view.occupancy(), shape);
        let bases = &self.bases;
        let sides = |area: &Area| area.map(|span| span.high - span.low + 1);
        let has_base =
            |area: &Area| bases.any_in(&Cuboid::new(area.map(|span| span.low), sides(area)));
        self.stack.first(view, shape, has_base).map(Scored::from)
    }

    fn work(&self) -> Work {
        self.stack.work() + Work::of_words(self.bases.words_touched())
    }
}
