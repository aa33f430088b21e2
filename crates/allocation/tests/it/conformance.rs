//! Every strategy and variant of the registry against the oracle. Names no strategy.

use std::sync::Mutex;

use pavior_allocation::{Selection, StrategyKind, conformance};
use pavior_kernel::Family;
use pavior_mesh::Grid;

use crate::common::in_two_threads;

fn selections() -> Vec<Selection> {
    StrategyKind::builtin().iter().flat_map(Selection::variants).collect()
}

#[test]
fn every_strategy_keeps_its_claim() {
    let failures = Mutex::new(Vec::new());
    in_two_threads(&selections(), |selection| match conformance::suite(selection) {
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
