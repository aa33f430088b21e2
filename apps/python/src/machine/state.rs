//! The state of a machine as text, and what several calls do with it.

use pavior_allocation::{Placement, Selection};
use pavior_mesh::{Cuboid, Grid, JobId};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::{machine, read, value};
use crate::jobs::{JobName, Jobs};
use crate::shared::{Inner, Shared};

/// Grants boxes to a job.
///
/// # Errors
/// If they are not free, in words; nothing has changed then.
pub(crate) fn hold(
    machine: &mut pavior_allocation::Machine,
    job: JobId,
    parts: Vec<Cuboid>,
) -> Result<Placement, String> {
    let placement = match parts[..] {
        [whole] => Placement::Whole(whole),
        _ => Placement::Parts(parts),
    };
    machine.allocate_at(job, placement).cloned().map_err(|error| error.to_string())
}

/// The state as JSON.
pub(crate) fn to_json(shared: &Shared, inner: &Inner) -> String {
    let axes = shared.grid.axes();
    let parts = |placement: &Placement| -> Vec<Value> {
        let part = |part: &Cuboid| json!({"base": part.base[..axes], "sides": part.sides[..axes]});
        placement.parts().iter().map(part).collect()
    };
    let grants = inner.machine.grants().into_iter();
    let jobs: Vec<Value> = grants
        .map(|(number, placement)| {
            let name = match &inner.jobs.name(number) {
                JobName::Number(number) => json!(number),
                JobName::Word(word) => json!(&**word),
            };
            json!({"job": name, "parts": parts(placement)})
        })
        .collect();
    let failed: Vec<Value> =
        inner.machine.failed().map(|node| json!(shared.grid.point(node)[..axes])).collect();
    json!({
        "machine": shared.grid.to_string(),
        "strategy": shared.selection.to_string(),
        "seed": shared.seed,
        "jobs": jobs,
        "failed": failed,
    })
    .to_string()
}

/// The state that a text tells of.
pub(crate) fn from_json(py: Python<'_>, text: &str) -> PyResult<Shared> {
    let state: Value = pavior_kernel::json::read(text.as_bytes()).map_err(value)?;
    let word = |key: &str| {
        state[key].as_str().ok_or_else(|| value(format!("`{key}` is missing or no text")))
    };
    let grid = machine(py, word("machine")?)?;
    let selection: Selection = read(py, word("strategy")?)?;
    let seed = state["seed"].as_u64().unwrap_or(1);
    let mut built = pavior_allocation::Machine::with_seed(grid, &selection, seed).map_err(value)?;
    let mut jobs = Jobs::default();
    for job in list(&state, "jobs")? {
        let name = match &job["job"] {
            Value::String(word) => JobName::Word(word.as_str().into()),
            number => JobName::Number(
                number.as_i64().ok_or_else(|| value("the name of a job is an int or a str"))?,
            ),
        };
        if jobs.has(&built, &name) {
            return Err(value(format!("job {name} is listed twice")));
        }
        let number = jobs.number_for(&name);
        let parts = list(job, "parts")?.iter().map(|part| cuboid(&grid, part));
        let parts: Vec<Cuboid> = parts.collect::<PyResult<_>>()?;
        hold(&mut built, number, parts).map_err(|error| value(format!("job {name}: {error}")))?;
        jobs.add(&name, number);
    }
    for node in list(&state, "failed")? {
        let point = numbers(&grid, node, 0)?;
        if (0..3).any(|axis| point[axis] >= grid.side(axis)) {
            return Err(value(format!("{node} is no node of {grid}")));
        }
        built.fail(grid.id(point)).map_err(value)?;
    }
    Ok(Shared::new(grid, selection, seed, Inner::new(built, jobs)))
}

fn list<'v>(of: &'v Value, key: &str) -> PyResult<&'v Vec<Value>> {
    of[key].as_array().ok_or_else(|| value(format!("`{key}` is missing or no list")))
}

fn cuboid(grid: &Grid, part: &Value) -> PyResult<Cuboid> {
    Ok(Cuboid::new(numbers(grid, &part["base"], 0)?, numbers(grid, &part["sides"], 1)?))
}

/// One number an axis.
fn numbers(grid: &Grid, of: &Value, fill: u16) -> PyResult<[u16; 3]> {
    let wrong = || value(format!("{of} is no list of {} whole numbers", grid.axes()));
    let entries = of.as_array().filter(|all| all.len() == grid.axes()).ok_or_else(wrong)?;
    let mut all = [fill; 3];
    for (axis, entry) in entries.iter().enumerate() {
        let number = entry.as_u64().and_then(|number| u16::try_from(number).ok());
        all[axis] = number.ok_or_else(wrong)?;
    }
    Ok(all)
}
