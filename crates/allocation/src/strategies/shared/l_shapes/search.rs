//! The search for an L-shape's first base. It either tests one base at a time or uses an engine
//! with sets of bases.
//!
//! Invariant: each of the engine's `sets` contains a part's bases in the current state. An L's
//! eight symmetries share the sets of four distinct parts.
//!
//! Cost: the engine takes O(N/64 log(side)) per part and O(N/64) per L; the plain search takes O(N)
//! per state and O(bases) per L.

use pavior_kernel::Options;
use pavior_mesh::{BaseSet, Coordinates, Cuboid, Grid, Occupancy, Sides};

use crate::Work;
use crate::strategies::shared::l_shapes::LShape;
use crate::strategies::shared::l_shapes::plain::PlainSearch;

/// A search for an L's bases.
#[derive(Clone)]
pub(crate) enum LShapeSearch {
    /// The search that tests each base.
    Plain(PlainSearch),
    /// The search that intersects the parts' sets of bases, 64 bases at a time.
    Sets(PartSets),
}

/// The sets of bases, in the current state, of all parts used so far.
#[derive(Clone)]
pub(crate) struct PartSets {
    grid: Grid,
    sets: Vec<BaseSet>,
    /// For each set, the sides of its part, and whether the part has any bases.
    known: Vec<([u16; 2], bool)>,
}

impl PartSets {
    fn new(grid: Grid) -> PartSets {
        PartSets { grid, sets: Vec::new(), known: Vec::new() }
    }

    /// Returns the index of a part's set, or `None` if the part has no bases.
    fn set(&mut self, free: &Occupancy, sides: Sides) -> Option<usize> {
        let part = [sides[0], sides[1]];
        let known = self.known.iter().position(|&(other, _)| other == part);
        let index = known.unwrap_or_else(|| {
            let used = self.known.len();
            if self.sets.len() == used {
                self.sets.push(BaseSet::new(self.grid));
            }
            let set = &mut self.sets[used];
            self.known.push((part, set.compute(free, sides) && set.any()));
            used
        });
        self.known[index].1.then_some(index)
    }

    fn first(&mut self, free: &Occupancy, l_shape: LShape) -> Option<[Cuboid; 2]> {
        let [tall, short] = l_shape.parts;
        let (tall, short) = (self.set(free, tall.sides)?, self.set(free, short.sides)?);
        let offsets = l_shape.parts.map(|part| part.base);
        let Ok([set, other]) = self.sets.get_disjoint_mut([tall, short]) else {
            // The two parts are equal.
            return self.first_of_equal(tall, offsets, l_shape);
        };
        set.first_with(other, offsets, l_shape.bounding()).map(|base| l_shape.at(base))
    }

    fn first_of_equal(
        &mut self,
        set: usize,
        offsets: [Coordinates; 2],
        l_shape: LShape,
    ) -> Option<[Cuboid; 2]> {
        let other = self.sets[set].clone();
        self.sets[set].first_with(&other, offsets, l_shape.bounding()).map(|base| l_shape.at(base))
    }
}

impl LShapeSearch {
    /// Creates the search selected by the `search` option.
    pub(crate) fn of(grid: Grid, options: &Options) -> LShapeSearch {
        match options.get("search") {
            "plain" => LShapeSearch::Plain(PlainSearch::new(grid)),
            _ => LShapeSearch::Sets(PartSets::new(grid)),
        }
    }

    /// Loads a state. Must be called before any search in that state.
    pub(crate) fn load(&mut self, free: &Occupancy) {
        match self {
            LShapeSearch::Plain(plain) => plain.load(free),
            LShapeSearch::Sets(sets) => sets.known.clear(),
        }
    }

    /// Returns the parts at the first base, in row-major order, at which both parts are free.
    pub(crate) fn first(&mut self, free: &Occupancy, l_shape: LShape) -> Option<[Cuboid; 2]> {
        match self {
            LShapeSearch::Plain(plain) => plain.first(free, l_shape),
            LShapeSearch::Sets(sets) => sets.first(free, l_shape),
        }
    }

    /// Returns the number of L bases tested individually, or the number of words read in sets.
    pub(crate) fn work(&self) -> Work {
        match self {
            LShapeSearch::Plain(plain) => plain.work(),
            LShapeSearch::Sets(sets) => {
                Work::of_words(sets.sets.iter().map(BaseSet::words_touched).sum())
            }
        }
    }
}
