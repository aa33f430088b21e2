//! The partition's nodes, parsed from the output of `sinfo`.

use std::collections::HashSet;

use crate::ledger::demands::{self, Offer};
use crate::ledger::records::Unreadable;
use crate::ledger::{constraints, gres};
use crate::names::{NodeName, number};
use crate::{CallFault, SlurmError};

/// A node in the partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlurmNode {
    pub(crate) name: NodeName,
    pub(crate) condition: Condition,
    pub(crate) offer: Offer,
}

/// A node's availability for new jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Idle,
    /// A job holds the node. Other jobs may be placed there once that job ends.
    Taken,
    /// No job holds the node, but only jobs in its reservation may be placed there.
    Reserved,
    /// Slurm is powering off the node and starts no job there until it can be powered on again.
    PoweringOff,
    /// The node is down, drained or not responding.
    Unavailable,
}

/// The `sinfo` format, which prints a node's name, state, features, GRES, memory, processors,
/// processor layout and temporary disk space.
pub(super) const FORMAT: &str = "%N|%T|%f|%G|%m|%c|%z|%d";

/// Parses the output of `sinfo`, which contains no user text. Returns nodes and malformed lines.
pub(super) fn read(text: &str) -> Result<(Vec<SlurmNode>, Vec<Unreadable>), SlurmError> {
    if text.chars().next_back().is_some_and(|last| last != '\n') {
        let fault = CallFault::Malformed("it is truncated");
        return Err(SlurmError::Call { command: "sinfo", fault });
    }
    let (mut nodes, mut unreadable) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for line in text.lines() {
        match node(line) {
            // Given several partitions, `sinfo` may list a node once per partition.
            Some(node) if !seen.insert(node.name.clone()) => {}
            Some(node) => nodes.push(node),
            None => unreadable.push(Unreadable::new("a node's record cannot be parsed")),
        }
    }
    Ok((nodes, unreadable))
}

fn node(line: &str) -> Option<SlurmNode> {
    let fields: Vec<&str> = line.trim().split('|').collect();
    let [name, state, features, gres, memory, cpus, layout, disk] = fields[..] else {
        return None;
    };
    Some(SlurmNode {
        name: name.parse().ok()?,
        condition: condition(state),
        offer: Offer {
            // Features or resources that cannot be parsed satisfy no demand.
            features: constraints::parse_features(features).unwrap_or_default(),
            gres: gres::parse(gres).unwrap_or_default(),
            memory: demands::mebibytes(memory)?,
            cpus: number(cpus)?,
            layout: demands::layout(layout)?,
            disk: demands::mebibytes(disk)?,
        },
    })
}

/// Parses a node state and its flags, which may be `~` (off until a job needs the node), `#`
/// (powering on), `%` (powering off), `!` (will power off after its job; may be draining until
/// then), `-` (planned for a job) and `+` (with a completing job). Any other flag, such as `*` (not
/// responding), `$` (in maintenance) or `@` (will be rebooted), makes the node unavailable.
fn condition(state: &str) -> Condition {
    let flags = ['*', '~', '#', '!', '%', '$', '@', '^', '-', '+'];
    let base = state.trim_end_matches(flags);
    let flags = &state[base.len()..];
    let only = |harmless: &str| flags.chars().all(|flag| harmless.contains(flag));
    match base {
        "idle" | "planned" if only("~#-") => Condition::Idle,
        "idle" | "planned" if only("%!-") => Condition::PoweringOff,
        "reserved" | "maint" if only("~#-") => Condition::Reserved,
        "allocated" | "mixed" | "completing" if only("~#!-+") => Condition::Taken,
        "draining" if flags == "!" => Condition::Taken,
        _ => Condition::Unavailable,
    }
}

#[cfg(test)]
pub(super) mod fixtures {
    /// Formats `sinfo` lines for nodes that are given as `NAME|STATE`.
    pub(crate) fn lines(nodes: &str) -> String {
        let nodes = nodes.lines().map(|node| match node.split_once('|') {
            Some((name, state)) => format!("{name}|{state}|(null)|(null)|100|1|1:1:1|0\n"),
            None => format!("{node}\n"),
        });
        nodes.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::fixtures::lines;
    use super::*;

    #[test]
    fn a_malformed_line_does_not_affect_other_nodes() {
        let (found, unreadable) = read(&lines("n0|idle\n-n1|idle\nn2\n\nn3|idle")).unwrap();
        assert_eq!(found.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["n0", "n3"]);
        assert_eq!(unreadable.len(), 3);
        // If `sinfo` was killed, the last node's state may be cut off.
        assert!(read("n0|idle\nn1|idl").is_err());
    }

    #[test]
    fn a_node_of_two_partitions_is_listed_once() {
        let (found, unreadable) = read(&lines("n0|idle\nn0|idle\nn1|idle\nn1|idle")).unwrap();
        assert_eq!((found.len(), unreadable.len()), (2, 0));
    }

    #[test]
    fn states_and_flags_determine_conditions() {
        for (states, condition) in [
            (&["idle", "idle~", "idle#", "idle-", "planned"][..], Condition::Idle),
            (&["reserved", "maint", "maint~"], Condition::Reserved),
            (&["completing", "allocated", "allocated#", "allocated+", "mixed"], Condition::Taken),
            (&["allocated!", "mixed!", "completing!", "draining!"], Condition::Taken),
            (&["idle%", "idle!", "planned%"], Condition::PoweringOff),
            (&["idle*", "drained", "draining", "down~", "drained%"], Condition::Unavailable),
            (&["down", "allocated$", "reserved*", "reserved%", "", "~"], Condition::Unavailable),
        ] {
            for state in states {
                assert_eq!(super::condition(state), condition, "{state}");
            }
        }
    }
}
