//! Parameters for snapshots.

use crate::boxes::{boxes, sides};

use super::{Applies, COMMON, Heading, Parameter, Reading, ValueType, count};

const SNAPSHOT: Parameter =
    Parameter { heading: Heading::Snapshot, applies: Applies::Snapshot, ..COMMON };

pub(super) const BUSY: Parameter = Parameter {
    name: "busy",
    meaning: "the busy boxes in a snapshot, given by base and sides, such as 1,2:4x3 5,5:2x2",
    read: |text, _| boxes(text).map(|boxes| Reading::new(text, boxes, |given| &mut given.busy)),
    ..SNAPSHOT
};

pub(super) const SUBMESHES: Parameter = Parameter {
    name: "submeshes",
    meaning: "the number of busy boxes placed at random, redrawn for each replication",
    kind: ValueType::Count,
    unit: "boxes",
    read: |text, _| count(text, 0..=u64::MAX, |given| &mut given.submeshes),
    ..SNAPSHOT
};

/// The sides of the box requested in a snapshot.
pub const REQUEST: Parameter = Parameter {
    name: "request",
    alias: Some("requests"),
    meaning: "the sides of the box requested in a snapshot, such as 3x2",
    read: |text, _| sides(text).map(|sides| Reading::new(text, sides, |given| &mut given.request)),
    ..SNAPSHOT
};
