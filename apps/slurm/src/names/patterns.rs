//! The node names in a configuration, in one of these formats:
//!
//! ```text
//!   n{:03}               the node number, x fastest, starting at `first` (0)
//!   n{x}-{y:02}-{z}      the node's coordinates, from `first` (1)
//!   c[01-04]u[02,08]     one or more lists of names, in node order
//!   { a17 = [0, 0, 0] }  the coordinates of each name
//! ```

use std::collections::{BTreeMap, HashSet};

use pavior::text::shown;
use pavior::{Coordinates, Grid, NodeId};
use serde::Deserialize;

use super::NodeName;
use super::node_lists::expand;

/// The node names as written in the configuration.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a pattern such as n{:03} or n{x}-{y}-{z}, lists such as n[01-64], or a table"
)]
pub(crate) enum Nodes {
    /// A pattern or a list of names.
    Text(String),
    /// Lists of names, which are concatenated.
    Lists(Vec<String>),
    /// A table of node names and their coordinates.
    Table(BTreeMap<String, Vec<u16>>),
}

/// Returns the node names, indexed by node number.
///
/// # Errors
/// Returns an error if a name is missing, invalid or used twice.
pub(crate) fn names(
    grid: &Grid,
    nodes: Nodes,
    first: Option<u32>,
) -> Result<Vec<NodeName>, String> {
    let is_pattern = matches!(&nodes, Nodes::Text(text) if text.contains(['{', '}']));
    if first.is_some() && !is_pattern {
        return Err("first: applies only to patterns such as n{x}-{y}-{z}".into());
    }
    let names = match nodes {
        Nodes::Text(pattern) if is_pattern => from_pattern(grid, &pattern, first)?,
        Nodes::Text(list) => from_lists(grid, &[list])?,
        Nodes::Lists(lists) => from_lists(grid, &lists)?,
        Nodes::Table(table) => from_table(grid, table)?,
    };
    let mut known = HashSet::new();
    match names.iter().find(|name| !known.insert(*name)) {
        Some(name) => Err(format!("nodes: two nodes are named {name}")),
        None => Ok(names),
    }
}

fn parse_name(name: &str) -> Result<NodeName, String> {
    name.parse().map_err(|_| format!("nodes: \"{}\" is not a valid Slurm name", shown(name)))
}

fn from_lists(grid: &Grid, lists: &[String]) -> Result<Vec<NodeName>, String> {
    let mut names = Vec::new();
    for list in lists {
        let more = expand(list);
        names.extend(more.ok_or_else(|| {
            format!("nodes: \"{}\" is not a valid Slurm name or list of names", shown(list))
        })?);
    }
    if names.len() != grid.nodes() as usize {
        return Err(format!("nodes: expected {} names, but found {}", grid.nodes(), names.len()));
    }
    Ok(names)
}

fn from_table(grid: &Grid, table: BTreeMap<String, Vec<u16>>) -> Result<Vec<NodeName>, String> {
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
            return Err(format!("nodes.{name}: {coordinates:?} is already named {place}"));
        }
        *place = name;
    }
    if let Some(node) = names.iter().position(String::is_empty) {
        let point = grid.point(NodeId(node as u32));
        return Err(format!("nodes: {:?} has no name", &point[..grid.axes()]));
    }
    names.iter().map(|name| parse_name(name)).collect()
}

fn from_pattern(grid: &Grid, pattern: &str, first: Option<u32>) -> Result<Vec<NodeName>, String> {
    let names = pavior::workload::hosts::of_pattern(grid, pattern, first);
    let names = names.map_err(|reason| format!("nodes = \"{}\": {reason}", shown(pattern)))?;
    names.iter().map(|name| parse_name(name)).collect()
}
