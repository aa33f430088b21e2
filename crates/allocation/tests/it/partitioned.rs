//! Tests of partition hardware on grids not covered by the conformance suite.

use pavior_allocation::{Placement, Selection, conformance};
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, Occupancy, Request, Scan, orientations};

use crate::common::strategy;

#[test]
fn pods_of_several_cubes_keep_their_claims() {
    let variants = ["tpu", "tpu:static", "tpu:round=up", "tpu:static:round=up"];
    for selection in variants.map(|name| name.parse::<Selection>().unwrap()) {
        for name in ["mesh:8x8x4", "torus:12x4x4", "grid:8x12wx8"] {
            let grid: Grid = name.parse().unwrap();
            conformance::history(&selection, &grid, 5, 400).unwrap();
        }
        for name in ["mesh:8x4x4", "torus:4x8x4"] {
            conformance::random_boxes(&selection, &name.parse().unwrap(), 5, 6).unwrap();
        }
    }
}

#[test]
fn machines_that_are_no_pods_are_not_supported() {
    let tpu: Selection = "tpu".parse().unwrap();
    for name in ["mesh:8x8", "mesh:8x8x6", "mesh:16"] {
        assert!(tpu.supports(&name.parse().unwrap()).is_err(), "{name}");
    }
    let links: Selection = "bluegene:links=tt".parse().unwrap();
    assert!(links.supports(&"torus:4x4x4".parse().unwrap()).is_err());
    assert!("bluegene:links=tx".parse::<Selection>().is_err());
}

#[test]
fn lines_of_units_keep_their_claims_however_they_are_wired() {
    let names = ["bluegene", "bluegene:multi", "bluegene:multi:loops=1", "bluegene:links=mesh"];
    for selection in names.map(|name| name.parse::<Selection>().unwrap()) {
        for name in ["torus:4x4x4", "torus:8", "grid:5wx3", "torus:3x3x3"] {
            conformance::history(&selection, &name.parse().unwrap(), 6, 400).unwrap();
        }
    }
    for links in ["bluegene:links=tmt", "bluegene:multi:links=mtm:mfp"] {
        let selection: Selection = links.parse().unwrap();
        conformance::history(&selection, &"torus:4x3x4".parse().unwrap(), 6, 400).unwrap();
    }
}

/// On a mesh, every free box has the cables it needs, so `mfp` must leave the largest possible free
/// box.
#[test]
fn mfp_leaves_the_largest_free_box_that_can_be_left() {
    for name in ["mesh:6x5", "mesh:4x3x3"] {
        let grid: Grid = name.parse().unwrap();
        let mut mfp = strategy("bluegene:mfp", &grid);
        let mut dice = Stream::new(2, 0, "mfp");
        for _ in 0..200 {
            let mut free = Occupancy::all_free(grid);
            for _ in 0..dice.below(8) {
                let node = pavior_mesh::NodeId(dice.below(u64::from(grid.nodes())) as u32);
                free.take_node(node);
            }
            let mut side = |axis: usize| dice.between(1, u64::from(grid.side(axis))) as u16;
            let shape = [side(0).min(3), side(1).min(3), side(2)];
            let mut best: Option<(u32, Cuboid)> = None;
            for sides in orientations(shape) {
                for base in Scan::default().bases(grid, sides) {
                    let cuboid = Cuboid::new(base, sides);
                    if free.is_free(&cuboid) {
                        let mut left = free.clone();
                        left.take(&cuboid).unwrap();
                        let largest = left.largest_free().map_or(0, |rest| rest.volume());
                        if best.is_none_or(|(most, _)| largest > most) {
                            best = Some((largest, cuboid));
                        }
                    }
                }
            }
            let given = mfp.find(&free, &Request::shape(shape), &mut Stream::new(1, 0, ""));
            assert_eq!(given, best.map(|(_, cuboid)| Placement::Whole(cuboid)), "{name} {shape:?}");
        }
    }
}
