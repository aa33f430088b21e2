//! The busy list: the allocated boxes, in the order in which they were granted.

use pavior_mesh::{Cuboid, Occupancy};

use crate::{Placement, Work};

/// Allocated boxes in order of grant. Adding is O(1), removing O(m) for m boxes.
#[derive(Clone, Debug, Default)]
pub(crate) struct BusyList {
    boxes: Vec<Cuboid>,
    upkeep: u64,
}

impl BusyList {
    pub(crate) fn boxes(&self) -> &[Cuboid] {
        &self.boxes
    }

    pub(crate) fn add(&mut self, placement: &Placement) {
        self.boxes.extend_from_slice(placement.parts());
        self.upkeep += placement.parts().len() as u64;
    }

    pub(crate) fn remove(&mut self, placement: &Placement) {
        for part in placement.parts() {
            let index = self.boxes.iter().position(|held| held == part);
            self.upkeep += self.boxes.len() as u64;
            self.boxes.remove(index.expect("what is released was granted"));
        }
    }

    /// The boxes entered, and passed or moved to take one out.
    pub(crate) fn work(&self) -> Work {
        Work::of_upkeep(self.upkeep)
    }

    /// Panics unless the boxes are exactly the busy nodes.
    pub(crate) fn validate(&self, free: &Occupancy) {
        let mut busy = Occupancy::all_free(*free.grid());
        for held in &self.boxes {
            busy.take(held).expect("busy boxes are disjoint");
        }
        assert_eq!(&busy, free, "the busy list is not the busy nodes");
    }
}
