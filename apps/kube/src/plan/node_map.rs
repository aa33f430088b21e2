//! Maps a machine's coordinates to nodes.

use std::collections::{BTreeMap, HashMap};

use pavior::text::shown;
use pavior::{Coordinates, Grid, NodeId};

use crate::objects::{CoordinateSource, Node, Object as _, parse_digits};

/// The placeholders for coordinates in a node name pattern.
const PLACEHOLDERS: [&str; 3] = ["{x}", "{y}", "{z}"];

/// A machine's nodes by coordinates, and the faults that make nodes unusable.
#[derive(Debug)]
pub(crate) struct NodeMap<'a> {
    /// The node at each point, or `None` if there is no node or more than one.
    pub(crate) nodes: Vec<Option<&'a Node>>,
    pub(crate) ids: HashMap<&'a str, NodeId>,
    /// Unusable nodes, each with the reason.
    pub(crate) contradictory: Vec<String>,
}

impl<'a> NodeMap<'a> {
    /// Reads the coordinates of all nodes. Runs in O(n) time for n nodes.
    pub(crate) fn of(
        grid: &Grid,
        source: &CoordinateSource,
        all: impl Iterator<Item = &'a Node>,
    ) -> NodeMap<'a> {
        let mut nodes: Vec<Option<&Node>> = vec![None; grid.nodes() as usize];
        let mut shared: BTreeMap<NodeId, Vec<&str>> = BTreeMap::new();
        let mut contradictory = Vec::new();
        for node in all {
            match coordinates(source, grid, node) {
                Some(Ok(point)) => {
                    let id = grid.id(point);
                    if let Some(first) = nodes[id.index()].replace(node) {
                        let names = shared.entry(id).or_insert_with(|| vec![first.name()]);
                        names.push(node.name());
                    }
                }
                Some(Err(fault)) => {
                    contradictory.push(format!("{}: {fault}", shown(node.name())));
                }
                None => {}
            }
        }
        for (id, mut names) in shared {
            nodes[id.index()] = None;
            names.sort_unstable();
            let point = &grid.point(id)[..grid.axes()];
            let names: Vec<String> = names.iter().map(|name| shown(name).to_string()).collect();
            contradictory.push(format!(
                "{}: these nodes have the same coordinates, {point:?}",
                names.join(", ")
            ));
        }
        contradictory.sort_unstable();
        let points = nodes.iter().enumerate();
        let ids = points.filter_map(|(at, node)| Some(((*node)?.name(), NodeId(at as u32))));
        NodeMap { ids: ids.collect(), nodes, contradictory }
    }

    /// Returns the number of points that have no node or more than one.
    pub(crate) fn missing(&self) -> u32 {
        (self.nodes.len() - self.ids.len()) as u32
    }
}

/// Returns a node's coordinates or a fault in them, or `None` if the node is not in the machine.
pub(super) fn coordinates(
    source: &CoordinateSource,
    grid: &Grid,
    node: &Node,
) -> Option<Result<Coordinates, String>> {
    let texts = if let Some(pattern) = &source.pattern {
        match_pattern(pattern, node.name(), grid.axes())?
    } else {
        source.labels.iter().filter_map(|label| node.label(label)).collect()
    };
    (!texts.is_empty()).then(|| parse_coordinates(&texts, grid))
}

/// Parses a point's coordinates on a grid.
fn parse_coordinates(texts: &[&str], grid: &Grid) -> Result<Coordinates, String> {
    if texts.len() != grid.axes() {
        return Err(format!("has only {} of {} coordinates", texts.len(), grid.axes()));
    }
    let mut point: Coordinates = [0; 3];
    for (coordinate, text) in point.iter_mut().zip(texts) {
        *coordinate =
            parse_digits(text).ok_or_else(|| format!("`{}` is not a coordinate", shown(text)))?;
    }
    if grid.contains(point) {
        return Ok(point);
    }
    Err(format!("{:?} is not a node of {grid}", &point[..grid.axes()]))
}

