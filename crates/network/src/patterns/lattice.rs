//! The logical grid on which a job's ranks are placed. It determines each rank's neighbors.
//!
//! ```text
//!   5 ranks on 3x2:    0 1 2      row-major, empty positions last. The neighbors of 4 are 3
//!                      3 4 .      and 1, and 5 does not exist.
//! ```
//!
//! Cost: O(1).

use pavior_kernel::{OptionSpec, Values};
use pavior_mesh::Sides;

use super::RankGrid;

/// The option that makes the logical grid wrap.
pub(super) const WRAP: OptionSpec = OptionSpec {
    key: "wrap",
    values: Values::OneOf(&["no", "yes"]),
    default: "no",
    meaning: "whether the logical grid wraps around on axes longer than 2",
    bare: false,
};

/// A job's logical grid. The first `ranks` positions in row-major order (x fastest) are occupied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lattice {
    pub(super) ranks: u32,
    pub(super) sides: Sides,
    wrap: bool,
}

impl Lattice {
    pub(super) fn new(shape: &RankGrid, wrap: bool) -> Lattice {
        Lattice { ranks: shape.ranks, sides: shape.sides, wrap }
    }

    pub(super) fn place(&self, rank: u32) -> [u32; 3] {
        let [w, d, _] = self.sides.map(u32::from);
        [rank % w, rank / w % d, rank / (w * d)]
    }

    /// Returns the rank at the given displacement from `rank`, or `None` if no other rank is there.
    pub(super) fn displaced(&self, rank: u32, displacement: [i32; 3]) -> Option<u32> {
        let place = self.place(rank);
        let [w, d, _] = self.sides.map(u32::from);
        let mut there = [0u32; 3];
        for axis in 0..3 {
            let side = i32::from(self.sides[axis]);
            let at = place[axis] as i32 + displacement[axis];
            there[axis] = match at {
                at if (0..side).contains(&at) => at as u32,
                // An axis of length 2 never wraps, as both directions lead to the same neighbor.
                at if self.wrap && side > 2 => at.rem_euclid(side) as u32,
                _ => return None,
            };
        }
        let other = there[0] + w * (there[1] + d * there[2]);
        (other < self.ranks && there != place).then_some(other)
    }

    /// Returns a rank's neighbors at the given distance, in the order east, west, north, south, up,
    /// down (+x, -x, +y, -y, +z, -z).
    pub(super) fn neighbours(&self, rank: u32, distance: u32) -> impl Iterator<Item = u32> {
        let own = *self;
        let (place, [w, d, _]) = (own.place(rank), own.sides.map(u32::from));
        let strides = [1, w, w * d];
        (0..6).filter_map(move |direction| {
            let axis = direction / 2;
            let (at, side) = (place[axis], u32::from(own.sides[axis]));
            let to = match direction % 2 {
                0 if side - at > distance => at + distance,
                1 if at >= distance => at - distance,
                _ if !(own.wrap && side > 2) => return None,
                0 => (at + distance) % side,
                _ => (at + side - distance % side) % side,
            };
            // Only the coordinate on this axis differs.
            let other = rank - at * strides[axis] + to * strides[axis];
            (other < own.ranks && to != at).then_some(other)
        })
    }

    /// Returns the maximum number of neighbors of any rank: two per axis longer than 1.
    pub(super) fn most_neighbours(&self) -> u32 {
        2 * self.sides.iter().filter(|&&side| side > 1).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_displaced_along_an_axis() {
        for sides in [[7, 1, 1], [2, 3, 1], [4, 2, 3], [3, 5, 4]] {
            let places = sides.map(u32::from).iter().product::<u32>();
            for (ranks, wrap) in [(places, false), (places, true), (places - 2, true)] {
                let lattice = Lattice::new(&RankGrid { ranks, sides }, wrap);
                for (rank, distance) in (0..ranks).flat_map(|rank| (1..9).map(move |d| (rank, d))) {
                    let found: Vec<u32> = lattice.neighbours(rank, distance).collect();
                    let plain = (0..6).filter_map(|direction| {
                        let mut step = [0; 3];
                        step[direction / 2] = distance as i32 * [1, -1][direction % 2];
                        lattice.displaced(rank, step)
                    });
                    assert_eq!(found, plain.collect::<Vec<u32>>(), "{sides:?} {rank} {distance}");
                }
            }
        }
    }
}
