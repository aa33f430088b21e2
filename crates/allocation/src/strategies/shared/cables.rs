//! The lines of a machine whose partitions have networks of their own.

use pavior_mesh::{Cuboid, Grid, NodeId};

use crate::{Placement, Work};

/// How many rings go through part of each line. Two partitions can only ever compete for a line's
/// way back: cables between a partition's own units belong to no other partition, and a ring of a whole line
/// closes by itself. Boxes that were not proposed here may exceed what a line can carry; it is in use
/// until enough of them are gone.
#[derive(Clone, Debug)]
pub(in crate::strategies) struct Cables {
    grid: Grid,
    /// By axis: whether partitions are closed to rings. Only axes that wrap can be.
    torus: [bool; 3],
    /// How many rings a line carries.
    most: u32,
    /// By axis and line: the rings through part of it.
    rings: [Vec<u32>; 3],
    upkeep: u64,
}

impl Cables {
    /// No cable in use. `torus` says for which axes partitions are closed to rings, `most` how many
    /// rings through part of it a line carries.
    pub(in crate::strategies) fn new(grid: Grid, torus: [bool; 3], most: u32) -> Cables {
        let lines = |axis: usize| vec![0; (grid.nodes() / u32::from(grid.side(axis))) as usize];
        Cables {
            grid,
            torus: std::array::from_fn(|axis| torus[axis] && grid.wraps(axis)),
            most,
            rings: std::array::from_fn(lines),
            upkeep: 0,
        }
    }

    /// The axis and the number of every line through part of which a box is a ring.
    fn rings_of(&self, cuboid: &Cuboid) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (grid, torus, cuboid) = (self.grid, self.torus, *cuboid);
        let is_part =
            move |&axis: &usize| torus[axis] && (2..grid.side(axis)).contains(&cuboid.sides[axis]);
        (0..3).filter(is_part).flat_map(move |axis| {
            let mut face = cuboid;
            face.sides[axis] = 1;
            face.nodes(&grid).map(move |unit| (axis, line(&grid, axis, unit)))
        })
    }

    /// Whether the cables that a box of free units needs are free.
    pub(in crate::strategies) fn are_free(&self, cuboid: &Cuboid) -> bool {
        self.rings_of(cuboid).all(|(axis, line)| self.rings[axis][line] < self.most)
    }

    /// A placement's cables are in use from now on.
    pub(in crate::strategies) fn take(&mut self, placement: &Placement) {
        self.change(placement, 1);
    }

    /// A placement's cables are no longer in use by it.
    pub(in crate::strategies) fn give(&mut self, placement: &Placement) {
        self.change(placement, -1);
    }

    /// The loops entered for grants and releases.
    pub(in crate::strategies) fn work(&self) -> Work {
        Work::of_upkeep(self.upkeep)
    }

    fn change(&mut self, placement: &Placement, by: i32) {
        for part in placement.parts() {
            for (axis, line) in self.rings_of(part) {
                let rings = &mut self.rings[axis][line];
                *rings = rings.checked_add_signed(by).expect("what is given back was taken");
                self.upkeep += 1;
            }
        }
    }

    /// Panics if a cable is in use; for tests, on a machine that is empty.
    pub(in crate::strategies) fn validate_unused(&self) {
        assert!(self.rings.iter().flatten().all(|&rings| rings == 0), "a line is in use");
    }
}

/// The number of the line along an axis that holds a unit.
fn line(grid: &Grid, axis: usize, unit: NodeId) -> usize {
    let [x, y, z] = grid.point(unit).map(usize::from);
    let [w, d, _] = grid.sides().map(usize::from);
    [y + d * z, x + w * z, x + w * y][axis]
}
