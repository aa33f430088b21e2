//! The logical grid of a job's ranks: neighbours on it, and ranks by displacement.
//!
//! ```text
//!   5 ranks on 3x2:    0 1 2      row-major, the first places occupied. The neighbours of 4 are 3
//!                      3 4 .      and 1, and 5 does not exist.
//! ```
//!
//! Cost: O(1).

use pavior_kernel::{OptionSpec, Values};
use pavior_mesh::Sides;

use super::RankGrid;

/// The option with which the logical grid wraps.
pub(super) const WRAP: OptionSpec = OptionSpec {
    key: "wrap",
    values: Values::OneOf(&["no", "yes"]),
    default: "no",
    meaning: "whether the logical grid wraps (on axes longer than 2)",
    bare: false,
};

/// The logical grid of a job: ranks row-major, x fastest, the first `ranks` places occupied.
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

    /// The place of a rank.
    pub(super) fn place(&self, rank: u32) -> [u32; 3] {
        let [w, d, _] = self.sides.map(u32::from);
        [rank % w, rank / w % d, rank / (w * d)]
    }

    /// The rank at a displacement from another; none where the grid has none, or has the same one.
    pub(super) fn displaced(&self, rank: u32, displacement: [i32; 3]) -> Option<u32> {
        self.displaced_from(self.place(rank), displacement)
    }

    /// As [`Lattice::displaced`], from the other's place.
    fn displaced_from(&self, place: [u32; 3], displacement: [i32; 3]) -> Option<u32> {
        let [w, d, _] = self.sides.map(u32::from);
        let mut there = [0u32; 3];
        for axis in 0..3 {
            let side = i32::from(self.sides[axis]);
            let at = place[axis] as i32 + displacement[axis];
            there[axis] = match at {
                at if (0..side).contains(&at) => at as u32,
                // On two places both ways lead to the same neighbour, as on a mesh.
                at if self.wrap && side > 2 => at.rem_euclid(side) as u32,
                _ => return None,
            };
        }
        let other = there[0] + w * (there[1] + d * there[2]);
        (other < self.ranks && there != place).then_some(other)
    }

    /// The neighbours at a distance, in the order east, west, north, south, up, down (+x, -x, +y,
    /// -y, +z, -z), those that exist.
    pub(super) fn neighbours(&self, rank: u32, distance: i32) -> impl Iterator<Item = u32> {
        let own = *self;
        let place = own.place(rank);
        (0..6).filter_map(move |direction| {
            own.displaced_from(
                place,
                along(direction / 2, if direction % 2 == 0 { distance } else { -distance }),
            )
        })
    }

    /// A bound on the number of neighbours: two an axis longer than 1.
    pub(super) fn most_neighbours(&self) -> u32 {
        2 * self.sides.iter().filter(|&&side| side > 1).count() as u32
    }
}

/// The displacement by a distance along an axis.
fn along(axis: usize, distance: i32) -> [i32; 3] {
    let mut displacement = [0; 3];
    displacement[axis] = distance;
    displacement
}
