//! GABL's engine, which computes the set of all bases for each shape and chooses among these bases
//! in busy-list order.
//!
//! Invariant: the pieces are the same as the plain search's. During the search for one shape, bases
//! are removed but never added, so a busy box without an adjacent base is skipped for good.
//!
//! Cost: O(N/64) per shape for the bases. The [`gabl`](super) documentation covers the rest.

use pavior_mesh::{BaseSet, Cuboid, Grid, Occupancy, Scan, Sides, volume};

use super::busy_search::BusySearch;
use super::shrinking_bases::ShrinkingBases;
use crate::strategies::shared::base_search::BaseSearch;
use crate::strategies::shared::busy_list::words;
use crate::strategies::shared::turning::Turn;
use crate::{Placement, Work};

/// The data that the engine keeps in addition to the busy list.
#[derive(Clone)]
pub(super) struct Engine {
    /// The search that tests whether the whole shape is free. It also caches refusals.
    exact: BaseSearch,
    /// The bases of the whole shape.
    bases: BaseSet,
    /// The bases of pieces.
    shrinking: ShrinkingBases,
}

impl Engine {
    pub(super) fn new(grid: Grid) -> Engine {
        let (bases, shrinking) = (BaseSet::new(grid), ShrinkingBases::default());
        Engine { exact: BaseSearch::engine(grid), bases, shrinking }
    }

    pub(super) fn granted(&mut self, placement: &Placement) {
        self.exact.granted(placement);
    }

    pub(super) fn released(&mut self, placement: &Placement) {
        self.exact.released(placement);
    }

    pub(super) fn work(&self) -> Work {
        let words = self.bases.words_touched() + self.shrinking.words_touched();
        self.exact.work() + Work::of_words(words)
    }

    /// Finds the same box as [`plain::first`](super::plain::first).
    pub(super) fn find_whole(
        &mut self,
        busy: &mut BusySearch,
        free: &Occupancy,
        shape: Sides,
        turn: Turn,
    ) -> Option<Cuboid> {
        let (asked, shapes) = (turn.name(shape), turn.of_shape(shape));
        let found = self.exact.first(free, asked, &shapes, Scan::default())?;
        self.bases.compute(free, found.sides);
        busy.begin(&self.bases);
        busy.next(&self.bases)
    }

    /// Finds the same pieces as [`plain::pieces`](super::plain::pieces), but uses the bases of all
    /// the shapes. Each shape must be one node shorter than the previous one.
    pub(super) fn pieces(
        &mut self,
        busy: &mut BusySearch,
        free: &Occupancy,
        nodes: u32,
        shapes: impl Iterator<Item = Sides>,
        turn: Turn,
    ) -> Placement {
        let (mut left, mut pieces) = (u64::from(nodes), Vec::new());
        let small_enough = shapes.skip_while(|&shape| volume(shape) > u64::from(nodes));
        self.shrinking.load(free, small_enough, turn);
        for bases in self.shrinking.sets() {
            let size = volume(bases.shape());
            if size > left {
                continue;
            }
            for piece in &pieces {
                bases.cover(piece);
            }
            busy.begin(bases);
            while size <= left {
                let Some(piece) = busy.next(bases) else { break };
                busy.propose(piece);
                bases.cover(&piece);
                pieces.push(piece);
                left -= size;
            }
        }
        busy.withdraw();
        assert_eq!(left, 0, "enough nodes are free, and the last shape is one node");
        Placement::Parts(pieces)
    }
}

/// Returns true if the plain search for pieces is faster than the engine. For m busy boxes, the
/// plain search takes O(m^2) time per shape. In benchmarks, computing a set of bases took as long
/// as 56 steps of the plain search, plus one more step per nine words.
pub(super) fn plain_pays(grid: &Grid, busy: &BusySearch) -> bool {
    let boxes = busy.list().boxes().len();
    boxes * boxes <= words(grid).div_ceil(9) + 56
}
