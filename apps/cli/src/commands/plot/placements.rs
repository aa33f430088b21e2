//! Draws placements as a schedule, as a picture of the machine at one time, or as an animation. The
//! placements are the JSON lines written by `simulate --placements`.

use std::io::BufRead;
use std::path::Path;

use pavior::draw::Placed;
use pavior::{Cuboid, Grid, json};
use serde_json::Value;

use super::{one_input, page, write_text, wrong};
use crate::args::PlotArgs;
use crate::failure::Failure;
use crate::{files, input};

#[derive(Default)]
pub(super) struct Placements {
    pub(super) placed: Vec<Placed>,
    /// The job name of each placement, and the submit time unless the placement is a move.
    pub(super) jobs: Vec<(Value, Option<f64>)>,
    /// The time unit, if the first placement specifies one.
    pub(super) unit: Option<String>,
}

/// Draws a schedule, the machine at one time, or an animation.
pub(super) fn draw(path: &Path, args: &PlotArgs) -> Result<(), Failure> {
    one_input(args)?;
    let options = &args.placements;
    let Some(machine) = &options.machine else {
        return Err(Failure::usage("the placements do not specify the machine; add --machine"));
    };
    let grid: Grid = input::machine(machine)?;
    if !(options.seconds > 0.0 && options.seconds <= 3600.0) {
        return Err(Failure::usage("--seconds must be above 0 and at most 3600"));
    }
    let all = read(files::open(path)?, &grid).map_err(|error| wrong(path, error))?;
    let unit = options.unit.as_ref().or(all.unit.as_ref()).cloned().unwrap_or_default();
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let title = |usual: &str| args.title.clone().unwrap_or_else(|| format!("{usual}: {name}"));
    if options.html {
        let page = page::render(&grid, all).map_err(|error| wrong(path, error))?;
        return write_text(args, &page);
    }
    let placed = &all.placed;
    let nodes = title("Running jobs and their nodes");
    let svg = if let Some(at) = options.at {
        pavior::draw::instant(&nodes, &grid, placed, at, &unit)
    } else if options.animate {
        pavior::draw::animation(&nodes, &grid, placed, options.seconds, &unit)
    } else {
        let ends = (options.from, options.to);
        let title = title("Utilization and jobs over time");
        pavior::draw::schedule(&title, &grid, placed, ends, &unit)
    };
    write_text(args, &svg.map_err(|error| wrong(path, error))?)
}

/// Reads placements.
///
/// # Errors
/// Returns a message about the first line that is not a placement on this machine.
fn read(input: impl BufRead, grid: &Grid) -> Result<Placements, String> {
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
                "line {}: expected a placement on {grid} with job, start, end and parts",
                number + 1
            )
        })?;
        if all.placed.is_empty() {
            all.unit = value.get("unit").and_then(Value::as_str).map(String::from);
        }
        // A job that moves does not wait again.
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
    let numbers = |key: &str| -> Option<Vec<u64>> {
        part.get(key)?.as_array()?.iter().map(Value::as_u64).collect()
    };
    let base = input::per_axis(&numbers("base")?, grid, 0)?;
    let sides = input::per_axis(&numbers("sides")?, grid, 1)?;
    let cuboid = Cuboid { base, sides };
    cuboid.lies_on(grid).then_some(cuboid)
}
