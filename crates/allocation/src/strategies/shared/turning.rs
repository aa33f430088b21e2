//! Which orientations of a request a strategy tries.
//!
//! ```text
//!   turn=none:   3x2          turn=all:   3x2, 2x3          in space up to six
//! ```

use std::ops::Deref;

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Grid, RefusalKey, Request, Sides, ascending, orientations};

use crate::claim::{BoxGroup, Over};

/// Whether a strategy tries the other orientations of a request when the given one has no base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Only the orientation asked for.
    None,
    /// Every distinct permutation, in the order of the TBL paper.
    All,
}

/// At most six shapes.
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

/// The option `turn`, off unless asked for.
pub const TURN_OFF: OptionSpec = OptionSpec { default: "none", ..TURN_ON };

/// The option `turn`, on unless asked otherwise.
pub const TURN_ON: OptionSpec = OptionSpec {
    key: "turn",
    values: Values::OneOf(&["none", "all"]),
    default: "all",
    meaning: "which orientations of a request are tried",
    bare: false,
};

/// The option `turn` of strategies that score bases, off unless asked for.
pub const TURN_BEST_OFF: OptionSpec = OptionSpec { default: "none", ..TURN_BEST_ON };

/// The option `turn` of strategies that score bases, on unless asked otherwise.
pub const TURN_BEST_ON: OptionSpec = OptionSpec {
    values: Values::OneOf(&["none", "all", "best"]),
    meaning: "which orientations are tried: the first that fits is taken (all), or the best base \
              of any (best)",
    ..TURN_ON
};

/// Which orientations a best score is the best of.
pub fn turn_over(options: &Options) -> Over {
    match options.get("turn") {
        "best" => Over::AllShapes,
        _ => Over::FirstShape,
    }
}

impl Turn {
    /// The turning that the option `turn` names.
    pub fn of(options: &Options) -> Turn {
        match options.get("turn") {
            "none" => Turn::None,
            _ => Turn::All,
        }
    }

    /// The name under which a shape's refusal is remembered: one for all orientations.
    #[inline]
    pub fn name(self, shape: Sides) -> RefusalKey {
        RefusalKey::Ordered(if self == Turn::All { ascending(shape) } else { shape })
    }

    /// The orientations of a request to try, in order, those that can fit the grid only.
    pub fn shapes(self, grid: Grid, request: &Request) -> impl Iterator<Item = Sides> + use<> {
        let shapes = request.shape.map(|shape| self.of_shape(shape)).unwrap_or_default();
        let FewShapes { list, count } = shapes;
        list.into_iter().take(count).filter(move |&sides| grid.fits(sides))
    }

    /// The orientations of a shape to try, in order, whether they fit or not.
    #[inline]
    pub fn of_shape(self, shape: Sides) -> FewShapes {
        match self {
            Turn::None => std::iter::once(shape).collect(),
            Turn::All => orientations(shape).collect(),
        }
    }
}

/// The family of a strategy that grants the request's box, turned or not as its options say.
pub fn box_family(request: &Request, grid: &Grid, options: &Options) -> Vec<BoxGroup> {
    Turn::of(options).shapes(*grid, request).map(BoxGroup::cuboid).collect()
}
