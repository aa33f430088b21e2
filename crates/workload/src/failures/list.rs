//! Failures and repairs read from a list.

use std::io::BufRead;

use pavior_kernel::json;
use pavior_mesh::{Cubes, Grid, NodeId};
use serde::Deserialize;

use super::{Change, Component, FailureEvent, SWITCHES};
use crate::TimeUnit;
use crate::traces::{LineError, Lines, ReadError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    op: Op,
    node: Option<Vec<u16>>,
    cube: Option<Vec<u16>>,
    switch: Option<u32>,
    at: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Op {
    Fail,
    Repair,
}

/// Reads a list of events. Each line is a JSON object in the live allocator's format, with the time
/// in units: `{"op":"fail","node":[1,1,0],"at":3600}`. On a machine made of cubes, a line may
/// instead identify a `cube` by its position among the cubes, or a `switch` by a number from 0 to
/// 47. Blank lines are ignored. Events are returned in time order. At equal times, repairs come
/// first, and list order is otherwise preserved.
///
/// # Errors
/// Returns an error if the reader fails, if a line is malformed, or if a line names an unknown
/// component.
pub fn read_failures(
    reader: impl BufRead,
    grid: &Grid,
    unit: TimeUnit,
) -> Result<Vec<FailureEvent>, ReadError> {
    let mut lines = Lines::new(reader);
    let mut events = Vec::new();
    while lines.advance()? {
        let text = lines.line();
        if text.trim_ascii().is_empty() {
            continue;
        }
        let fault = |from: usize, reason: String| {
            LineError::new(lines.number, text, from.min(text.len())..text.len(), reason)
        };
        let line: Line = json::read(text)
            .map_err(|error| fault(error.column().saturating_sub(1), json::reason(&error)))?;
        if !(0.0..=1e12).contains(&line.at) {
            return Err(
                fault(0, format!("`at` must be a time from 0 to 1e12, not {}", line.at)).into()
            );
        }
        let component = line.component(grid).map_err(|reason| fault(0, reason))?;
        let change = match line.op {
            Op::Fail => Change::Fail,
            Op::Repair => Change::Repair,
        };
        events.push(FailureEvent { at: unit.time(line.at), component, change });
    }
    events.sort_by_key(|event| (event.at, event.change));
    Ok(events)
}

impl Line {
    fn component(&self, grid: &Grid) -> Result<Component, String> {
        let cubes = || Cubes::of(grid).ok_or_else(|| format!("{grid} is not made of cubes"));
        match (&self.node, &self.cube, self.switch) {
            (Some(node), None, None) => Ok(Component::Node(place(node, grid, "node", grid)?)),
            (None, Some(cube), None) => {
                Ok(Component::Cube(place(cube, cubes()?.grid(), "cube", grid)?))
            }
            (None, None, Some(switch)) => {
                cubes()?;
                if switch < SWITCHES {
                    Ok(Component::Switch(switch))
                } else {
                    Err(format!("`switch` must be from 0 to {}, not {switch}", SWITCHES - 1))
                }
            }
            (None, None, None) => Err("a line must name a `node`, a `cube` or a `switch`".into()),
            _ => Err("a line must name only one of `node`, `cube` and `switch`".into()),
        }
    }
}

/// Returns a node's number on the machine, or a cube's number among the cubes.
fn place(given: &[u16], among: &Grid, what: &str, machine: &Grid) -> Result<NodeId, String> {
    if given.len() != among.axes() {
        return Err(format!("a {what} on {machine} must have {} coordinates", among.axes()));
    }
    let mut point = [0; 3];
    point[..given.len()].copy_from_slice(given);
    if among.contains(point) {
        Ok(among.id(point))
    } else {
        Err(format!("{what} {given:?} is outside {machine}"))
    }
}
