//! The busy list: the allocated boxes, in grant order or in another order.
//!
//! A box is found by its base: a hash table maps the base to the box's key, and a binary search
//! finds the key's position. With `owners`, the list also stores which box contains each node.
//!
//! Invariant: `boxes` and `keys` are parallel lists, and `keys` is in ascending order. A key
//! consists of the box's rank and the sequence number of its grant.
//!
//! Cost: O(log m) to find one of m boxes. Boxes released together are removed in a single pass over
//! the list, starting at the first of them.

mod owners;

use pavior_mesh::{BaseSet, Coordinates, Cuboid, Grid, Occupancy};
use rustc_hash::FxHashMap;

use crate::strategies::shared::busy_list::owners::{Owners, note};
use crate::{Placement, Work};

/// The maximum length of a short list. In a short list, iterating over all boxes is faster than
/// using nodes to find the boxes around a piece. Repeatedly looking up the first box adjacent to a
/// base is then also faster than finding all such boxes at once.
const SHORT: usize = 256;

/// Allocated boxes, ordered by rank and, within a rank, by grant.
#[derive(Clone, Debug)]
pub(crate) struct BusyList {
    rank: fn(&Cuboid) -> u16,
    boxes: Vec<Cuboid>,
    /// For each box, its rank and the sequence number of its grant, in ascending order.
    keys: Vec<u64>,
    /// For each base, the key of the box that has that base.
    by_base: FxHashMap<Coordinates, u64>,
    grants: u64,
    /// For each node, the key of the box that contains it; present only if the list was created
    /// with owners. In a long list, proposed boxes have the keys they would get if granted.
    owners: Option<Owners>,
    proposed: Vec<Cuboid>,
    /// Scratch space for the positions of the boxes being removed.
    leaving: Vec<usize>,
    upkeep: u64,
}

impl Default for BusyList {
    /// Creates a list ordered by grant.
    fn default() -> BusyList {
        BusyList::by(|_| 0)
    }
}

impl BusyList {
    /// Creates a list ordered by rank.
    pub(crate) fn by(rank: fn(&Cuboid) -> u16) -> BusyList {
        let (boxes, keys, by_base) = (Vec::new(), Vec::new(), FxHashMap::default());
        let (owners, proposed, leaving) = (None, Vec::new(), Vec::new());
        BusyList { rank, boxes, keys, by_base, grants: 0, owners, proposed, leaving, upkeep: 0 }
    }

    /// Makes an empty list also record which box contains each node. This costs O(nodes in the box)
    /// each time a box is added or removed, and O(N) per copy.
    pub(crate) fn with_owners(mut self, grid: Grid) -> BusyList {
        self.owners = Some(Owners::new(grid));
        self
    }

    pub(crate) fn boxes(&self) -> &[Cuboid] {
        &self.boxes
    }

    pub(crate) fn add(&mut self, placement: &Placement) {
        for part in placement.parts() {
            self.insert(*part);
        }
    }

    /// Adds a box and returns its position in the list.
    pub(crate) fn insert(&mut self, part: Cuboid) -> usize {
        // A grant's sequence number has 48 bits.
        let key = u64::from((self.rank)(&part)) << 48 | self.grants;
        self.grants += 1;
        self.upkeep += 1;
        self.by_base.insert(part.base, key);
        if let Some(owners) = &mut self.owners {
            owners.take(&part, key);
        }
        if self.keys.last().is_none_or(|&last| last < key) {
            self.boxes.push(part);
            self.keys.push(key);
            return self.boxes.len() - 1;
        }
        let index = self.keys.partition_point(|&other| other < key);
        self.boxes.insert(index, part);
        self.keys.insert(index, key);
        index
    }

