//! Which orientations of a request a strategy tries.

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Grid, Request, Sides, orientations};

use crate::claim::{Over, Shape};

/// Whether a strategy tries the other orientations of a request when the given one has no base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strategies) enum Turn {
    /// Only the orientation asked for.
    None,
    /// Every distinct permutation, in the order of the TBL paper.
    All,
}

/// The option `turn`, off unless asked for.
pub(in crate::strategies) const TURN_OFF: OptionSpec = OptionSpec { default: "none", ..TURN_ON };

/// The option `turn`, on unless asked otherwise.
pub(in crate::strategies) const TURN_ON: OptionSpec = OptionSpec {
    key: "turn",
    values: Values::OneOf(&["none", "all"]),
    default: "all",
    meaning: "which orientations of a request are tried",
    bare: false,
};

/// The option `turn` of strategies that score bases, off unless asked for.
pub(in crate::strategies) const TURN_BEST_OFF: OptionSpec =
    OptionSpec { default: "none", ..TURN_BEST_ON };

/// The option `turn` of strategies that score bases, on unless asked otherwise.
pub(in crate::strategies) const TURN_BEST_ON: OptionSpec = OptionSpec {
    values: Values::OneOf(&["none", "all", "best"]),
    meaning: "which orientations are tried: the first that fits is taken (all), or the best base \
              of any (best)",
    ..TURN_ON
};

/// Which orientations a best score is the best of.
pub(in crate::strategies) fn over(options: &Options) -> Over {
    match options.get("turn") {
        "best" => Over::AllShapes,
        _ => Over::FirstShape,
    }
}

impl Turn {
    pub(in crate::strategies) fn of(options: &Options) -> Turn {
        match options.get("turn") {
            "none" => Turn::None,
            _ => Turn::All,
        }
    }

    /// The orientations of a request to try, in order, those that can fit the grid only.
    pub(in crate::strategies) fn shapes(
        self,
        grid: Grid,
        request: &Request,
    ) -> impl Iterator<Item = Sides> + use<> {
        let most = match self {
            Turn::None => 1,
            Turn::All => 6,
        };
        let shape = request.shape;
        shape
            .into_iter()
            .flat_map(move |shape| orientations(shape).take(most))
            .filter(move |&sides| grid.fits(sides))
    }
}

/// The family of a strategy that grants the request's box, turned or not as its options say.
pub(in crate::strategies) fn box_family(
    request: &Request,
    grid: &Grid,
    options: &Options,
) -> Vec<Shape> {
    Turn::of(options).shapes(*grid, request).map(Shape::cuboid).collect()
}
