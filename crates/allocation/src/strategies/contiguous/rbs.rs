//! Right of Busy Submeshes: a base on the left border, or just right of a busy submesh, that no busy
//! submesh covers; of such a line the lowest base of the highest clear segment.
//!
//! Misses nothing of the orientation asked for: slide any free placement to the left until it meets
//! the left border or a busy submesh, and it stands on the right border line of that submesh. On an
//! x axis that wraps it may slide for ever, but then it is free at x = 0 too, which is always looked
//! at.
//!
//! ```text
//!   . . . . . .     line of S for a request 2x2: x = x2 + 1, from one row
//!   . S S b . .     below S (a base there still touches its right side)
//!   . S S | T T     to its top row. T covers its two lower bases:
//!   . . . | . .     b is left
//!   +---------> x
//! ```
//!
//! The busy list is in non-increasing order of the top row y2. Coverage of a box ends at its y2, so
//! what lies above one region lies above all later ones: a line never has more than one live
//! segment, and subtracting all B regions from it is O(B). Unsorted, the same loop offers busy
//! nodes (a test shows it): the order is a condition, not an optimisation.
//!
//! Cost: O(B^2) for B busy submeshes; adding and removing O(B). One live segment is special to the
//! plane, so spaces are refused (BL and TBL are the generalisation), and so is a y axis that wraps,
//! on which a line can fall in two.
//!
//! Source: Chiu & Chen, "An efficient submesh allocation scheme for two-dimensional meshes with
//! little overhead", IEEE TPDS 10(5), 1999. The loop is a reconstruction from the published
//! summaries; which base of a clear segment is taken is not known, and the lowest is taken here. An
//! x axis that wraps is ours.

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Grid, Occupancy, Request, Scan};

use super::super::shared::right_borders::RightBorders;
use super::super::shared::turning::{TURN_OFF, Turn, box_family};
use crate::claim::{Claim, Grants, Recognition};
use crate::kind::{BuildStrategy, Entry, StrategyKind};
use crate::{Placement, Strategy, Work};

pub(in crate::strategies) static ENTRY: Entry = Entry {
    name: "rbs",
    title: "Right of Busy Submeshes",
    source: "Chiu & Chen 1999",
    options: &[TURN_OFF],
    variants: &["", "turn=all"],
    does: StrategyKind {
        contiguous: true,
        turns: false,
        supports: |grid, _| RightBorders::supports(grid),
        claim,
        build: BuildStrategy::Function(build),
    },
};

fn claim(_: &Options) -> Claim {
    Claim {
        family: box_family,
        scan: Scan::default(),
        grants: Grants::Exact,
        recognition: Recognition::Complete,
    }
}

fn build(grid: &Grid, options: &Options) -> Box<dyn Strategy> {
    Box::new(RightOfBusy {
        grid: *grid,
        turn: Turn::of(options),
        borders: RightBorders::new(*grid),
    })
}

#[derive(Clone)]
struct RightOfBusy {
    grid: Grid,
    turn: Turn,
    borders: RightBorders,
}

impl Strategy for RightOfBusy {
    fn find(&mut self, _: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let mut shapes = self.turn.shapes(self.grid, request);
        shapes.find_map(|shape| self.borders.first(shape)).map(Placement::Whole)
    }

    fn granted(&mut self, placement: &Placement) {
        self.borders.add(placement);
    }

    fn released(&mut self, placement: &Placement) {
        self.borders.remove(placement);
    }

    fn work(&self) -> Work {
        self.borders.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        self.borders.validate(free);
    }
}
