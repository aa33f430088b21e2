//! Tests of every registered strategy and variant against the oracle. None of these tests names an
//! individual strategy.

use std::sync::Mutex;

use pavior_allocation::{Selection, StrategyKind, conformance};
use pavior_kernel::Family;
use pavior_mesh::Grid;
use pavior_trials::Size;

use crate::common::in_two_threads;

fn selections() -> Vec<Selection> {
    StrategyKind::builtin().iter().flat_map(Selection::variants).collect()
}

/// Checks a selection with a reduced suite: fewer occupancies and shorter histories.
fn judged_at_once(selection: &Selection) -> Result<u64, conformance::Flaw> {
    let supported = |names: &'static [&'static str]| {
        let grids = names.iter().map(|name| name.parse::<Grid>().unwrap());
        grids.filter(|grid| selection.supports(grid).is_ok())
    };
    let mut answers = 0;
    for grid in supported(&["mesh:5", "torus:2x3", "mesh:2x1x3"]) {
        answers += conformance::every_occupancy(selection, &grid)?;
    }
    for grid in supported(&["mesh:8x8", "torus:6x5", "torus:5x4x3"]) {
        answers += conformance::random_boxes(selection, &grid, 1, 3)?;
    }
    for grid in supported(&["mesh:16x16", "torus:13x7", "torus:8x8x8"]) {
        answers += conformance::history(selection, &grid, 7, 20)?;
    }
    assert!(answers > 0, "{selection} was never queried");
    Ok(answers)
}

#[test]
fn every_strategy_keeps_its_claim() {
    let judged = if Size::chosen() == Size::Quick { judged_at_once } else { conformance::suite };
    let failures = Mutex::new(Vec::new());
    in_two_threads(&selections(), |selection| match judged(selection) {
        Ok(answers) => println!("{selection}: {answers} answers"),
        Err(failure) => failures.lock().unwrap().push(failure.to_string()),
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn every_strategy_runs_somewhere_with_every_variant() {
    let names = ["mesh:8x8", "torus:8x8", "mesh:8x8x8", "torus:8x8x8"];
    let grids: Vec<Grid> = names.iter().map(|name| name.parse().unwrap()).collect();
    for selection in selections() {
        assert!(grids.iter().any(|grid| selection.supports(grid).is_ok()), "{selection}");
    }
}
