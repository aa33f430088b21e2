//! Where nodes lie, kept from plan to plan.

use std::sync::Arc;

use serde_json::json;

use super::races::Draw;
use crate::nodes::Nodes;
use crate::objects::{Naming, Node};
use crate::plan::places::{Kept, Places};

fn node(name: &str, draw: &mut Draw) -> Node {
    let labels = json!({ "x": draw.below(3).to_string(), "y": draw.below(2).to_string() });
    let ready = if draw.below(2) == 0 { "True" } else { "False" };
    let node = json!({
        "metadata": { "name": name, "labels": labels, "resourceVersion": draw.0.to_string() },
        "status": { "conditions": [{ "type": "Ready", "status": ready }] },
    });
    serde_json::from_value(node).unwrap()
}

#[test]
fn what_is_kept_is_what_is_read_anew_after_every_change() {
    let grids = ["mesh:3x2", "torus:2x2"].map(|grid| grid.parse().unwrap());
    let by_labels = Naming { labels: vec!["x".into(), "y".into()], pattern: None };
    let by_pattern = Naming { labels: Vec::new(), pattern: Some("n{x}-{y}".into()) };
    let (mut draw, mut nodes, mut kept) = (Draw(1), Nodes::default(), Kept::default());
    let mut reused = 0;
    for change in 0..4000 {
        let name = format!("n{}-{}", draw.below(3), draw.below(3));
        match draw.below(12) {
            0..=2 => nodes.remove(&name),
            // The watch began anew.
            3 => nodes = nodes.iter().map(|(name, node)| (name.clone(), node.clone())).collect(),
            4 | 5 => nodes.insert(name.clone(), node(&name, &mut draw)),
            // Its condition alone changes, as most news of nodes say.
            _ => {
                if let Some(mut node) = nodes.get(&name).cloned() {
                    node.spec.unschedulable = !node.spec.unschedulable;
                    nodes.insert(name, node);
                }
            }
        }
        let grid = &grids[usize::from(draw.below(20) == 0)];
        let naming = if draw.below(20) == 0 { &by_pattern } else { &by_labels };
        let before = kept.latest().cloned();
        let places = kept.of(grid, naming, &nodes);
        let by_place = places.nodes(&nodes);
        assert_eq!(*places, Places::of(grid, naming, nodes.values()), "change {change}");
        let found: Vec<_> = by_place.iter().map(|node| node.map(std::ptr::from_ref)).collect();
        let named = places.names.iter().map(|name| name.as_ref().map(|name| &nodes[name]));
        let named: Vec<_> = named.map(|node| node.map(std::ptr::from_ref)).collect();
        assert_eq!(found, named, "change {change}");
        reused += usize::from(before.is_some_and(|before| Arc::ptr_eq(&before, &places)));
    }
    assert!(reused > 1000, "{reused}");
}
