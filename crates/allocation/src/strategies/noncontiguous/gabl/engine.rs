//! GABL's engine: it makes the sets of all bases of the shapes, and the order of the busy list
//! chooses among them.
//!
//! Invariant: the pieces are those of the plain search. While one shape is searched for, bases
//! vanish and none is added. So a busy box without a base beside it is passed once and for all.
//!
//! Cost: O(N/64) a shape for the bases. The header of [`gabl`](super) has the rest.

use pavior_mesh::{BaseSet, Cuboid, Grid, Occupancy, Scan, Sides, volume};

use super::Greedy;
use super::shrinking_bases::ShrinkingBases;
use crate::Work;
use crate::strategies::shared::base_search::BaseSearch;
use crate::strategies::shared::busy_list::{is_short, words};

/// What the engine has beside the busy list.
#[derive(Clone)]
pub(super) struct Engine {
    /// Says whether the whole shape is free, and remembers where it was refused.
    pub(super) exact: BaseSearch,
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

    pub(super) fn work(&self) -> Work {
        let words = self.bases.words_touched() + self.shrinking.words_touched();
        self.exact.work() + Work::of_words(words)
    }
}

impl Greedy {
    /// A box of the whole shape; by the plain search where the busy list is short.
    pub(super) fn whole(&mut self, free: &Occupancy, shape: Sides) -> Option<Cuboid> {
        let short = is_short(&self.grid, self.busy.list().boxes().len());
        let Some(engine) = self.engine.as_mut().filter(|_| !short) else {
            return self.search(shape, self.first);
        };
        let (asked, shapes) = (self.first.name(shape), self.first.of_shape(shape));
        let found = engine.exact.first(free, asked, &shapes, Scan::default())?;
        engine.bases.compute(free, found.sides);
        self.busy.begin(&engine.bases);
        self.busy.next(&engine.bases)
    }

    /// Takes pieces as the plain search does, over the bases of all its shapes.
    pub(super) fn take_by_engine(&mut self, free: &Occupancy, nodes: u32, mut shape: Sides) {
        let Some(mut engine) = self.engine.take() else { return };
        let mut left = u64::from(nodes);
        while volume(shape) > left {
            self.shrink(&mut shape);
        }
        let sequence = std::iter::successors(Some(shape), |&shape| {
            let mut less = shape;
            (less != [1; 3]).then(|| {
                self.shrink(&mut less);
                less
            })
        });
        engine.shrinking.load(free, sequence, self.parts);
        for bases in engine.shrinking.sets() {
            let size = volume(bases.shape());
            if size > left {
                continue;
            }
            self.pieces.iter().for_each(|piece| bases.cover(piece));
            self.busy.begin(bases);
            while size <= left {
                let Some(piece) = self.busy.next(bases) else { break };
                self.busy.propose(piece);
                bases.cover(&piece);
                self.pieces.push(piece);
                left -= size;
            }
        }
        self.busy.withdraw();
        assert_eq!(left, 0, "enough nodes are free, and the last shape is one node");
        self.engine = Some(engine);
    }

    /// Whether the plain search is less work than the engine. The search is O(m^2) a shape for m
    /// busy boxes. A set of bases was measured to take as long as 56 of its steps, and one more for
    /// each nine words.
    pub(super) fn searches_pay(&self) -> bool {
        let boxes = self.busy.list().boxes().len();
        boxes * boxes <= words(&self.grid).div_ceil(9) + 56
    }
}
