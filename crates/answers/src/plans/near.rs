//! Finds a free position for a box or, failing that, the largest free boxes that are smaller.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pavior_mesh::{BaseSet, Cuboid, Occupancy, Sides, ascending, volume};
use rustc_hash::FxHashMap;

use crate::{Shape, Snapshot};

/// Finds a box's first free position, in order of orientation, then base (row-major).
///
/// Takes O(log(side) N/64) time per orientation.
pub fn fit(snapshot: &Snapshot, shape: Shape) -> Option<Cuboid> {
    first_free(&mut BaseSet::new(snapshot.grid), &snapshot.free, shape)
}

/// Works like [`fit`], but reuses scratch buffers.
pub(crate) fn first_free(bases: &mut BaseSet, free: &Occupancy, shape: Shape) -> Option<Cuboid> {
    bases.load(free);
    shape.orientations(free.grid()).find_map(|sides| {
        let base = bases.find_loaded(sides)?;
        Some(Cuboid::new(base, sides))
    })
}

/// Finds up to `count` free boxes closest in size to the requested one, best first.
///
/// The candidates are all boxes no larger than the requested box in some orientation, each at its
/// first free base. They are ranked by volume (largest first), then by total reduction in side
/// lengths (smallest first), then by orientation, and then by the side lengths along x, y and z
/// (largest first). A box is omitted if it fits inside a box already listed (after rotation, if the
/// request allows it). So if the requested box itself is free, it is the only result.
///
/// Performs O(v) searches in the worst case, where v is the requested volume.
pub fn nearest(snapshot: &Snapshot, shape: Shape, count: usize) -> Vec<Cuboid> {
    let mut bases = BaseSet::new(snapshot.grid);
    bases.load(&snapshot.free);
    let mut found: FxHashMap<Sides, Option<Cuboid>> = FxHashMap::default();
    let mut listed: Vec<Cuboid> = Vec::new();
    for sides in candidates(snapshot, shape, count) {
        if listed.len() == count {
            break;
        }
        if listed.iter().any(|box_| within(sides, box_.sides, shape.turn)) {
            continue;
        }
        let at = found.entry(sides).or_insert_with(|| {
            let base = bases.find_loaded(sides)?;
            Some(Cuboid::new(base, sides))
        });
        listed.extend(*at);
    }
    listed
}

/// Returns the side lengths of the boxes that fit inside the requested one, best first. If `count`
/// is one, returns only those with the largest free volume.
fn candidates(snapshot: &Snapshot, shape: Shape, count: usize) -> impl Iterator<Item = Sides> {
    let orientations = pavior_mesh::orientations(shape.sides).take(if shape.turn { 6 } else { 1 });
    let mut turns: Vec<(usize, Sides, Sides)> = Vec::new();
    for (turn, asked) in orientations.enumerate() {
        let limit: Sides = std::array::from_fn(|axis| asked[axis].min(snapshot.grid.side(axis)));
        // Skip a box that fits inside the box of an earlier orientation.
        if !turns.iter().any(|earlier| fits(limit, earlier.2)) {
            turns.push((turn, asked, limit));
        }
    }
    let free = |limit| snapshot.free.largest_free_within(limit).map_or(0, |most| most.volume());
    let most: Vec<u32> = turns.iter().map(|&(_, _, limit)| free(limit)).collect();
    let least = most.iter().copied().max().filter(|_| count == 1).map_or(0, u64::from);
    let mut all = Vec::new();
    for ((turn, asked, limit), most) in turns.into_iter().zip(most) {
        for c in 1..=limit[2] {
            for b in 1..=limit[1] {
                let row = u64::from(b) * u64::from(c);
                let from = least.div_ceil(row).max(1);
                let to = (u64::from(most) / row).min(u64::from(limit[0]));
                for a in from..=to {
                    let sides = [a as u16, b, c];
                    let cut: u32 = (0..3).map(|axis| u32::from(asked[axis] - sides[axis])).sum();
                    let rank = (volume(sides), Reverse(cut), Reverse(turn), sides);
                    all.push(rank);
                }
            }
        }
    }
    // Only a few candidates are needed, so building a heap is cheaper than sorting them all.
    let mut all = BinaryHeap::from(all);
    std::iter::from_fn(move || all.pop().map(|(_, _, _, sides)| sides))
}

/// Returns true if a box fits inside another without being rotated.
fn fits(inner: Sides, outer: Sides) -> bool {
    (0..3).all(|axis| inner[axis] <= outer[axis])
}

/// Returns true if a box fits inside another, possibly after rotation if `turn` is true.
fn within(inner: Sides, outer: Sides, turn: bool) -> bool {
    if turn { fits(ascending(inner), ascending(outer)) } else { fits(inner, outer) }
}
