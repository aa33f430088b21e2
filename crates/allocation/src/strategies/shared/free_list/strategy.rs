//! KYMFL and PMFL, the strategies that keep a list of all maximal free boxes. They differ only in
//! how a release updates the list.

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Cuboid, Grid, Occupancy, Request};

use super::FreeBoxes;
use super::placing::Placing;
use crate::kind::BoxedStrategy;
use crate::strategies::shared::turning::Turn;
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};

/// A rule that updates the list after a release.
pub(crate) trait ReleaseRule: Clone + Send + Sync + 'static {
    /// Adds the given nodes to the free nodes.
    fn give(&mut self, list: &mut FreeBoxes, given: &Cuboid);

    /// Returns the number of entry comparisons made by the rule itself, excluding those made by the
    /// list's methods.
    fn upkeep(&self) -> u64 {
        0
    }

    /// Panics unless the list is correct. By default, it must contain exactly the maximal free
    /// boxes.
    fn validate(&self, list: &FreeBoxes, free: &Occupancy) {
        list.validate(free);
    }
}

/// A rule that joins boxes by iterated consensus, which finds every maximal free box.
#[derive(Clone)]
pub(crate) struct IteratedConsensus;

impl ReleaseRule for IteratedConsensus {
    fn give(&mut self, list: &mut FreeBoxes, given: &Cuboid) {
        list.give(given);
    }
}

/// A strategy that consists of a release rule and a placement policy.
#[derive(Clone)]
pub(crate) struct MaximalFreeList<R> {
    turn: Turn,
    placing: Placing,
    free: FreeBoxes,
    release: R,
    /// The work done to choose placements.
    work: Work,
}

impl<R: ReleaseRule> MaximalFreeList<R> {
    /// Creates the boxed strategy for an empty machine.
    pub(crate) fn boxed(
        grid: &Grid,
        options: &Options,
        placing: Placing,
        release: R,
    ) -> BoxedStrategy {
        Box::new(MaximalFreeList {
            turn: Turn::of(options),
            placing,
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
            self.free.count_given(part);
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
        self.release.validate(&self.free, free);
    }
}

impl<R: ReleaseRule> MachineStrategy for MaximalFreeList<R> {}
