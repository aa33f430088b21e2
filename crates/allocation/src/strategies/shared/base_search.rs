//! First Fit's searches, for all strategies that take the first free base of one of their shapes.
//!
//! The `search` option selects a search; all searches return the same result. The engine tracks
//! every change through [`BaseSearch::granted`] and [`BaseSearch::released`], whereas the other
//! searches read the state when it is loaded.
//!
//! Invariant: the result is the first base, in scan order, of the first shape that has one.
//!
//! Cost: depends on the selected search ([`BoxSearch`], a table of prefix sums, or [`BaseSet`]).

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{
    BaseSet, BoxSearch, Coordinates, Cuboid, Grid, Occupancy, RefusalKey, Scan, SearchMethods,
    Sides,
};

use crate::strategies::shared::prefix_sums::PrefixSums;
use crate::{Placement, Work};

pub(crate) const SEARCH: OptionSpec = OptionSpec {
    key: "search",
    values: Values::OneOf(&["engine", "plain", "corners", "leaps", "rows"]),
    default: "engine",
    meaning: "the search to use: the engine, the search from the literature, or just one of the \
              engine's searches; all give the same answers",
    bare: true,
};

/// The `search` option for strategies with only one engine.
pub(crate) const ENGINE: OptionSpec = OptionSpec {
    values: Values::OneOf(&["engine", "plain"]),
    meaning: "the search to use: the engine, which processes whole words of nodes, or the search \
              from the literature; both give the same answers",
    ..SEARCH
};

/// The same option as [`ENGINE`], but its key is required, because the values of another option are
/// given without a key.
pub(crate) const ENGINE_BY_KEY: OptionSpec = OptionSpec { bare: false, ..ENGINE };

/// Returns true if the options select the search from the literature.
pub(crate) fn is_plain(options: &Options) -> bool {
    options.get("search") == "plain"
}

/// A search for the first free base of a shape.
#[derive(Clone)]
pub(crate) enum BaseSearch {
    /// The search described in the literature, which uses a table of prefix sums. Filling the table
    /// takes O(N) time once for all shapes; testing a base then takes O(1) time.
    Plain(PrefixSums),
    /// [`BoxSearch`], either with all of its methods or with just one of them and no cache.
    Engine(Box<BoxSearch>),
    /// A set of all bases, for scan orders other than row-major. Takes O(N/64 log(side)) time per
    /// shape.
    Set(BaseSet),
}

/// Returns the key for caching a refusal that depends only on the number of nodes.
pub(crate) fn asked_by_count(nodes: u32) -> RefusalKey {
    // No box has a side of 0, so this key differs from every shape's key.
    RefusalKey::Alone([nodes as u16, (nodes >> 16) as u16, 0])
}

impl BaseSearch {
    /// Creates the engine with all of its search methods enabled.
    pub(crate) fn engine(grid: Grid) -> BaseSearch {
        BaseSearch::Engine(Box::new(BoxSearch::new(grid)))
    }

    /// Creates the search selected by the options, for strategies with a fixed scan order.
    pub(crate) fn of(grid: Grid, options: &Options, scan: Scan) -> BaseSearch {
        let alone = SearchMethods {
            cube: false,
            corners: false,
            leaps: false,
            rows: false,
            memory: false,
            ..SearchMethods::default()
        };
        let methods = match options.get("search") {
            "plain" => return BaseSearch::Plain(PrefixSums::new(grid)),
            _ if !scan.is_row_major() => return BaseSearch::Set(BaseSet::new(grid)),
            "corners" => SearchMethods { corners: true, ..alone },
            "leaps" => SearchMethods { leaps: true, ..alone },
            "rows" => SearchMethods { rows: true, ..alone },
            _ => SearchMethods::default(),
        };
        BaseSearch::Engine(Box::new(BoxSearch::with(grid, methods)))
    }

    /// Creates the search selected by the options, for queries about single bases.
    pub(crate) fn of_bases(grid: Grid, options: &Options) -> BaseSearch {
        match options.get("search") {
            "plain" => BaseSearch::Plain(PrefixSums::new(grid)),
            _ => BaseSearch::Set(BaseSet::new(grid)),
        }
    }

