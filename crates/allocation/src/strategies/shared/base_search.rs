//! First Fit's two searches: the strategies that find the bases of a shape in a bitmap.

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{BaseSet, Cuboid, Grid, Occupancy, Point, Scan, Sides};

use super::prefix_sums::PrefixSums;
use crate::Work;

/// The option `search`.
pub(in crate::strategies) const SEARCH: OptionSpec = OptionSpec {
    key: "search",
    values: Values::OneOf(&["engine", "plain"]),
    default: "engine",
    meaning: "the word-parallel search, or the literature's; the answers are the same",
    bare: true,
};

/// A search for the free bases of a shape. `plain` is the literature's, as a table of prefix sums:
/// O(N) to fill it once for all shapes, then O(1) a base. `engine` is the word-parallel base set of
/// `pavior_mesh`: O(N/64 log(side)) a shape.
#[derive(Clone)]
pub(in crate::strategies) enum BaseSearch {
    Plain(PrefixSums),
    Engine(BaseSet),
}

impl BaseSearch {
    pub(in crate::strategies) fn of(grid: Grid, options: &Options) -> BaseSearch {
        match options.get("search") {
            "plain" => BaseSearch::Plain(PrefixSums::new(grid)),
            _ => BaseSearch::Engine(BaseSet::new(grid)),
        }
    }

    /// Takes note of a state; call it before the searches in that state.
    pub(in crate::strategies) fn load(&mut self, free: &Occupancy) {
        if let BaseSearch::Plain(sums) = self {
            sums.load(free);
        }
    }

    /// The first base, in scan order, of a shape that fits the grid.
    pub(in crate::strategies) fn first(
        &mut self,
        free: &Occupancy,
        shape: Sides,
        scan: Scan,
    ) -> Option<Point> {
        match self {
            BaseSearch::Plain(sums) => sums.first(shape, scan),
            BaseSearch::Engine(bases) => bases.find(free, shape, scan),
        }
    }

    /// What its searches have looked at; who asks [`BaseSearch::is_base`] counts that itself.
    pub(in crate::strategies) fn work(&self) -> Work {
        match self {
            BaseSearch::Plain(sums) => sums.work(),
            BaseSearch::Engine(bases) => Work::of_words(bases.words_touched()),
        }
    }

    /// Prepares [`BaseSearch::is_base`] for a shape that fits the grid.
    pub(in crate::strategies) fn compute(&mut self, free: &Occupancy, shape: Sides) {
        if let BaseSearch::Engine(bases) = self {
            bases.compute(free, shape);
        }
    }

    /// Whether the shape last computed is free at a canonical base.
    pub(in crate::strategies) fn is_base(&self, base: Point, shape: Sides) -> bool {
        match self {
            BaseSearch::Plain(sums) => sums.busy_in(&Cuboid::new(base, shape)) == 0,
            BaseSearch::Engine(bases) => bases.contains(base),
        }
    }
}
