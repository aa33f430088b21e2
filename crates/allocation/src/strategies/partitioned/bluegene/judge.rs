//! An independent model of Blue Gene/L, used by the oracle. It counts how many of the current
//! partitions use each cable.
//!
//! The model shares no code with the strategy's own [`cables`](super::cables), so either one can
//! reveal errors in the other.

use std::collections::BTreeMap;

use pavior_kernel::Options;
use pavior_mesh::{Coordinates, Cuboid, Grid, NodeId, Scan};

use super::{family, torus_axes};
use crate::Placement;
use crate::claim::Scene;

/// Returns true if all units and cables of some allowed box are available.
pub(super) fn feasible(scene: &Scene<'_>) -> bool {
    let (grid, users) = (scene.free.grid(), Users::of(scene));
    family(scene.request, grid, scene.options).iter().any(|shape| {
        let sides = shape.bounding();
        let mut bases = Scan::default().bases(*grid, sides);
        bases.any(|base| users.allow(scene, &Cuboid::new(base, sides)))
    })
}

/// Returns true if a placement is a single box whose units and cables are all available.
pub(super) fn allowed(scene: &Scene<'_>, placement: &Placement) -> bool {
    placement.parts().len() == 1 && Users::of(scene).allow(scene, &placement.parts()[0])
}

/// For each cable, the number of current partitions that use it.
struct Users(BTreeMap<(usize, Coordinates), u64>);

impl Users {
    fn of(scene: &Scene<'_>) -> Users {
        let mut users = BTreeMap::new();
        for part in scene.held.iter().flat_map(Placement::parts) {
            for cable in cables_of(scene.free.grid(), scene.options, part) {
                *users.entry(cable).or_insert(0) += 1;
            }
        }
        Users(users)
    }

    /// Returns true if all of a box's units and cables are available.
    fn allow(&self, scene: &Scene<'_>, cuboid: &Cuboid) -> bool {
        let most = match scene.options.get("wiring") {
            "plain" => 1,
            _ => scene.options.integer("loops"),
        };
        let is_free = |cable| self.0.get(&cable).is_none_or(|&users| users < most);
        scene.free.is_free(cuboid)
            && cables_of(scene.free.grid(), scene.options, cuboid).into_iter().all(is_free)
    }
}

/// Returns the cables for which a partition competes with others. Each cable is identified by its
/// axis and starting unit, and each loop by its axis and the first unit on its line.
fn cables_of(grid: &Grid, options: &Options, cuboid: &Cuboid) -> Vec<(usize, Coordinates)> {
    let mut cables = Vec::new();
    for axis in 0..3 {
        let (side, n) = (cuboid.sides[axis], grid.side(axis));
        let ring = torus_axes(options)[axis] && grid.wraps(axis);
        for unit in cuboid.nodes(grid).map(|unit: NodeId| grid.point(unit)) {
            let mut cable = |at: u16| {
                let mut from = unit;
                from[axis] = at;
                cables.push((axis, from));
            };
            // A ring's cables on each line are listed only once, at the ring's first unit.
            let is_first = unit[axis] == cuboid.base[axis];
            let last = cuboid.coordinate(grid, axis, side - 1);
            match options.get("wiring") {
                _ if side == 1 => {}
                "plain" if ring && is_first => (0..n).for_each(&mut cable),
                "plain" if !ring && unit[axis] != last => cable(unit[axis]),
                "multi" if ring && side < n && is_first => cable(0),
                _ => {}
            }
        }
    }
    cables
}
