//! The cables of a machine whose partitions have networks of their own.
//!
//! Along each line, only rings through part of it compete for a cable: for the line's way back.
//! Cables between a partition's own units belong to no other partition, and a ring of the whole
//! line closes by itself.
//!
//! ```text
//!   +-a===a---.---.-+     a ring of the two units a goes back through the others
//!   +===============+
//! ```
//!
//! Invariant: a line is `open` exactly while it carries fewer rings than it may. Boxes that the
//! strategy did not propose may make more rings; the line then opens when enough of them are gone.
//!
//! Cost: O(lines through the box) a grant or release; O(N/64) for the usable units of a shape.

use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy, Sides};

use crate::{Placement, Work};

/// By line, how many rings go through part of it.
#[derive(Clone, Debug)]
pub(crate) struct Cables {
    grid: Grid,
    /// By axis: whether partitions are closed to rings. Only axes that wrap can be.
    torus: [bool; 3],
    /// How many rings a line carries.
    most: u32,
    /// By axis and line: the rings through part of it.
    rings: [Vec<u32>; 3],
    /// By axis: the units on lines that can carry one more ring.
    open: [Occupancy; 3],
    upkeep: u64,
}

impl Cables {
    /// No cable in use. `torus` says for which axes partitions are closed to rings, `most` how many
    /// rings through part of it a line carries.
    pub(crate) fn new(grid: Grid, torus: [bool; 3], most: u32) -> Cables {
        let lines = |axis: usize| vec![0; (grid.nodes() / u32::from(grid.side(axis))) as usize];
        Cables {
            grid,
            torus: std::array::from_fn(|axis| torus[axis] && grid.wraps(axis)),
            most,
            rings: std::array::from_fn(lines),
            open: std::array::from_fn(|_| Occupancy::all_free(grid)),
            upkeep: 0,
        }
    }

    /// The axes along which a box of a shape is a ring through part of each of its lines.
    fn ring_axes(&self, shape: Sides) -> impl Iterator<Item = usize> + use<> {
        let (grid, torus) = (self.grid, self.torus);
        (0..3).filter(move |&axis| torus[axis] && (2..grid.side(axis)).contains(&shape[axis]))
    }

    /// The axis of every line through part of which a box is a ring, and its first unit.
    fn rings_of(&self, cuboid: &Cuboid) -> impl Iterator<Item = (usize, Coordinates)> + use<> {
        let (grid, cuboid) = (self.grid, *cuboid);
        self.ring_axes(cuboid.sides).flat_map(move |axis| {
            let mut face = cuboid;
            (face.base[axis], face.sides[axis]) = (0, 1);
            face.nodes(&grid).map(move |unit| (axis, grid.point(unit)))
        })
    }

    /// Leaves in `usable` the free units on lines that have the cables for a shape. A box of these
    /// units has its cables, too. O(N/64).
    pub(crate) fn usable(&self, free: &Occupancy, shape: Sides, usable: &mut Occupancy) {
        usable.copy_from(free);
        for axis in self.ring_axes(shape) {
            usable.keep(&self.open[axis]).expect("both are of this machine");
        }
    }

    /// A placement's cables are in use from now on.
    pub(crate) fn take(&mut self, placement: &Placement) {
        self.change(placement, 1);
    }

    /// A placement's cables are no longer in use by it.
    pub(crate) fn give(&mut self, placement: &Placement) {
        self.change(placement, -1);
    }

    /// The loops entered for grants and releases.
    pub(crate) fn work(&self) -> Work {
        Work::of_upkeep(self.upkeep)
    }

    fn change(&mut self, placement: &Placement, by: i32) {
        for part in placement.parts() {
            for (axis, first) in self.rings_of(part) {
                let rings = &mut self.rings[axis][line(&self.grid, axis, first)];
                let had_room = *rings < self.most;
                *rings = rings.checked_add_signed(by).expect("what is given back was taken");
                self.upkeep += 1;
                let mut units = Cuboid::node(first);
                units.sides[axis] = self.grid.side(axis);
                let turned = match (had_room, *rings < self.most) {
                    (true, false) => self.open[axis].take(&units),
                    (false, true) => self.open[axis].give(&units),
                    _ => Ok(()),
                };
                turned.expect("a line is open exactly while it carries another ring");
            }
        }
    }

    /// Panics if a cable is in use; for tests, on a machine that is empty.
    pub(crate) fn validate_unused(&self) {
        assert!(self.rings.iter().flatten().all(|&rings| rings == 0), "a line is in use");
    }
}

/// The number of the line along an axis that holds a unit.
fn line(grid: &Grid, axis: usize, unit: Coordinates) -> usize {
    let [x, y, z] = unit.map(usize::from);
    let [w, d, _] = grid.sides().map(usize::from);
    [y + d * z, x + w * z, x + w * y][axis]
}
