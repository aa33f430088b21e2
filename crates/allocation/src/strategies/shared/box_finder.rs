//! A search for the first free bases of different boxes in the same state.
//!
//! Boxes that fit nowhere are cached. A box that contains a cached box does not fit, either. The
//! cached entries stay valid as long as no nodes are released.
//!
//! Invariant: no box in `refused` fits anywhere in `state` or contains another box in `refused`.
//!
//! Cost: O(N/64 log(side)) per box, or O(refused boxes) if the box contains a refused one.

use pavior_mesh::{BaseSet, Coordinates, Grid, Occupancy, Sides};

/// The search and its cached refusals.
#[derive(Clone)]
pub(crate) struct BoxFinder {
    bases: BaseSet,
    /// The state that was last loaded.
    state: Option<Occupancy>,
    /// The boxes known to fit nowhere.
    refused: Vec<Sides>,
}

impl BoxFinder {
    pub(crate) fn new(grid: Grid) -> BoxFinder {
        BoxFinder { bases: BaseSet::new(grid), state: None, refused: Vec::new() }
    }

    /// Loads a state. Takes O(N/64) time.
    pub(crate) fn load(&mut self, free: &Occupancy) {
        match &mut self.state {
            Some(state) if state == free => return,
            Some(state) => {
                if !state.includes(free) {
                    self.refused.clear();
                }
                state.copy_from(free);
            }
            state => *state = Some(free.clone()),
        }
        self.bases.load(free);
    }

    /// Returns the first `most` bases, in row-major order, at which a box is free.
    pub(crate) fn first(&mut self, sides: Sides, most: usize) -> Vec<Coordinates> {
        let holds = |outer: Sides, inner: Sides| (0..3).all(|axis| inner[axis] <= outer[axis]);
        if self.refused.iter().any(|&refused| holds(sides, refused)) {
            return Vec::new();
        }
        self.bases.compute_loaded(sides);
        let found: Vec<Coordinates> = self.bases.row_major().take(most).collect();
        if found.is_empty() {
            self.refused.retain(|&refused| !holds(refused, sides));
            self.refused.push(sides);
        }
        found
    }

    /// Returns the number of words that searches have read.
    pub(crate) fn words_touched(&self) -> u64 {
        self.bases.words_touched()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pavior_kernel::Stream;
    use pavior_mesh::{Cuboid, NodeId};

    /// Nodes are taken and released at random. Cached refusals must not change any result.
    #[test]
    fn what_is_remembered_changes_no_answer() {
        let mut dice = Stream::new(7, 0, "boxes");
        for name in ["mesh:9x7", "torus:4x5x3"] {
            let grid: Grid = name.parse().unwrap();
            let (mut boxes, mut free) = (BoxFinder::new(grid), Occupancy::all_free(grid));
            let mut spared = 0;
            for _ in 0..400 {
                let at = Cuboid::node(grid.point(NodeId(dice.below(grid.nodes().into()) as u32)));
                let taken = dice.below(3) > 0 && free.take(&at).is_ok();
                if !taken && dice.below(4) == 0 {
                    free = Occupancy::all_free(grid);
                }
                boxes.load(&free);
                for _ in 0..6 {
                    let sides: Sides = std::array::from_fn(|axis| {
                        1 + dice.below(u64::from(grid.side(axis).min(4))) as u16
                    });
                    let before = boxes.words_touched();
                    let found = boxes.first(sides, 2);
                    spared += u32::from(boxes.words_touched() == before);
                    let mut plain = BaseSet::new(grid);
                    plain.compute(&free, sides);
                    assert_eq!(found, plain.row_major().take(2).collect::<Vec<_>>(), "{name}");
                }
            }
            assert!(spared > 100, "{name}: {spared}");
        }
    }
}
