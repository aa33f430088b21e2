//! Turning Busy List: take the first base on the right border plane of a busy box that no busy box
//! covers.
//!
//! The strategy misses no free placement. Move any free placement left until it meets the machine's
//! left face or a busy box. It is then on the plane just right of that box, or on the left face,
//! which is the plane of a hypothetical box b0. Therefore, one plane per busy box is enough:
//!
//! ```text
//!   y          plane of S for a request 2x2: x = x2 + 1,
//!   ^ . . |. . from one row below S (a base there still
//!   | . S S|. .  touches S's right side) to its top row;
//!   | . S S|. .  coverages of other boxes are subtracted,
//!   | . . |. .  the bases remain.
//!   +----------> x
//! ```
//!
//! On a ring, a placement may move forever without meeting anything. In that case, the base at x =
//! 0 is also free, and the plane x = 0 is always searched. The intervals of the planes are taken
//! modulo the length of the axis, and split at 0.
//!
//! The engine first asks the exact search whether a base exists. If so, it uses the set of all
//! bases, with one bit per base, to find the first plane that has one, and the piece of that plane.
//! This takes O(m) planes, O(1) per row of each, and O(m) subtractions from one piece.
//!
//! Cost of `plain`: O(m^2) pieces of planes for m busy boxes, if planes are divided into few
//! pieces. The paper's "at most four" does not hold: an adverse arrangement divides a plane into
//! O(m^2) pieces. A release is O(m).
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, "A fast and efficient strategy for
//! sub-mesh allocation with minimal allocation overhead in 3D mesh connected multicomputers", 2007.
//!
//! Departures: a prohibited region is subtracted as four slabs. Among the 29 printed cases, case 27
//! loses nodes, and two more cases are missing. The automatic prohibited regions are clipped
//! beforehand. A plane is accepted only after *every* box has been subtracted; the printed early
//! acceptance grants overlapping nodes unless the list is sorted. Pieces that remain at the end
//! count as success. Support for tori is our addition. The busy list is in grant order, as in the
//! paper's example.

use pavior_kernel::Options;
use pavior_mesh::{BaseSet, Cuboid, Grid, Sides};

use crate::Work;
use crate::contiguous::{BoxRule, Contiguous, Scored, View};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{ENGINE, is_plain};
use crate::strategies::shared::busy_list::is_short;
use crate::strategies::shared::right_borders::planes::{BorderPlanes, BusyBoxes};
use crate::strategies::shared::right_borders::planes_plain::PlaneSubtraction;
use crate::strategies::shared::turning::TURN_ON;

pub(crate) static ENTRY: Entry = Entry {
    name: "tbl",
    title: "Turning Busy List",
    source: "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2007",
    options: &[TURN_ON, ENGINE],
    variants: &["", "plain"],
    does: StrategyKind::contiguous(build),
};

pub(crate) fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let plain = PlaneSubtraction::new(*grid);
    if is_plain(options) {
        return Contiguous::new(grid, options, TurningBusyList { plain, engine: None }).boxed();
    }
    let engine = Some(Engine { bases: BaseSet::new(*grid), planes: BorderPlanes::new(*grid) });
    Contiguous::new(grid, options, TurningBusyList { plain, engine }).exact().boxed()
}

#[derive(Clone)]
struct TurningBusyList {
    /// The plain search, which is also used when the busy list is short.
    plain: PlaneSubtraction,
    engine: Option<Engine>,
}

#[derive(Clone)]
struct Engine {
    bases: BaseSet,
    planes: BorderPlanes,
}

impl BoxRule for TurningBusyList {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        let found = match &mut self.engine {
            Some(Engine { bases, planes }) if !is_short(view.grid(), view.busy().len()) => {
                bases.compute(view.occupancy(), shape);
                let busy = BusyBoxes::listed(view.busy());
                planes.begin(bases, &busy);
                planes.next(&busy, bases)
            }
            _ => self.plain.first(view.busy(), shape),
        };
        found.map(Scored::from)
    }

    fn work(&self) -> Work {
        let engine = self
            .engine
            .as_ref()
            .map(|Engine { bases, planes }| planes.work() + Work::of_words(bases.words_touched()));
        self.plain.work() + engine.unwrap_or_default()
    }
}

/// Returns the maximum number of pieces in any right border plane while TBL searches for a shape.
/// The busy boxes must be in grant order. Returns 0 if the shape does not fit the empty machine
/// without being turned.
///
/// The TBL paper says that this number is "at most four", and derives the cost from that.
///
/// ```
/// # mod pavior { pub use pavior_allocation as strategies;
/// #     pub use {pavior_allocation::*, pavior_mesh::*}; }
/// use pavior::strategies::tbl_most_pieces;
/// use pavior::{Cuboid, Grid};
/// let grid = Grid::mesh(&[2, 5, 5])?;
/// let node = |y, z| Cuboid::node([0, y, z]);
/// // Two nodes in general position are cut from the left face.
/// assert_eq!(tbl_most_pieces(&grid, &[node(1, 1), node(3, 3)], [1, 1, 1]), 7);
/// # Ok::<(), pavior::GridError>(())
/// ```
pub fn tbl_most_pieces(grid: &Grid, busy: &[Cuboid], shape: Sides) -> usize {
    let mut planes = PlaneSubtraction::new(*grid);
    if grid.fits(shape) { planes.most_pieces(busy, shape) } else { 0 }
}