    /// Removes boxes that are in the list.
    pub(crate) fn remove(&mut self, placement: &Placement) {
        let parts = placement.parts();
        self.upkeep += parts.len() as u64;
        if let [part] = parts {
            let index = self.unlist(part);
            self.boxes.remove(index);
            self.keys.remove(index);
            return;
        }
        let mut leaving = std::mem::take(&mut self.leaving);
        leaving.clear();
        leaving.extend(parts.iter().map(|part| self.unlist(part)));
        leaving.sort_unstable();
        // Shift the boxes between one removed box and the next.
        for (gone, &index) in leaving.iter().enumerate() {
            let end = leaving.get(gone + 1).copied().unwrap_or(self.boxes.len());
            self.boxes.copy_within(index + 1..end, index - gone);
            self.keys.copy_within(index + 1..end, index - gone);
        }
        let left = self.boxes.len() - leaving.len();
        self.boxes.truncate(left);
        self.keys.truncate(left);
        self.leaving = leaving;
    }

    /// Removes a box's key, and returns the box's position in the list.
    fn unlist(&mut self, part: &Cuboid) -> usize {
        let key = self.by_base.remove(&part.base).expect("released boxes were granted before");
        if let Some(owners) = &mut self.owners {
            owners.give(part);
        }
        let index = self.keys.binary_search(&key).expect("every box has its key");
        debug_assert_eq!(self.boxes[index], *part, "a box must be released whole");
        index
    }

    /// Returns true if using nodes to find the boxes left of these bases is less work than
    /// iterating over the list. The list must have been created with owners.
    pub(crate) fn is_sparse(&self, bases: &BaseSet) -> bool {
        self.owners.is_some() && 2 * Owners::looks(bases) < self.boxes.len()
    }

    /// Returns the position of the first box with a base directly to its right, or the list's
    /// length if there is none. The list must have been created with owners. Takes O(nodes left of
    /// the bases) time.
    pub(crate) fn first_beside(&self, bases: &BaseSet) -> usize {
        let mut first = u64::MAX;
        if let Some(owners) = &self.owners {
            owners.left_of(bases, |key| first = first.min(key));
        }
        self.keys.binary_search(&first).unwrap_or(self.boxes.len())
    }

    /// Collects, in ascending order, the keys of all boxes with a base directly to their right. The
    /// list must have been created with owners. Takes O(nodes left of the bases) time, plus O(k log
    /// k) for k keys.
    pub(crate) fn beside(&self, bases: &BaseSet, keys: &mut Vec<u64>) {
        keys.clear();
        if let Some(owners) = &self.owners {
            owners.left_of(bases, |key| note(key, keys));
        }
        // Proposed boxes are not in the list.
        keys.retain(|key| Some(key) <= self.keys.last());
        keys.sort_unstable();
        keys.dedup();
    }

    /// Returns true if looking up boxes by node is faster than iterating over the list.
    pub(crate) fn is_long(&self) -> bool {
        self.owners.is_some() && self.boxes.len() > SHORT
    }

    /// Collects, in ascending order, the keys of all boxes (including proposed ones) that overlap
    /// `part`, and returns true. If `part` has at least `limit` nodes, does nothing and returns
    /// false. The list must be long and must have been created with owners.
    pub(crate) fn within(&self, part: &Cuboid, limit: usize, keys: &mut Vec<u64>) -> bool {
        let small = self.owners.as_ref().filter(|_| (part.volume() as usize) < limit);
        if let Some(owners) = small {
            owners.within(part, keys);
        }
        small.is_some()
    }

    /// Returns the position of the box with a given key. Proposed boxes come after all others.
    pub(crate) fn place_of(&self, key: u64) -> usize {
        let listed = self.keys.binary_search(&key).ok();
        listed.unwrap_or_else(|| self.boxes.len() + (key - self.grants) as usize)
    }

    /// Returns the proposed boxes in the order in which they were proposed. These boxes temporarily
    /// count as busy.
    pub(crate) fn proposed(&self) -> &[Cuboid] {
        &self.proposed
    }

    /// Treats a box as busy until [`BusyList::withdraw`] is called. The list must be ordered by
    /// grant.
    pub(crate) fn propose(&mut self, part: Cuboid) {
        if self.is_long()
            && let Some(owners) = &mut self.owners
        {
            owners.take(&part, self.grants + self.proposed.len() as u64);
        }
        self.proposed.push(part);
    }

