//! The nodes of the cluster by name, and whether they lie as they lay before.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::objects::{Known as _, Node};
use crate::tracked::Changes;

/// The nodes of the cluster. They are read as a table by name.
///
/// Invariant: two of these with the same layout have the same names, each with the same labels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    all: BTreeMap<String, Node>,
    layout: Layout,
    /// Nodes that take pods otherwise than before.
    changes: Changes<String>,
}

/// A state of all names and labels. A later state never has the number of an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout(u64);

impl Layout {
    /// One that was never before in this process.
    fn fresh() -> Layout {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Layout(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl Nodes {
    /// What all that depends on names and labels alone may be kept for.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// The nodes that came, went, or take pods otherwise since this was last asked.
    pub(crate) fn changes(&mut self) -> Changes<String> {
        std::mem::take(&mut self.changes)
    }

    /// Puts a node in, in the place of the one that had its name.
    pub(crate) fn insert(&mut self, name: String, node: Node) {
        let old = self.all.get(&name);
        let same =
            |old: &Node| old.name() == node.name() && old.metadata.labels == node.metadata.labels;
        if !old.is_some_and(same) {
            self.layout = Layout::fresh();
        }
        if !old.is_some_and(|old| same(old) && old.takes_as(&node)) {
            self.changes.note(name.clone());
        }
        self.all.insert(name, node);
    }

    pub(crate) fn remove(&mut self, name: &str) {
        if self.all.remove(name).is_some() {
            self.layout = Layout::fresh();
            self.changes.note(name.to_string());
        }
    }
}

impl FromIterator<(String, Node)> for Nodes {
    fn from_iter<I: IntoIterator<Item = (String, Node)>>(all: I) -> Nodes {
        Nodes { all: all.into_iter().collect(), layout: Layout::fresh(), changes: Changes::All }
    }
}

impl Deref for Nodes {
    type Target = BTreeMap<String, Node>;

    fn deref(&self) -> &BTreeMap<String, Node> {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(name: &str, x: &str, ready: &str) -> Node {
        let condition = json!({ "type": "Ready", "status": ready });
        let node = json!({
            "metadata": { "name": name, "labels": { "x": x } },
            "status": { "conditions": [condition] },
        });
        serde_json::from_value(node).unwrap()
    }

    #[test]
    fn only_names_and_labels_make_another_layout() {
        let mut nodes = Nodes::default();
        let mut seen = vec![nodes.layout()];
        let mut is_new = |nodes: &Nodes| {
            let is_new = !seen.contains(&nodes.layout());
            seen.push(nodes.layout());
            is_new
        };
        nodes.insert("a".into(), node("a", "0", "True"));
        assert!(is_new(&nodes));
        let before = nodes.clone();
        nodes.insert("a".into(), node("a", "0", "False"));
        assert_eq!(before.layout(), nodes.layout());
        assert!(!nodes["a"].is_ready());
        nodes.insert("a".into(), node("a", "1", "False"));
        assert!(is_new(&nodes));
        nodes.insert("b".into(), node("b", "1", "False"));
        assert!(is_new(&nodes));
        nodes.remove("c");
        assert!(!is_new(&nodes));
        nodes.remove("b");
        assert!(is_new(&nodes));
        // The nodes are those of before, but what came between is not looked at.
        nodes = std::iter::once(("a".to_string(), node("a", "1", "False"))).collect();
        assert!(is_new(&nodes));
    }
}
