//! MFA as printed in the paper, including the threshold of p + q and the loop that forgets the best
//! base in the first orientation. Only two-dimensional meshes are supported.
//!
//! This variant misses some placements that fit, but its grants never overlap. Cost: the same as
//! the walk in [`plain`](super::plain).

use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Occupancy, Request, orientations};

use crate::contiguous::BoxRule;
use crate::strategies::contiguous::mfa::plain::Walk;
use crate::strategies::shared::busy_list::BusyList;
use crate::strategies::shared::contact::most_contact;
use crate::strategies::shared::turning::Turn;
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};

/// The algorithm as printed in the paper, on two-dimensional meshes.
#[derive(Clone)]
pub(super) struct Printed {
    turn: Turn,
    walk: Walk,
    busy: BusyList,
    /// The number of times that <0,0> was tested because no index exceeded the threshold.
    tested: u64,
}

impl Printed {
    pub(super) fn new(turn: Turn) -> Printed {
        Printed { turn, walk: Walk::new(false), busy: BusyList::default(), tested: 0 }
    }

    /// Runs the search as printed: each orientation starts over, and the best base of the last one
    /// is returned unless an earlier base is perfect. If no index exceeds p + q, the answer is
    /// <0,0>.
    fn printed(&mut self, free: &Occupancy, request: &Request) -> Option<Cuboid> {
        let turns = if self.turn == Turn::All { 6 } else { 1 };
        let flat = orientations(request.shape?).take(turns).filter(|shape| shape[2] == 1);
        let mut last = None;
        for shape in flat {
            last = None;
            if !free.grid().fits(shape) {
                continue;
            }
            // A perfect index is 2 (p + q), twice the printed threshold.
            let perfect = most_contact(free.grid(), shape);
            let busy = self.busy.boxes();
            let best = self.walk.best_above(free, busy, shape, perfect / 2, false);
            let cuboid = Cuboid::new(best.base.unwrap_or_default(), shape);
            if best.base.is_some() && best.index == perfect {
                return Some(cuboid);
            }
            self.tested += u64::from(best.base.is_none());
            if best.base.is_some() || free.is_free(&cuboid) {
                last = Some(cuboid);
            }
        }
        last
    }
}

impl Strategy for Printed {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        self.printed(free, request).map(Placement::Whole)
    }

    fn granted(&mut self, placement: &Placement) {
        self.busy.add(placement);
    }

    fn released(&mut self, placement: &Placement) {
        self.busy.remove(placement);
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested) + BoxRule::work(&self.walk) + self.busy.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        self.busy.validate(free);
    }
}

impl MachineStrategy for Printed {}
