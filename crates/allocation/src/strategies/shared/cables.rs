//! The cables of a machine whose partitions have networks of their own.
//!
//! Along every axis the units of a line are joined by cables, one from each unit to the next, and one
//! from the last to the first where the axis wraps.

use pavior_mesh::{Cuboid, Grid, NodeId};

use crate::{Placement, Work};

/// How the lines of a machine are wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strategies) enum Wiring {
    /// One cable between neighbours: a ring through a part of a line occupies the whole line, since
    /// it has to come back through the units that do not belong to it.
    Plain,
    /// Each line has so many further loops; a ring through a part of the line takes one of them.
    Loops(u16),
}

/// Which cables are in use. Boxes that were not proposed here may use a cable twice; it is in use
/// until both are gone.
#[derive(Clone, Debug)]
pub(in crate::strategies) struct Cables {
    grid: Grid,
    wiring: Wiring,
    /// By axis: whether partitions are closed to rings. Only axes that wrap can be.
    torus: [bool; 3],
    /// By axis and unit: how many partitions use the cable to the next unit.
    segments: [Vec<u32>; 3],
    /// By axis and line: the sum over its cables, or the rings that take a loop of it.
    lines: [Vec<u32>; 3],
    upkeep: u64,
}

/// What a box needs of each line along an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Nothing,
    /// The cables between its own units.
    Inner,
    /// Every cable of the line.
    Line,
    /// One of the line's loops.
    Loop,
}

impl Cables {
    /// No cable in use; `torus` says for which axes partitions are closed to rings.
    pub(in crate::strategies) fn new(grid: Grid, wiring: Wiring, torus: [bool; 3]) -> Cables {
        let lines = |axis: usize| vec![0; (grid.nodes() / u32::from(grid.side(axis))) as usize];
        Cables {
            grid,
            wiring,
            torus: std::array::from_fn(|axis| torus[axis] && grid.wraps(axis)),
            segments: std::array::from_fn(|_| vec![0; grid.nodes() as usize]),
            lines: std::array::from_fn(lines),
            upkeep: 0,
        }
    }

    fn need(&self, axis: usize, side: u16) -> Need {
        let part_of_ring = self.torus[axis] && side < self.grid.side(axis);
        match self.wiring {
            _ if side == 1 => Need::Nothing,
            Wiring::Plain if self.torus[axis] => Need::Line,
            Wiring::Plain => Need::Inner,
            Wiring::Loops(_) if part_of_ring => Need::Loop,
            // Cables between a partition's own units, and the ring that it closes alone, are nobody
            // else's.
            Wiring::Loops(_) => Need::Nothing,
        }
    }

    /// The units from which the needed cables lead to the next unit.
    fn cabled(&self, axis: usize, cuboid: &Cuboid, need: Need) -> Cuboid {
        let mut units = *cuboid;
        if need == Need::Inner {
            units.sides[axis] -= 1;
        } else {
            (units.base[axis], units.sides[axis]) = (0, self.grid.side(axis));
        }
        units
    }

    /// The lines along an axis that a box touches.
    fn lines_of(&self, axis: usize, cuboid: &Cuboid) -> impl Iterator<Item = usize> + use<> {
        let mut face = *cuboid;
        face.sides[axis] = 1;
        let grid = self.grid;
        face.nodes(&grid).map(move |unit| line(&grid, axis, unit))
    }

    /// Whether the cables that a box of free units needs are free.
    pub(in crate::strategies) fn are_free(&self, cuboid: &Cuboid) -> bool {
        let most = match self.wiring {
            Wiring::Plain => 1,
            Wiring::Loops(loops) => u32::from(loops),
        };
        (0..3).all(|axis| match self.need(axis, cuboid.sides[axis]) {
            Need::Nothing => true,
            Need::Line | Need::Loop => {
                self.lines_of(axis, cuboid).all(|line| self.lines[axis][line] < most)
            }
            Need::Inner => {
                let mut units = self.cabled(axis, cuboid, Need::Inner).nodes(&self.grid);
                units.all(|unit| self.segments[axis][unit.index()] == 0)
            }
        })
    }

    /// A placement's cables are in use from now on.
    pub(in crate::strategies) fn take(&mut self, placement: &Placement) {
        self.change(placement, 1);
    }

    /// A placement's cables are no longer in use by it.
    pub(in crate::strategies) fn give(&mut self, placement: &Placement) {
        self.change(placement, -1);
    }

    /// The cables and loops entered for grants and releases.
    pub(in crate::strategies) fn work(&self) -> Work {
        Work::of_upkeep(self.upkeep)
    }

    fn change(&mut self, placement: &Placement, by: i32) {
        let add = |users: &mut u32| {
            *users = users.checked_add_signed(by).expect("what is given back was taken");
        };
        for part in placement.parts() {
            for axis in 0..3 {
                let need = self.need(axis, part.sides[axis]);
                if need == Need::Loop {
                    for line in self.lines_of(axis, part) {
                        add(&mut self.lines[axis][line]);
                        self.upkeep += 1;
                    }
                } else if need != Need::Nothing {
                    for unit in self.cabled(axis, part, need).nodes(&self.grid) {
                        add(&mut self.segments[axis][unit.index()]);
                        self.upkeep += 1;
                        add(&mut self.lines[axis][line(&self.grid, axis, unit)]);
                    }
                }
            }
        }
    }

    /// Panics if a cable is in use; for tests, on a machine that is empty.
    pub(in crate::strategies) fn validate_unused(&self) {
        assert!(self.segments.iter().flatten().all(|&users| users == 0), "a cable is in use");
        assert!(self.lines.iter().flatten().all(|&sum| sum == 0), "a line is in use");
    }
}

/// The number of the line along an axis that holds a unit.
fn line(grid: &Grid, axis: usize, unit: NodeId) -> usize {
    let [x, y, z] = grid.point(unit).map(usize::from);
    let [w, d, _] = grid.sides().map(usize::from);
    [y + d * z, x + w * z, x + w * y][axis]
}
