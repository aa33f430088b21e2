//! Kim & Yoon's Maximal Free List: a list of all maximal free boxes, kept up to date, and the best
//! corner of one of them.
//!
//! Misses nothing: any free box lies in a maximal one, and every maximal one is in the list.
//!
//! ```text
//!   . . . #      a 4x3 mesh with two busy nodes has four maximal free boxes:
//!   . . . .      3x2 at the upper left, 3x2 at the lower right, the middle row
//!   # . . .      4x1, and the middle columns 2x3
//! ```
//!
//! The best corner is the one that costs the free boxes least (`place=fragmentation`); other
//! placement policies are options.
//!
//! Cost: F entries; O(F) to find the entries that fit, O(F^2) to score their corners, O(F^2) for a
//! grant, and for a release an iterated consensus of the entries near it, O(F^3).
//!
//! Source: Kim & Yoon, "On submesh allocation for mesh multicomputers: a best-fit allocation and a
//! virtual submesh allocation for faulty meshes", IEEE TPDS 9(2), 1998. Only its abstract was at
//! hand: that it keeps all maximal free submeshes and takes the one of least potential
//! fragmentation is certain, the formula is not known, and the one here is the project's own. So is
//! the way the list is maintained, and spaces. Rings are refused: there two boxes can meet in two
//! pieces, and the rules do not hold. Virtual submeshes around faulty rows are left out.

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Grid, Occupancy, Request};

use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::free_list::FreeBoxes;
use crate::strategies::shared::free_list::placing::{PLACE, Placing};
use crate::strategies::shared::turning::{TURN_ON, Turn};
use crate::{Placement, Strategy, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "kymfl",
    title: "Maximal Free List of Kim & Yoon",
    source: "Kim & Yoon 1998",
    options: &[TURN_ON, PLACE],
    variants: &["", "place=contact", "place=first", "place=smallest"],
    does: StrategyKind::contiguous(build).with_supports(|grid, _| FreeBoxes::supports(grid)),
};

fn build(grid: &Grid, options: &Options) -> Box<dyn Strategy> {
    Box::new(MaximalFreeList {
        turn: Turn::of(options),
        placing: Placing::of(options),
        free: FreeBoxes::new(*grid),
        work: Work::default(),
    })
}

#[derive(Clone)]
struct MaximalFreeList {
    turn: Turn,
    placing: Placing,
    free: FreeBoxes,
    /// What placing has looked at.
    work: Work,
}

impl Strategy for MaximalFreeList {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let (list, work) = (self.free.boxes(), &mut self.work);
        let placed = self.placing.place(list, free, self.turn, request, work);
        placed.map(Placement::Whole)
    }

    fn granted(&mut self, placement: &Placement) {
        for part in placement.parts() {
            self.free.take(part);
        }
    }

    fn released(&mut self, placement: &Placement) {
        for part in placement.parts() {
            self.free.give(part);
        }
    }

    fn work(&self) -> Work {
        self.work + self.free.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        self.free.validate(free);
    }
}
