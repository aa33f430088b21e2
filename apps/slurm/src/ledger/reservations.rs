//! Reservations of nodes and of the gate's license, parsed from the output of `scontrol show
//! reservation`. Operators create reservations; users can only request them.

use crate::names::node_lists;
use crate::names::{NodeName, number};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reservation {
    pub(crate) name: String,
    pub(crate) nodes: Vec<NodeName>,
    /// The start time, in seconds since 1970.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The reserved licenses, in Slurm's format.
    pub(crate) licenses: String,
    /// True if jobs in the reservation may use other nodes, because the reservation is flexible or
    /// license-only.
    pub(crate) allows_other_nodes: bool,
    /// True if Slurm also allocates the nodes to jobs that do not request the reservation.
    pub(crate) is_magnetic: bool,
}

impl Reservation {
    /// Returns true if the reservation contains the gate's license.
    pub(crate) fn has_license(&self, license: &str) -> bool {
        let mut kept = self.licenses.split([',', ';']);
        kept.any(|one| one.split([':', '=', '@']).next() == Some(license))
    }

    /// Returns true if the reservation overlaps the time from `from` to `to` (unbounded if `None`).
    pub(crate) fn overlaps(&self, from: u64, to: Option<u64>) -> bool {
        self.end > from && to.is_none_or(|to| self.start < to)
    }
}

/// Parses the output of `scontrol show reservation -o`. Malformed fields become empty, but nodes
/// that Slurm reports as reserved remain off limits.
pub(crate) fn read(text: &str) -> Vec<Reservation> {
    let lines = text.lines().filter(|line| line.starts_with("ReservationName="));
    lines.map(reservation).collect()
}

fn reservation(line: &str) -> Reservation {
    // A second occurrence of a key can only be part of a value that contains spaces.
    let value = |key: &str| {
        let words = line.split(' ');
        words.filter_map(|word| word.split_once('=')).find(|(name, _)| *name == key)
    };
    let text = |key: &str| value(key).map_or("", |(_, text)| text);
    let time = |key: &str| number::<u32>(text(key)).map(u64::from);
    let flag = |name: &str| text("Flags").split(',').any(|flag| flag == name);
    Reservation {
        name: text("ReservationName").to_string(),
        nodes: match text("Nodes") {
            "(null)" => Vec::new(),
            list => node_lists::expand(list).unwrap_or_default(),
        },
        start: time("StartTime").unwrap_or(0),
        end: time("EndTime").unwrap_or(u64::MAX),
        licenses: text("Licenses").to_string(),
        // ANY_NODES is another name for LICENSE_ONLY.
        allows_other_nodes: ["FLEX", "LICENSE_ONLY", "ANY_NODES"].into_iter().any(flag),
        is_magnetic: flag("MAGNETIC"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_are_parsed() {
        let text = "ReservationName=pavior StartTime=1795600000 EndTime=1827136000 \
                    Duration=365-00:00:00 Nodes=(null) NodeCnt=0 CoreCnt=0 Features=(null) \
                    PartitionName=(null) Flags=LICENSE_ONLY TRES=(null) Users=root Groups=(null) \
                    Accounts=(null) Licenses=pavior:1 State=ACTIVE\n\
                    ReservationName=maint StartTime=1795700000 EndTime=1795703600 \
                    Duration=01:00:00 Nodes=n[00-02] NodeCnt=3 Flags=FLEX,SPEC_NODES \
                    Licenses=(null) State=INACTIVE\n\
                    No reservations in the system\n";
        let [license, maintenance] = &read(text)[..] else { panic!("{text}") };
        assert!(license.has_license("pavior") && !license.has_license("pav"));
        assert!(license.nodes.is_empty());
        assert_eq!((maintenance.name.as_str(), maintenance.nodes.len()), ("maint", 3));
        assert!(!maintenance.has_license("pavior") && !maintenance.is_magnetic);
        assert!(maintenance.allows_other_nodes && license.allows_other_nodes);
        assert!(!read("ReservationName=plain Flags=SPEC_NODES\n")[0].allows_other_nodes);
        let (start, end) = (maintenance.start, maintenance.end);
        assert!(maintenance.overlaps(start - 60, Some(start + 1)) && maintenance.overlaps(0, None));
        assert!(!maintenance.overlaps(start - 60, Some(start)) && !maintenance.overlaps(end, None));
    }
}
