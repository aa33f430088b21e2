//! Turning Busy List: the first base on the right border plane of a busy box that no busy box
//! covers.
//!
//! Misses nothing. Take any free placement and slide it to the left until it meets the left face of
//! the machine or a busy box: it then stands on the plane just right of that box (or on the face,
//! which is the plane of a hypothetical box b0). So it is enough to look at one plane per busy box:
//!
//! ```text
//!   y          plane of S for a request 2x2: x = x2 + 1,
//!   ^ . . |. . from one row below S (a base there still
//!   | . S S|. .  touches S's right side) to its top row;
//!   | . S S|. .  what other boxes cover is subtracted,
//!   | . . |. .  what is left are bases.
//!   +----------> x
//! ```
//!
//! On a ring a placement may slide for ever without meeting anything; but then the base at x = 0
//! is free too, so the plane x = 0 is always looked at, and the planes' own intervals are taken
//! modulo the axis and split at 0.
//!
//! Cost: O(m^2) pieces of planes for m busy boxes as long as planes split into few pieces; the
//! paper's "at most four" does not hold, and a hostile arrangement makes O(m^2) pieces of one plane.
//! Release is O(m).
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, "A fast and efficient strategy for
//! sub-mesh allocation with minimal allocation overhead in 3D mesh connected multicomputers", 2007.
//! Departures: a prohibited region is subtracted as four slabs, not by the 29 printed cases, of
//! which case 27 loses nodes and two are missing; the automatic prohibited regions are clipped away
//! beforehand; a plane is accepted only after *every* box has been subtracted (the printed early
//! acceptance overlaps unless the list is sorted); pieces left at the end count as success. Tori are
//! ours. The busy list is in order of grant, as in the paper's example.

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Grid, Occupancy, Request, Scan};

use super::super::shared::border_planes::BorderPlanes;
use super::super::shared::turning::{TURN_ON, Turn, box_family};
use crate::claim::{Claim, Grants, Recognition};
use crate::kind::{ANY_GRID, BuildStrategy, Entry, StrategyKind};
use crate::{Placement, Strategy, Work};

pub(in crate::strategies) static ENTRY: Entry = Entry {
    name: "tbl",
    title: "Turning Busy List",
    source: "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2007",
    options: &[TURN_ON],
    variants: &[""],
    does: StrategyKind {
        contiguous: true,
        turns: true,
        supports: ANY_GRID,
        claim,
        build: BuildStrategy::Function(build),
    },
};

pub(in crate::strategies) fn claim(_: &Options) -> Claim {
    Claim {
        family: box_family,
        scan: Scan::default(),
        grants: Grants::Exact,
        recognition: Recognition::Complete,
    }
}

pub(in crate::strategies) fn build(grid: &Grid, options: &Options) -> Box<dyn Strategy> {
    Box::new(TurningBusyList {
        grid: *grid,
        turn: Turn::of(options),
        planes: BorderPlanes::new(*grid),
    })
}

#[derive(Clone)]
struct TurningBusyList {
    grid: Grid,
    turn: Turn,
    planes: BorderPlanes,
}

impl Strategy for TurningBusyList {
    fn find(&mut self, _: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let shapes = self.turn.shapes(self.grid, request);
        shapes.into_iter().find_map(|shape| self.planes.first(shape)).map(Placement::Whole)
    }

    fn granted(&mut self, placement: &Placement) {
        self.planes.add(placement);
    }

    fn released(&mut self, placement: &Placement) {
        self.planes.remove(placement);
    }

    fn work(&self) -> Work {
        self.planes.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        self.planes.validate(free);
    }
}