/// Checks that a coordinate source matches the number of axes.
///
/// # Errors
/// Returns an error that describes the fault in a sentence.
pub(super) fn check_source(source: &CoordinateSource, axes: usize) -> Result<(), String> {
    match (&source.pattern, source.labels.len()) {
        (Some(_), 1..) => Err("nodes: specify labels or a pattern, not both".to_string()),
        (Some(pattern), 0) => {
            let (used, unused) = PLACEHOLDERS.split_at(axes);
            let is_valid = used.iter().all(|axis| pattern.matches(axis).count() == 1)
                && unused.iter().all(|axis| !pattern.contains(axis));
            let has_only_these = pattern.matches(['{', '}']).count() == 2 * axes;
            // A placeholder matches all digits at its position, so a digit after it never matches.
            let is_delimited = pattern
                .split('}')
                .skip(1)
                .all(|text| !text.starts_with(|next: char| next == '{' || next.is_ascii_digit()));
            let is_valid = is_valid && has_only_these && is_delimited;
            let list = used.join(", ");
            let fault = || {
                format!(
                    "nodes.pattern: must contain each of {list} exactly once, with text between \
                     them and no digit directly after any of them"
                )
            };
            is_valid.then_some(()).ok_or_else(fault)
        }
        (None, count) if count != axes => Err(format!(
            "nodes.labels: expected {axes} labels, one for each axis, but found {count}"
        )),
        (None, _) => Ok(()),
    }
}

/// Returns the digits in a name at each of the pattern's placeholders, x first.
fn match_pattern<'a>(pattern: &str, name: &'a str, axes: usize) -> Option<Vec<&'a str>> {
    let mut found = vec![""; axes];
    let (mut pattern, mut name) = (pattern, name);
    while let Some(at) = pattern.find('{') {
        name = name.strip_prefix(&pattern[..at])?;
        let axis = PLACEHOLDERS[..axes].iter().position(|axis| pattern[at..].starts_with(axis))?;
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        (found[axis], name) = name.split_at(digits);
        pattern = &pattern[at + PLACEHOLDERS[axis].len()..];
    }
    (name == pattern && found.iter().all(|digits| !digits.is_empty())).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, labels: &[(&str, &str)]) -> Node {
        let mut node = Node::default();
        node.metadata.name = Some(name.into());
        let labels = labels.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        node.metadata.labels = Some(labels.collect());
        node
    }

    fn map<'a>(source: &CoordinateSource, nodes: &'a [Node]) -> NodeMap<'a> {
        NodeMap::of(&"mesh:2x2".parse().unwrap(), source, nodes.iter())
    }

    #[test]
    fn names_that_match_the_pattern_give_coordinates() {
        let source = CoordinateSource { pattern: Some("rack-{y}-{x}.a".into()), labels: vec![] };
        let nodes = ["rack-0-1.a", "rack-1-0.a", "rack-0-2.a", "rack-1-.a", "other", "rack-1-1.b"];
        let nodes = nodes.map(|name| node(name, &[]));
        let found = map(&source, &nodes);
        assert_eq!(found.ids["rack-0-1.a"], NodeId(1));
        assert_eq!(found.ids["rack-1-0.a"], NodeId(2));
        assert_eq!(found.ids.len(), 2);
        assert_eq!(found.contradictory, ["rack-0-2.a: [2, 0] is not a node of mesh:2x2"]);
    }

    #[test]
    fn nodes_with_the_same_coordinates_are_unusable() {
        let source = CoordinateSource { pattern: None, labels: vec!["x".into(), "y".into()] };
        let nodes = [
            node("a", &[("x", "0"), ("y", "0")]),
            node("c", &[("x", "1"), ("y", "1")]),
            node("b", &[("x", "1"), ("y", "1")]),
            node("d", &[("x", "1")]),
            node("e", &[("x", "1"), ("y", "\u{1b}[2J")]),
            node("f", &[]),
        ];
        let found = map(&source, &nodes);
        let names: Vec<_> =
            found.nodes.iter().map(|node| node.map(crate::objects::Object::name)).collect();
        assert_eq!(names, [Some("a"), None, None, None]);
        assert_eq!(found.missing(), 3);
        let faults = &found.contradictory;
        assert_eq!(
            faults[..2],
            [
                "b, c: these nodes have the same coordinates, [1, 1]",
                "d: has only 1 of 2 coordinates"
            ]
        );
        assert!(faults[2].starts_with("e: `") && !faults[2].contains('\u{1b}'), "{faults:?}");
    }

    #[test]
    fn a_pattern_must_contain_each_axis_once() {
        let fault = |pattern: &str| {
            let source = CoordinateSource { pattern: Some(pattern.into()), labels: vec![] };
            check_source(&source, 2).is_err()
        };
        assert!(!fault("n{x}-{y}"));
        for wrong in
            ["n{x}", "n{x}{x}{y}", "n{x}-{y}-{z}", "n", "n{x}{y}", "n{x}-{y}{", "n{x}-{y}{a}"]
        {
            assert!(fault(wrong), "{wrong}");
        }
        // No name can match these patterns.
        assert!(fault("n{x}0-{y}") && fault("n{x}-{y}0") && !fault("n0{x}-0{y}a"));
    }
}
