//! Fit and nearest: where a box is free, or which smaller ones are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pavior_mesh::{BaseSet, Cuboid, Occupancy, Scan, Sides, volume};
use rustc_hash::FxHashMap;

use crate::{Shape, Snapshot};

/// The first free place of a box, in the order of its orientations, bases row-major.
///
/// O(log(side) N/64) an orientation.
pub fn fit(snapshot: &Snapshot, shape: Shape) -> Option<Cuboid> {
    first_free(&snapshot.free, shape)
}

pub(crate) fn first_free(free: &Occupancy, shape: Shape) -> Option<Cuboid> {
    let mut bases = BaseSet::new(*free.grid());
    shape.orientations(free.grid()).find_map(|sides| {
        let base = bases.find(free, sides, Scan::default())?;
        Some(Cuboid::new(base, sides))
    })
}

/// The free boxes that come nearest to one that is asked for: at most `count`, the best first.
///
/// The boxes within the sides asked for are tried, in any orientation, each at its first base.
/// Greater volume comes first, then the least sum of what is cut off the sides. Then come the
/// earlier orientation, and the greater sides in the order x, y, z. A box that lies within the
/// sides of a listed one (turned, if the request may be) is not listed. So if the box itself is
/// free, it is the only answer.
///
/// O(v) searches for v the volume asked for, in the worst case.
pub fn nearest(snapshot: &Snapshot, shape: Shape, count: usize) -> Vec<Cuboid> {
    let free = &snapshot.free;
    let mut bases = BaseSet::new(snapshot.grid);
    let mut found: FxHashMap<Sides, Option<Cuboid>> = FxHashMap::default();
    let mut listed: Vec<Cuboid> = Vec::new();
    for sides in candidates(snapshot, shape) {
        if listed.len() == count {
            break;
        }
        if listed.iter().any(|box_| within(sides, box_.sides, shape.turn)) {
            continue;
        }
        let at = found.entry(sides).or_insert_with(|| {
            let base = bases.find(free, sides, Scan::default())?;
            Some(Cuboid::new(base, sides))
        });
        listed.extend(*at);
    }
    listed
}

/// The sides that lie within a box, best first.
fn candidates(snapshot: &Snapshot, shape: Shape) -> impl Iterator<Item = Sides> {
    let orientations = pavior_mesh::orientations(shape.sides).take(if shape.turn { 6 } else { 1 });
    let mut all = Vec::new();
    for (turn, within) in orientations.enumerate() {
        let most = snapshot.free.largest_free_within(within).map_or(0, |most| most.volume());
        let limit: Sides = std::array::from_fn(|axis| within[axis].min(snapshot.grid.side(axis)));
        for c in 1..=limit[2] {
            for b in 1..=limit[1] {
                let row = u64::from(b) * u64::from(c);
                for a in (1..=limit[0]).take_while(|&a| u64::from(a) * row <= u64::from(most)) {
                    let sides = [a, b, c];
                    let cut: u32 = (0..3).map(|axis| u32::from(within[axis] - sides[axis])).sum();
                    let rank = (volume(sides), Reverse(cut), Reverse(turn), sides);
                    all.push(rank);
                }
            }
        }
    }
    // A few are asked for: they are not sorted.
    let mut all = BinaryHeap::from(all);
    std::iter::from_fn(move || all.pop().map(|(_, _, _, sides)| sides))
}

/// Whether a box lies within the sides of another, turned if it may be.
fn within(inner: Sides, outer: Sides, turn: bool) -> bool {
    let fits = |a: Sides, b: Sides| (0..3).all(|axis| a[axis] <= b[axis]);
    if !turn {
        return fits(inner, outer);
    }
    let sorted = |mut sides: Sides| {
        sides.sort_unstable();
        sides
    };
    fits(sorted(inner), sorted(outer))
}
