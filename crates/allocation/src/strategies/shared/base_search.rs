//! First Fit's searches, for all strategies that take the first free base of some shapes.
//!
//! The option `search` chooses among them; all give the same answer. [`BaseSearch::granted`] and
//! [`BaseSearch::released`] tell the engine of every change; the other searches read the state when
//! it is loaded.
//!
//! Invariant: the first base in scan order of the first shape that has one.
//!
//! Cost: that of the search: [`BoxSearch`], a table of prefix sums, or [`BaseSet`].

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{
    BaseSet, BoxSearch, Coordinates, Cuboid, Grid, Occupancy, RefusalKey, Scan, SearchMethods,
    Sides,
};

use crate::strategies::shared::prefix_sums::PrefixSums;
use crate::{Placement, Work};

/// The option `search`.
pub(crate) const SEARCH: OptionSpec = OptionSpec {
    key: "search",
    values: Values::OneOf(&["engine", "plain", "corners", "leaps", "rows"]),
    default: "engine",
    meaning: "the exact engine, the literature's search, or one of the engine's searches \
              alone; the answers are the same",
    bare: true,
};

/// The option `search` of strategies whose engine has no searches to choose from.
pub(crate) const ENGINE: OptionSpec = OptionSpec {
    values: Values::OneOf(&["engine", "plain"]),
    meaning: "the engine over whole words of nodes, or the literature's search; the answers are \
              the same",
    ..SEARCH
};

/// The same where another option's values are written bare.
pub(crate) const ENGINE_BY_KEY: OptionSpec = OptionSpec { bare: false, ..ENGINE };

/// Whether the literature's own search is asked for.
pub(crate) fn is_plain(options: &Options) -> bool {
    options.get("search") == "plain"
}

/// A search for the first free base of a shape.
#[derive(Clone)]
pub(crate) enum BaseSearch {
    /// The literature's, over a table of prefix sums: O(N) to fill it once for all shapes, then
    /// O(1) a base.
    Plain(PrefixSums),
    /// [`BoxSearch`] with all its searches, or with one of them alone and without memory.
    Engine(Box<BoxSearch>),
    /// The whole set of bases, for scan orders that are not row-major: O(N/64 log(side)) a shape.
    Set(BaseSet),
}

/// The key under which a refusal is remembered that depends on a count of nodes alone.
pub(crate) fn asked_by_count(nodes: u32) -> RefusalKey {
    // No box has a side of 0, so that no shape has this name.
    RefusalKey::Alone([nodes as u16, (nodes >> 16) as u16, 0])
}

impl BaseSearch {
    /// The engine with all its searches.
    pub(crate) fn engine(grid: Grid) -> BaseSearch {
        BaseSearch::Engine(Box::new(BoxSearch::new(grid)))
    }

    /// The search that the options name, for strategies that keep to a scan order.
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

    /// The search that the options name, for questions about single bases.
    pub(crate) fn of_bases(grid: Grid, options: &Options) -> BaseSearch {
        match options.get("search") {
            "plain" => BaseSearch::Plain(PrefixSums::new(grid)),
            _ => BaseSearch::Set(BaseSet::new(grid)),
        }
    }

    /// Takes note of a state, before the searches in that state.
    pub(crate) fn load(&mut self, free: &Occupancy) {
        if let BaseSearch::Plain(sums) = self {
            sums.load(free);
        }
    }

    /// These nodes are now taken.
    pub(crate) fn granted(&mut self, placement: &Placement) {
        if let BaseSearch::Engine(search) = self {
            placement.parts().iter().for_each(|part| search.take(part));
        }
    }

    /// All of a box is now taken and stays so: of it, these nodes were free.
    pub(crate) fn covered(&mut self, whole: &Cuboid, free: &Placement) {
        if let BaseSearch::Engine(search) = self {
            search.cover(whole, free.parts());
        }
    }

    /// A box is now taken that overlaps the covered one: of it, these nodes were free.
    pub(crate) fn granted_over(&mut self, whole: &Cuboid, free: &Placement) {
        if let BaseSearch::Engine(search) = self {
            search.take_over(whole, free.parts());
        }
    }

    /// These nodes, granted together before, are free again.
    pub(crate) fn released(&mut self, placement: &Placement) {
        if let BaseSearch::Engine(search) = self {
            placement.parts().iter().for_each(|part| search.give(part));
        }
    }

    /// From now on searches whatever nodes are free, without an index that follows grants and
    /// releases.
    pub(crate) fn reset(&mut self) {
        if let BaseSearch::Engine(search) = self {
            *self = BaseSearch::Set(BaseSet::new(*search.grid()));
        }
    }

    /// A box that was granted only to see what would be left is free again.
    pub(crate) fn given_up(&mut self, cuboid: Cuboid) {
        if let BaseSearch::Engine(search) = self {
            search.untake(&cuboid);
        }
    }

    /// The first base, in scan order, of the first of these shapes that has one.
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

    /// What searches have looked at. Callers of [`BaseSearch::is_base`] count their own questions.
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

    /// Prepares [`BaseSearch::is_base`] for a shape that fits the grid.
    pub(crate) fn compute(&mut self, free: &Occupancy, shape: Sides) {
        if let BaseSearch::Set(set) = self {
            set.compute(free, shape);
        }
    }

    /// Whether the shape last computed is free at a canonical base; for searches that
    /// [`BaseSearch::of_bases`] made.
    pub(crate) fn is_base(&self, base: Coordinates, shape: Sides) -> bool {
        match self {
            BaseSearch::Plain(sums) => sums.busy_in(&Cuboid::new(base, shape)) == 0,
            BaseSearch::Set(set) => set.contains(base),
            BaseSearch::Engine(_) => unreachable!("it finds first bases only"),
        }
    }

    /// Holds the engine's own list against the truth; panics where they disagree.
    pub(crate) fn validate(&self, free: &Occupancy) {
        if let BaseSearch::Engine(search) = self {
            search.validate(free);
        }
    }
}