    /// Loads a state. Must be called before any search in that state.
    pub(crate) fn load(&mut self, free: &Occupancy) {
        if let BaseSearch::Plain(sums) = self {
            sums.load(free);
        }
    }

    /// Records that these nodes have been taken.
    pub(crate) fn granted(&mut self, placement: &Placement) {
        if let BaseSearch::Engine(search) = self {
            placement.parts().iter().for_each(|part| search.take(part));
        }
    }

    /// Records that a box was permanently taken. `free` contains the parts of the box that were
    /// free.
    pub(crate) fn covered(&mut self, whole: &Cuboid, free: &Placement) {
        if let BaseSearch::Engine(search) = self {
            search.cover(whole, free.parts());
        }
    }

    /// Records the grant of a box that overlaps a permanently taken box. `free` contains the parts
    /// of the new box that were free.
    pub(crate) fn granted_over(&mut self, whole: &Cuboid, free: &Placement) {
        if let BaseSearch::Engine(search) = self {
            search.take_over(whole, free.parts());
        }
    }

    /// Records the release of nodes that were granted together.
    pub(crate) fn released(&mut self, placement: &Placement) {
        if let BaseSearch::Engine(search) = self {
            placement.parts().iter().for_each(|part| search.give(part));
        }
    }

    /// Switches to a search that works on arbitrary sets of free nodes and has no index to update
    /// on grants and releases.
    pub(crate) fn reset(&mut self) {
        if let BaseSearch::Engine(search) = self {
            *self = BaseSearch::Set(BaseSet::new(*search.grid()));
        }
    }

    /// Frees a box that was granted only to examine the resulting state.
    pub(crate) fn given_up(&mut self, cuboid: Cuboid) {
        if let BaseSearch::Engine(search) = self {
            search.untake(&cuboid);
        }
    }

    /// Finds the first shape with a free base, and returns its first free base in scan order.
    #[inline]
    pub(crate) fn first(
        &mut self,
        free: &Occupancy,
        asked: RefusalKey,
        shapes: &[Sides],
        scan: Scan,
    ) -> Option<Cuboid> {
        let at = |&shape: &Sides, base: Option<Coordinates>| Some(Cuboid::new(base?, shape));
        let mut shapes_in_turn = shapes.iter();
        match self {
            BaseSearch::Engine(search) => search.first(free, asked, shapes),
            BaseSearch::Plain(sums) => {
                shapes_in_turn.find_map(|shape| at(shape, sums.first(*shape, scan)))
            }
            BaseSearch::Set(set) => {
                shapes_in_turn.find_map(|shape| at(shape, set.find(free, *shape, scan)))
            }
        }
    }

    /// Returns the work done by the searches. Callers of [`BaseSearch::is_base`] must count their
    /// own queries.
    pub(crate) fn work(&self) -> Work {
        match self {
            BaseSearch::Plain(sums) => sums.work(),
            BaseSearch::Set(set) => Work::of_words(set.words_touched()),
            BaseSearch::Engine(search) => {
                let work = search.work();
                Work::of_boxes(work.boxes) + Work::of_words(work.words)
            }
        }
    }

    /// Prepares [`BaseSearch::is_base`] queries for a shape that fits the grid.
    pub(crate) fn compute(&mut self, free: &Occupancy, shape: Sides) {
        if let BaseSearch::Set(set) = self {
            set.compute(free, shape);
        }
    }

    /// Returns true if the most recently computed shape is free at a canonical base. Use only with
    /// a search created by [`BaseSearch::of_bases`].
    pub(crate) fn is_base(&self, base: Coordinates, shape: Sides) -> bool {
        match self {
            BaseSearch::Plain(sums) => sums.busy_in(&Cuboid::new(base, shape)) == 0,
            BaseSearch::Set(set) => set.contains(base),
            BaseSearch::Engine(_) => unreachable!("the engine finds only first bases"),
        }
    }

    /// Compares the engine's own list with the actual state. Panics if they differ.
    pub(crate) fn validate(&self, free: &Occupancy) {
        if let BaseSearch::Engine(search) = self {
            search.validate(free);
        }
    }
}
