//! Parsing of placements from the JSON lines of `simulate --placements`.

use std::io::BufRead;

use pavior::draw::Placed;
use pavior::{Cuboid, Grid, json};
use serde_json::Value;

#[derive(Default)]
pub(super) struct Placements {
    pub(super) placed: Vec<Placed>,
    /// The name of each placement's job, and its submit time unless the placement follows a move.
    pub(super) jobs: Vec<(Value, Option<f64>)>,
    /// The unit of times, if the first placement specifies it.
    pub(super) unit: Option<String>,
}

/// Reads placements.
///
/// # Errors
/// Returns a message about the first line that is not a placement on this machine.
pub(super) fn read(input: impl BufRead, grid: &Grid) -> Result<Placements, String> {
    let mut all = Placements::default();
    for (number, line) in input.lines().enumerate() {
        let line = line.map_err(|error| error.to_string())?;
        if line.trim().is_empty() {
            continue;
        }
        let mut value: Value =
            json::read(line.as_bytes()).map_err(|error| format!("line {}: {error}", number + 1))?;
        let placed = read_placed(&value, grid).ok_or_else(|| {
            format!(
                "line {}: not a valid placement on {grid}: expected job, start, end and parts",
                number + 1
            )
        })?;
        if all.placed.is_empty() {
            all.unit = value.get("unit").and_then(Value::as_str).map(String::from);
        }
        // A job that was moved did not wait again.
        let waits = value.get("moved").is_none();
        let submit = value.get("submit").and_then(Value::as_f64).filter(|_| waits);
        all.jobs.push((value["job"].take(), submit));
        all.placed.push(placed);
    }
    Ok(all)
}

fn read_placed(value: &Value, grid: &Grid) -> Option<Placed> {
    let job = match value.get("job")? {
        Value::String(name) => name.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let start = value.get("start")?.as_f64()?;
    let end = match value.get("end") {
        None | Some(Value::Null) => None,
        Some(end) => Some(end.as_f64()?),
    };
    if end.is_some_and(|end| end < start) {
        return None;
    }
    let parts: Option<Vec<Cuboid>> =
        value.get("parts")?.as_array()?.iter().map(|part| cuboid(part, grid)).collect();
    Some(Placed { job, start, end, parts: parts? })
}

fn cuboid(part: &Value, grid: &Grid) -> Option<Cuboid> {
    let (mut base, mut sides) = ([0; 3], [1; 3]);
    for (key, target) in [("base", &mut base), ("sides", &mut sides)] {
        let numbers = part.get(key)?.as_array()?;
        if numbers.len() != grid.axes() {
            return None;
        }
        for (axis, number) in numbers.iter().enumerate() {
            target[axis] = u16::try_from(number.as_u64()?).ok()?;
        }
    }
    let cuboid = Cuboid { base, sides };
    cuboid.lies_on(grid).then_some(cuboid)
}
