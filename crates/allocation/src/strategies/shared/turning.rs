//! The orientations of a request that a strategy tries.
//!
//! ```text
//!   turn=none:   3x2          turn=all:   3x2, 2x3          in 3D up to six
//! ```

use std::ops::Deref;

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Grid, RefusalKey, Request, Sides, ascending, orientations};

use crate::claim::{BoxGroup, Over};

/// The orientations of a request that a strategy tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The requested orientation only.
    None,
    /// Every distinct permutation, in the TBL paper's order.
    All,
}

/// A list of at most six shapes.
#[derive(Clone, Copy, Debug, Default)]
pub struct FewShapes {
    list: [Sides; 6],
    count: usize,
}

impl FromIterator<Sides> for FewShapes {
    #[inline]
    fn from_iter<I: IntoIterator<Item = Sides>>(shapes: I) -> FewShapes {
        let mut few = FewShapes::default();
        for (place, shape) in few.list.iter_mut().zip(shapes) {
            *place = shape;
            few.count += 1;
        }
        few
    }
}

impl Deref for FewShapes {
    type Target = [Sides];

    #[inline]
    fn deref(&self) -> &[Sides] {
        &self.list[..self.count]
    }
}

/// The `turn` option, off by default.
pub const TURN_OFF: OptionSpec = OptionSpec { default: "none", ..TURN_ON };

/// The `turn` option, on by default.
pub const TURN_ON: OptionSpec = OptionSpec {
    key: "turn",
    values: Values::OneOf(&["none", "all"]),
    default: "all",
    meaning: "the orientations to try for a request",
    bare: false,
};

/// The `turn` option for strategies that score bases, off by default.
pub const TURN_BEST_OFF: OptionSpec = OptionSpec { default: "none", ..TURN_BEST_ON };

/// The `turn` option for strategies that score bases, on by default.
pub const TURN_BEST_ON: OptionSpec = OptionSpec {
    values: Values::OneOf(&["none", "all", "best"]),
    meaning: "the orientations to try: all uses the first orientation that fits; best uses the \
              best base in any orientation",
    ..TURN_ON
};

/// Returns the orientations over which the best score is chosen.
pub fn turn_over(options: &Options) -> Over {
    match options.get("turn") {
        "best" => Over::AllShapes,
        _ => Over::FirstShape,
    }
}

impl Turn {
    /// Returns the orientations selected by the `turn` option.
    pub fn of(options: &Options) -> Turn {
        match options.get("turn") {
            "none" => Turn::None,
            _ => Turn::All,
        }
    }

    /// Returns the key for caching a shape's refusal. With `Turn::All`, all orientations have the
    /// same key.
    #[inline]
    pub fn name(self, shape: Sides) -> RefusalKey {
        RefusalKey::Ordered(if self == Turn::All { ascending(shape) } else { shape })
    }

    /// Returns the orientations of a request to try, in order, skipping those that cannot fit the
    /// grid.
    pub fn shapes(self, grid: Grid, request: &Request) -> impl Iterator<Item = Sides> + use<> {
        let shapes = request.shape.map(|shape| self.of_shape(shape)).unwrap_or_default();
        let FewShapes { list, count } = shapes;
        list.into_iter().take(count).filter(move |&sides| grid.fits(sides))
    }

    /// Returns the orientations of a shape to try, in order, including those that do not fit.
    #[inline]
    pub fn of_shape(self, shape: Sides) -> FewShapes {
        match self {
            Turn::None => std::iter::once(shape).collect(),
            Turn::All => orientations(shape).collect(),
        }
    }
}

/// Returns the boxes that a strategy may grant: the requested box in each orientation that the
/// options allow.
pub fn box_family(request: &Request, grid: &Grid, options: &Options) -> Vec<BoxGroup> {
    Turn::of(options).shapes(*grid, request).map(BoxGroup::cuboid).collect()
}
