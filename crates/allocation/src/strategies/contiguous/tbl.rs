//! Turning Busy List: search each busy box's right border plane in turn, and pick the first base
//! that no busy box covers.
//!
//! The strategy finds a free placement whenever one exists. Move any free placement left until it
//! hits the machine's left face or a busy box. It is then on the left face (the plane of a
//! hypothetical box b0) or just right of that busy box, so one plane per box is enough:
//!
//! ```text
//!   y          plane of S for a 2x2 request: x = x2 + 1,
//!   ^ . . |. . from one row below S (a base there still
//!   | . S S|. .  touches S's right side) to its top row;
//!   | . S S|. .  coverages of other boxes are subtracted,
//!   | . . |. .  the bases remain.
//!   +----------> x
//! ```
//!
//! On a ring, a placement may keep moving forever. In that case, the base at x = 0 is also free,
//! and the plane x = 0 is always searched. Intervals on a plane are taken modulo the axis length
//! and split at 0.
//!
//! The engine first uses the exact search to determine whether a base exists. If so, it uses the
//! set of all bases, one bit each, to find the first plane with a base and the piece that contains
//! it. This takes O(1) per row on O(m) planes, and O(m) subtractions from one piece.
//!
//! Cost of `plain`: O(m^2) pieces in total for m busy boxes if each plane is divided into only a
//! few pieces. The paper's "at most four" does not hold: an adversarial arrangement divides a plane
//! into O(m^2) pieces. A release takes O(m).
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, "A fast and efficient strategy for
//! sub-mesh allocation with minimal allocation overhead in 3D mesh connected multicomputers", 2007.
//!
//! Departures: a prohibited region is subtracted as four slabs. Among the 29 cases printed in the
//! paper, case 27 loses nodes; two further cases are missing. The automatic prohibited regions are
//! clipped in advance. A plane is accepted only after *every* box has been subtracted; accepting it
//! earlier, as printed, grants overlapping nodes unless the list is sorted. Any pieces left at the
//! end count as success. Support for tori is our addition. The busy list is in grant order, as in
//! the paper's example.

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

/// Returns the largest number of pieces into which any right border plane is divided while TBL
/// searches for a shape. The busy boxes must be in grant order. Returns 0 if the shape does not fit
/// the empty machine without rotation.
///
/// The TBL paper states that this number is "at most four" and derives the strategy's cost from
/// that bound.
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
