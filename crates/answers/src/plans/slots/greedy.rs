//! Greedy packing, one box at a time.

use pavior_mesh::{Cuboid, Occupancy, Sides};
use rustc_hash::FxHashMap;

/// Takes the placements in order and skips any that are no longer free.
pub(super) fn in_turn(free: &Occupancy, places: impl Iterator<Item = Cuboid>) -> Vec<Cuboid> {
    let mut left = free.clone();
    places.filter(|place| left.take(place).is_ok()).collect()
}

/// Returns the largest of several packings. One takes all placements in order. The others, one per
/// orientation, start with the placements in that orientation's most frequent alignment.
pub(super) fn aligned(free: &Occupancy, sides: &[Sides], places: &[Cuboid]) -> Vec<Cuboid> {
    let mut best = in_turn(free, places.iter().copied());
    for &sides in sides {
        let mut counts: FxHashMap<[u16; 3], u32> = FxHashMap::default();
        for place in places.iter().filter(|place| place.sides == sides) {
            *counts.entry(offset(place)).or_default() += 1;
        }
        // Ties go to the smallest offset, so the hash table's order does not matter.
        let most =
            counts.into_iter().max_by_key(|&(offset, count)| (count, std::cmp::Reverse(offset)));
        let Some((most, _)) = most else { continue };
        let lies = |place: &&Cuboid| place.sides == sides && offset(place) == most;
        let first = places.iter().filter(lies);
        let then = places.iter().filter(|place| !lies(place));
        let boxes = in_turn(free, first.chain(then).copied());
        if boxes.len() > best.len() {
            best = boxes;
        }
    }
    best
}

fn offset(place: &Cuboid) -> [u16; 3] {
    std::array::from_fn(|axis| place.base[axis] % place.sides[axis])
}
