//! Every strategy and variant of the registry against the oracle. Names no strategy.

use pavior_allocation::{Registry, SelectedStrategy, Selection, conformance};
use pavior_mesh::Grid;

fn selections() -> impl Iterator<Item = Selection> {
    Registry::new().entries().flat_map(Selection::variants)
}

fn grids(names: &[&str]) -> Vec<Grid> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

/// Runs a check over every selection and every grid that it supports, and reports all failures.
fn check(grids: &[Grid], run: impl Fn(&Selection, &Grid) -> Result<u64, String>) {
    let mut failures = Vec::new();
    for selection in selections() {
        let mut answers = 0;
        for grid in grids.iter().filter(|grid| selection.supports(grid).is_ok()) {
            match run(&selection, grid) {
                Ok(count) => answers += count,
                Err(failure) => failures.push(failure),
            }
        }
        println!("{selection}: {answers} answers");
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn every_occupancy_of_small_machines() {
    let names = [
        "mesh:7",
        "mesh:2x2",
        "torus:7",
        "mesh:3x3",
        "torus:3x3",
        "mesh:2x4",
        "grid:2x4w",
        "grid:3wx3",
        "mesh:2x2x2",
        "torus:2x2x2",
        "grid:1x3wx3",
    ];
    check(&grids(&names), conformance::every_occupancy);
}

#[test]
fn random_boxes_on_larger_machines() {
    let names = [
        "mesh:8x8",
        "torus:6x5",
        "grid:7wx4",
        "mesh:4x4x4",
        "torus:5x4x3",
        "grid:4wx3x4w",
        "mesh:4x4",
    ];
    check(&grids(&names), |selection, grid| conformance::random_boxes(selection, grid, 1, 30));
}

#[test]
fn long_histories() {
    let names =
        ["mesh:16x16", "torus:13x7", "grid:64x3w", "mesh:65x2", "mesh:5x4x6", "torus:8x8x8"];
    check(&grids(&names), |selection, grid| conformance::history(selection, grid, 7, 400));
}

#[test]
fn every_strategy_runs_somewhere_with_every_variant() {
    let grids = grids(&["mesh:8x8", "torus:8x8", "mesh:8x8x8", "torus:8x8x8"]);
    for selection in selections() {
        assert!(grids.iter().any(|grid| selection.supports(grid).is_ok()), "{selection}");
    }
}