    pub(crate) fn withdraw(&mut self) {
        if self.is_long()
            && let Some(owners) = &mut self.owners
        {
            self.proposed.iter().for_each(|part| owners.give(part));
        }
        self.proposed.clear();
    }

    /// Returns the number of boxes added and removed, not counting shifts of other boxes.
    pub(crate) fn work(&self) -> Work {
        Work::of_upkeep(self.upkeep)
    }

    /// Panics unless the boxes are in order and contain exactly the busy nodes.
    pub(crate) fn validate(&self, free: &Occupancy) {
        let mut busy = Occupancy::all_free(*free.grid());
        for held in &self.boxes {
            busy.take(held).expect("busy boxes are disjoint");
        }
        assert_eq!(&busy, free, "the busy list differs from the busy nodes");
        let known = |(held, key): (&Cuboid, &u64)| self.by_base.get(&held.base) == Some(key);
        assert!(self.keys.is_sorted(), "the busy list is not sorted");
        assert!(self.boxes.iter().zip(&self.keys).all(known), "a listed box was not found");
    }
}

/// Returns true if a plain search, which takes O(m^2) time for m = `boxes` busy boxes, is less work
/// than a search over all nodes.
pub(crate) fn is_short(grid: &Grid, boxes: usize) -> bool {
    boxes * boxes <= words(grid)
}

/// Returns the approximate number of words in a set of all nodes.
pub(crate) fn words(grid: &Grid) -> usize {
    let rows = usize::from(grid.side(1)) * usize::from(grid.side(2));
    rows * usize::from(grid.side(0)).div_ceil(64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pavior_kernel::Stream;
    use pavior_mesh::Grid;

    #[test]
    fn boxes_that_leave_together_leave_the_others_in_order() {
        let grid = Grid::mesh(&[30, 30]).unwrap();
        let mut dice = Stream::new(3, 0, "busy list");
        for rank in [|_: &Cuboid| 0, |held: &Cuboid| u16::MAX - held.base[1]] {
            let (mut list, mut truth) = (BusyList::by(rank), Vec::new());
            let mut nodes: Vec<Coordinates> =
                (0..900).map(|id| grid.point(pavior_mesh::NodeId(id))).collect();
            for _ in 0..300 {
                for _ in 0..dice.below(8).min(nodes.len() as u64) {
                    let node = nodes.swap_remove(dice.below(nodes.len() as u64) as usize);
                    let part = Cuboid::node(node);
                    truth.push(part);
                    truth.sort_by_key(rank);
                    assert_eq!(truth[list.insert(part)], part);
                }
                let many = dice.below(8).min(truth.len() as u64);
                let parts: Vec<Cuboid> = (0..many)
                    .map(|_| truth.remove(dice.below(truth.len() as u64) as usize))
                    .collect();
                nodes.extend(parts.iter().map(|part| part.base));
                list.remove(&Placement::Parts(parts));
                assert_eq!(list.boxes(), truth);
            }
        }
    }

    /// Removes and re-adds jobs with one thousand of the list's ten thousand parts. Each removal
    /// must take one pass; searching from the start for each part would test billions of boxes.
    #[test]
    fn upkeep_is_not_quadratic() {
        let part = |index: u32| Cuboid::node([(index % 128) as u16, (index / 128) as u16, 0]);
        let job = |job: u32| Placement::Parts((0..1000).map(|k| part(10 * k + job)).collect());
        let mut list = BusyList::default();
        (0..10).for_each(|number| list.add(&job(number)));
        let before = list.work().upkeep;
        for turn in 0..1000 {
            list.remove(&job(turn % 10));
            list.add(&job(turn % 10));
        }
        assert_eq!(
            list.work().upkeep - before,
            2_000_000,
            "one for each part that is added or removed"
        );
    }
}
