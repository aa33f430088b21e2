//! Advance reservations, read from a list.

use std::io::BufRead;

use pavior_kernel::{Time, json};
use pavior_mesh::{Cuboid, Grid};
use serde::Deserialize;

use crate::TimeUnit;
use crate::traces::{LineError, Lines, ReadError};

/// Nodes that no job may use between two times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedNodes {
    /// The reserved boxes. There is at least one box, and boxes may overlap.
    pub boxes: Vec<Cuboid>,
    /// The time from which the nodes must be free.
    pub from: Time,
    /// The time from which jobs may use the nodes again, always later than `from`.
    pub to: Time,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    boxes: Vec<Part>,
    #[serde(default)]
    nodes: Vec<Vec<u16>>,
    from: f64,
    to: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    base: Vec<u16>,
    sides: Vec<u16>,
}

/// Reads a list of reservations. Each line is a JSON object that gives boxes or nodes, and times in
/// time units: `{"boxes":[{"base":[0,0],"sides":[4,2]}],"from":3600,"to":7200}` or
/// `{"nodes":[[1,1],[2,1]],"from":3600,"to":7200}`. Blank lines are ignored.
///
/// # Errors
/// Returns an error if the reader fails, or if a line is malformed, contains nodes outside the
/// machine, or has an end that is not after the start.
pub fn read_reservations(
    reader: impl BufRead,
    grid: &Grid,
    unit: TimeUnit,
) -> Result<Vec<ReservedNodes>, ReadError> {
    let mut lines = Lines::new(reader);
    let mut all = Vec::new();
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
        all.push(line.reserved(grid, unit).map_err(|reason| fault(0, reason))?);
    }
    Ok(all)
}

impl Line {
    fn reserved(self, grid: &Grid, unit: TimeUnit) -> Result<ReservedNodes, String> {
        for (name, at) in [("from", self.from), ("to", self.to)] {
            if !(0.0..=1e12).contains(&at) {
                return Err(format!("`{name}` must be a time from 0 to 1e12, not {at}"));
            }
        }
        let (from, to) = (unit.time(self.from), unit.time(self.to));
        if from >= to {
            return Err("`to` must be later than `from`".into());
        }
        let single = |node: Vec<u16>| Part { sides: vec![1; node.len()], base: node };
        let parts = self.boxes.into_iter().chain(self.nodes.into_iter().map(single));
        let boxes = parts.map(|part| part.on(grid)).collect::<Result<Vec<_>, _>>()?;
        if boxes.is_empty() {
            return Err("a line must have `boxes` or `nodes`".into());
        }
        Ok(ReservedNodes { boxes, from, to })
    }
}

impl Part {
    fn on(&self, grid: &Grid) -> Result<Cuboid, String> {
        let Part { base, sides } = self;
        if base.len() != grid.axes() || sides.len() != grid.axes() {
            return Err(format!("boxes and nodes on {grid} must have {} coordinates", grid.axes()));
        }
        let (mut at, mut long) = ([0; 3], [1; 3]);
        at[..base.len()].copy_from_slice(base);
        long[..sides.len()].copy_from_slice(sides);
        let cuboid = Cuboid::new(at, long);
        if cuboid.lies_on(grid) {
            Ok(cuboid)
        } else {
            Err(format!("the box at {base:?} with sides {sides:?} is not on {grid}"))
        }
    }
}
