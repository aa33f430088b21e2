//! Converts a machine's state to and from JSON.

use pavior::strategies::Selection;
use pavior::{Cuboid, Grid, JobId, Placement};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::arguments::read;
use crate::errors::value;
use crate::jobs::{JobName, Jobs};
use crate::shared_state::{Inner, SharedState};

/// A machine's state in JSON. Points and sides have one number per axis of the machine.
#[derive(Serialize, Deserialize)]
struct State {
    failed: Vec<Vec<u16>>,
    jobs: Vec<HeldJob>,
    machine: String,
    #[serde(default = "usual_seed")]
    seed: u64,
    #[serde(default = "usual_rule")]
    shape_rule: String,
    strategy: String,
}

#[derive(Serialize, Deserialize)]
struct HeldJob {
    job: JobName,
    parts: Vec<Part>,
}

#[derive(Serialize, Deserialize)]
struct Part {
    base: Vec<u16>,
    sides: Vec<u16>,
}

fn usual_seed() -> u64 {
    1
}

fn usual_rule() -> String {
    "compact".to_string()
}

/// Formats the state as JSON. Raises `TypeError` if the strategy is a Python class, because
/// `from_json` could not find it.
pub(crate) fn to_json(shared: &SharedState, inner: &Inner) -> PyResult<String> {
    let (axes, strategy) = (shared.grid.axes(), shared.selection.to_string());
    if strategy.parse::<Selection>().is_err() {
        return Err(PyTypeError::new_err(format!(
            "a machine whose strategy is a Python class, such as {strategy}, cannot be stored"
        )));
    }
    let part = |part: &Cuboid| Part {
        base: part.base[..axes].to_vec(),
        sides: part.sides[..axes].to_vec(),
    };
    let job = |(number, placement): (JobId, &Placement)| HeldJob {
        job: inner.jobs.name(number),
        parts: placement.parts().iter().map(part).collect(),
    };
    let state = State {
        failed: inner.machine.failed().map(|at| shared.grid.point(at)[..axes].to_vec()).collect(),
        jobs: inner.machine.grants().into_iter().map(job).collect(),
        machine: shared.grid.to_string(),
        seed: shared.seed,
        shape_rule: shared.rule.to_string(),
        strategy,
    };
    serde_json::to_string(&state).map_err(value)
}

pub(crate) fn from_json(text: &str) -> PyResult<SharedState> {
    let state = pavior::json::read(text.as_bytes()).map_err(value)?;
    let state: State = serde_json::from_value(state).map_err(value)?;
    let grid: Grid = read(&state.machine)?;
    let selection: Selection = read(&state.strategy)?;
    let built = pavior::Machine::with_seed(grid, &selection, state.seed);
    let mut built = built.map_err(value)?;
    let mut jobs = Jobs::default();
    for HeldJob { job: name, parts } in state.jobs {
        if jobs.has(&built, &name) {
            return Err(value(format!("job {name} appears twice")));
        }
        let number = jobs.number_for(&name);
        let part = |part: &Part| {
            Ok(Cuboid::new(numbers(&grid, &part.base, 0)?, numbers(&grid, &part.sides, 1)?))
        };
        let parts = parts.iter().map(part).collect::<PyResult<Vec<Cuboid>>>()?;
        let held = built.allocate_at(number, parts.into());
        held.map_err(|error| value(format!("job {name}: {error}")))?;
        jobs.add(&name, number);
    }
    for node in &state.failed {
        let point = numbers(&grid, node, 0)?;
        if !grid.contains(point) {
            return Err(value(format!("{node:?} is not a node of {grid}")));
        }
        built.fail(grid.id(point)).map_err(value)?;
    }
    Ok(SharedState::new(built, jobs, read(&state.shape_rule)?, state.seed))
}

/// Reads one number per axis.
fn numbers(grid: &Grid, of: &[u16], fill: u16) -> PyResult<[u16; 3]> {
    if of.len() != grid.axes() {
        return Err(value(format!("expected {} whole numbers, but found {of:?}", grid.axes())));
    }
    let mut all = [fill; 3];
    all[..of.len()].copy_from_slice(of);
    Ok(all)
}
