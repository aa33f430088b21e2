//! The strategies that keep the list of all maximal free boxes: KYMFL and PMFL. They differ in how
//! a release updates the list.

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Cuboid, Grid, Occupancy, Request};

use super::FreeBoxes;
use super::placing::Placing;
use crate::strategies::shared::turning::Turn;
use crate::{Placement, Strategy, Work};

/// How a release updates the list.
pub(crate) trait ReleaseRule: Clone + Send + Sync + 'static {
    /// These nodes are free again.
    fn give(&mut self, list: &mut FreeBoxes, given: &Cuboid);

    /// The entries that it has held against each other, beside what the list counts.
    fn upkeep(&self) -> u64 {
        0
    }
}

/// A strategy made of its release and the placement policy that the options name.
#[derive(Clone)]
pub(crate) struct MaximalFreeList<R> {
    turn: Turn,
    placing: Placing,
    free: FreeBoxes,
    release: R,
    /// What placing has looked at.
    work: Work,
}

impl<R: ReleaseRule> MaximalFreeList<R> {
    /// The strategy for an empty machine, as the registry wants it.
    pub(crate) fn boxed(grid: &Grid, options: &Options, release: R) -> Box<dyn Strategy> {
        Box::new(MaximalFreeList {
            turn: Turn::of(options),
            placing: Placing::of(options),
            free: FreeBoxes::new(*grid),
            release,
            work: Work::default(),
        })
    }
}

impl<R: ReleaseRule> Strategy for MaximalFreeList<R> {
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
            self.release.give(&mut self.free, part);
        }
    }

    fn work(&self) -> Work {
        self.work + self.free.work() + Work::of_upkeep(self.release.upkeep())
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        self.free.validate(free);
    }
}
