//! The cables of a machine whose partitions have their own networks.
//!
//! Partitions on the same line compete only if they are rings through part of the line, and only
//! for the cable that closes the line. The cables between a partition's units belong to no other
//! partition, and a ring through the whole line needs no other cable.
//!
//! ```text
//!   +-a===a---.---.-+     a ring of the two units a returns through the others
//!   +===============+
//! ```
//!
//! Invariant: a line is `open` if and only if it can carry another ring. Boxes that the strategy
//! did not propose may add more rings than the line can carry. In that case, the line opens once
//! enough of these boxes have been released.
//!
//! Cost: O(lines through the box) per grant or release, and O(N/64) to determine the usable units
//! for a shape.

use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy, Sides};

use crate::{Placement, Work};

/// A machine's cables, tracked by counting the rings that use part of each line.
#[derive(Clone, Debug)]
pub(crate) struct Cables {
    grid: Grid,
    /// True for each axis along which partitions are rings. Such an axis always wraps.
    torus: [bool; 3],
    /// The maximum number of rings that can use part of the same line.
    most: u32,
    /// The number of rings that use part of each line, by axis and line.
    rings: [Vec<u32>; 3],
    /// For each axis, the units on lines that can carry another ring along that axis.
    open: [Occupancy; 3],
    upkeep: u64,
}

impl Cables {
    /// Creates a machine's cables, with none in use. `torus` selects the axes along which
    /// partitions are rings. `most` is the maximum number of rings that can use part of the same
    /// line.
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

    /// Returns the axes along which a box of this shape is a ring that uses only part of a line.
    fn ring_axes(&self, shape: Sides) -> impl Iterator<Item = usize> + use<> {
        let (grid, torus) = (self.grid, self.torus);
        (0..3).filter(move |&axis| torus[axis] && (2..grid.side(axis)).contains(&shape[axis]))
    }

    /// Returns the axis and first unit of each line that the box's rings use only in part.
    fn rings_of(&self, cuboid: &Cuboid) -> impl Iterator<Item = (usize, Coordinates)> + use<> {
        let (grid, cuboid) = (self.grid, *cuboid);
        self.ring_axes(cuboid.sides).flat_map(move |axis| {
            let mut face = cuboid;
            (face.base[axis], face.sides[axis]) = (0, 1);
            face.nodes(&grid).map(move |unit| (axis, grid.point(unit)))
        })
    }

    /// Sets `usable` to the free units whose lines have enough cables left for the shape. Any box
    /// of the shape within these units then has all the cables it needs. Takes O(N/64) time.
    pub(crate) fn usable(&self, free: &Occupancy, shape: Sides, usable: &mut Occupancy) {
        usable.copy_from(free);
        for axis in self.ring_axes(shape) {
            usable.keep(&self.open[axis]).expect("both are of this machine");
        }
    }

    /// Marks a placement's cables as in use.
    pub(crate) fn take(&mut self, placement: &Placement) {
        self.change(placement, 1);
    }

    /// Releases a placement's cables.
    pub(crate) fn give(&mut self, placement: &Placement) {
        self.change(placement, -1);
    }

    /// Returns the number of rings updated by grants and releases.
    pub(crate) fn work(&self) -> Work {
        Work::of_upkeep(self.upkeep)
    }

    fn change(&mut self, placement: &Placement, by: i32) {
        for part in placement.parts() {
            for (axis, first) in self.rings_of(part) {
                let rings = &mut self.rings[axis][line(&self.grid, axis, first)];
                let had_room = *rings < self.most;
                *rings = rings.checked_add_signed(by).expect("released units were taken before");
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

    /// Panics if any cable is in use. Tests call this on an empty machine.
    pub(crate) fn validate_unused(&self) {
        assert!(self.rings.iter().flatten().all(|&rings| rings == 0), "a line is in use");
    }
}

/// Returns the number of the line that runs through a unit along an axis.
fn line(grid: &Grid, axis: usize, unit: Coordinates) -> usize {
    let [x, y, z] = unit.map(usize::from);
    let [w, d, _] = grid.sides().map(usize::from);
    [y + d * z, x + w * z, x + w * y][axis]
}
