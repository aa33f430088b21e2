//! The difference between the configured nodes and the partitions' nodes.

use std::collections::HashSet;

use crate::Config;
use crate::ledger::Ledger;
use crate::names::NodeName;

/// Nodes that are only in the configuration or only in the partitions.
pub(crate) struct NodeDifference<'a> {
    pub(crate) missing: Vec<&'a NodeName>,
    pub(crate) unexpected: Vec<&'a NodeName>,
}

impl<'a> NodeDifference<'a> {
    pub(crate) fn new(config: &'a Config, ledger: &'a Ledger) -> NodeDifference<'a> {
        let present: HashSet<&NodeName> = ledger.nodes.iter().map(|node| &node.name).collect();
        let unexpected = present.iter().filter(|name| !config.nodes.contains_key(name));
        let mut unexpected: Vec<&NodeName> = unexpected.copied().collect();
        unexpected.sort_unstable();
        let missing = config.names.iter().filter(|name| !present.contains(name)).collect();
        NodeDifference { missing, unexpected }
    }

    /// Describes the difference, in at most two lines.
    pub(crate) fn faults(&self, config: &Config) -> Vec<String> {
        let partition = &config.partition;
        let line = |nodes: &[&NodeName], text: String| {
            let first = nodes.first()?;
            let (count, noun) = (nodes.len(), if nodes.len() == 1 { "node" } else { "nodes" });
            Some(format!("{count} {noun} {text}, starting with {first}"))
        };
        let missing = format!("in the configuration but not in partition {partition}");
        let unexpected = format!("in partition {partition} but not in the configuration");
        let lines = [line(&self.missing, missing), line(&self.unexpected, unexpected)];
        lines.into_iter().flatten().collect()
    }
}
