//! The names of a machine's nodes, as written in a configuration.
//!
//! ```text
//!   n{:03}               the node's number, x fastest, from `first` (0)
//!   n{x}-{y:02}-{z}      its coordinates, from `first` (1)
//!   c[01-04]u[02,08]     the names of a list, or of several, in the order of numbers
//!   { a17 = [0, 0, 0] }  the coordinates of each name
//! ```

use std::collections::{BTreeMap, HashSet};

use pavior::text::shown;
use pavior::{Coordinates, Grid, NodeId};

use super::NodeName;
use super::hosts::expand;
use crate::config::Nodes;

/// Returns the name of each node, by number.
///
/// # Errors
/// If a name is missing, invalid, or shared by two nodes, with a sentence.
pub(crate) fn names(
    grid: &Grid,
    nodes: Nodes,
    first: Option<u32>,
) -> Result<Vec<NodeName>, String> {
    let is_pattern = matches!(&nodes, Nodes::Text(text) if text.contains(['{', '}']));
    if first.is_some() && !is_pattern {
        return Err("first applies only to patterns such as n{x}-{y}-{z}".into());
    }
    let names = match nodes {
        Nodes::Text(pattern) if is_pattern => of_pattern(grid, &pattern, first)?,
        Nodes::Text(list) => of_lists(grid, &[list])?,
        Nodes::Lists(lists) => of_lists(grid, &lists)?,
        Nodes::Table(table) => of_table(grid, table)?,
    };
    let mut known = HashSet::new();
    match names.iter().find(|name| !known.insert(*name)) {
        Some(name) => Err(format!("nodes: {name} is the name of two nodes")),
        None => Ok(names),
    }
}

fn read(name: &str) -> Result<NodeName, String> {
    name.parse().map_err(|_| format!("nodes: \"{}\" is not a valid Slurm name", shown(name)))
}

fn of_lists(grid: &Grid, lists: &[String]) -> Result<Vec<NodeName>, String> {
    let mut names = Vec::new();
    for list in lists {
        let more = expand(list);
        names.extend(more.ok_or_else(|| {
            format!("nodes: \"{}\" is not a valid Slurm name or list of names", shown(list))
        })?);
    }
    if names.len() != grid.nodes() as usize {
        return Err(format!("nodes: {} names for {} nodes", names.len(), grid.nodes()));
    }
    Ok(names)
}

fn of_table(grid: &Grid, table: BTreeMap<String, Vec<u16>>) -> Result<Vec<NodeName>, String> {
    let mut names = vec![String::new(); grid.nodes() as usize];
    for (name, coordinates) in table {
        let mut point: Coordinates = [0; 3];
        let fits = coordinates.len() == grid.axes();
        if fits {
            point[..coordinates.len()].copy_from_slice(&coordinates);
        }
        if !fits || !grid.contains(point) {
            return Err(format!("nodes.{name}: {coordinates:?} is not a node of {grid}"));
        }
        let place = &mut names[grid.id(point).index()];
        if !place.is_empty() {
            return Err(format!("nodes.{name}: {coordinates:?} is already {place}"));
        }
        *place = name;
    }
    if let Some(node) = names.iter().position(String::is_empty) {
        let point = grid.point(NodeId(node as u32));
        return Err(format!("nodes: no name for {:?}", &point[..grid.axes()]));
    }
    names.iter().map(|name| read(name)).collect()
}

/// A placeholder in a pattern, for the node's number or a coordinate, with leading zeros.
struct Hole {
    axis: Option<usize>,
    width: usize,
}

/// Text, then a placeholder; the last text has none.
type Parts<'p> = Vec<(&'p str, Option<Hole>)>;

const AXES: [&str; 3] = ["x", "y", "z"];

fn of_pattern(grid: &Grid, pattern: &str, first: Option<u32>) -> Result<Vec<NodeName>, String> {
    let fault = |reason: &str| format!("nodes = \"{}\": {reason}", shown(pattern));
    let parts = parts(pattern).ok_or_else(|| {
        fault("one {} or {:02} stands for the number, {x}, {y} and {z} for the coordinates")
    })?;
    let holes = || parts.iter().filter_map(|(_, hole)| hole.as_ref());
    let by_number = holes().any(|hole| hole.axis.is_none());
    if by_number && holes().count() > 1 {
        return Err(fault("either one {} or {x}, {y} and {z}"));
    }
    for (axis, name) in AXES.iter().enumerate().filter(|_| !by_number) {
        match (axis < grid.axes(), holes().any(|hole| hole.axis == Some(axis))) {
            (true, false) => return Err(fault(&format!("{{{name}}} is missing"))),
            (false, true) => return Err(fault(&format!("{grid} has no axis {name}"))),
            _ => {}
        }
    }
    let first = u64::from(first.unwrap_or(u32::from(!by_number)));
    let name = |node: u32| {
        let point = grid.point(NodeId(node));
        let mut name = String::new();
        for (text, hole) in &parts {
            name += text;
            if let Some(Hole { axis, width }) = hole {
                let number = first + axis.map_or(u64::from(node), |axis| u64::from(point[axis]));
                name += &format!("{number:0width$}");
            }
        }
        read(&name)
    };
    (0..grid.nodes()).map(name).collect()
}

/// Splits a pattern, or returns `None` if its braces are not placeholders.
fn parts(pattern: &str) -> Option<Parts<'_>> {
    let (mut parts, mut rest) = (Vec::new(), pattern);
    while let Some((text, behind)) = rest.split_once('{') {
        let (inside, tail) = behind.split_once('}')?;
        let (axis, format) = inside.split_once(':').unwrap_or((inside, ""));
        let axis = match axis {
            "" => None,
            name => Some(AXES.iter().position(|axis| *axis == name)?),
        };
        let width = match format {
            "" => 0,
            _ => format.strip_prefix('0')?.parse().ok().filter(|&width: &usize| width <= 12)?,
        };
        if text.contains('}') {
            return None;
        }
        parts.push((text, Some(Hole { axis, width })));
        rest = tail;
    }
    let ends = !rest.contains('}') && !parts.is_empty();
    parts.push((rest, None));
    ends.then_some(parts)
}
