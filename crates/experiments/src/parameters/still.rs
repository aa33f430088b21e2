//! Parameters of still states.

use super::{Applies, COMMON, Heading, Parameter, Reading, ValueType, count};

const STILL: Parameter = Parameter { heading: Heading::Still, applies: Applies::Still, ..COMMON };

pub(super) const BUSY: Parameter = Parameter {
    name: "busy",
    meaning: "the busy boxes of a still state, base and sides: 1,2:4x3 5,5:2x2",
    read: |text, _| text.parse().map(|boxes| Reading::new(text, boxes, |given| &mut given.busy)),
    ..STILL
};

pub(super) const SUBMESHES: Parameter = Parameter {
    name: "submeshes",
    meaning: "so many busy boxes at random places, drawn anew for each replication",
    kind: ValueType::Count,
    unit: "boxes",
    read: |text, _| count(text, 0..=u64::MAX, |given| &mut given.submeshes),
    ..STILL
};

/// The sides that a still state is asked for.
pub const REQUEST: Parameter = Parameter {
    name: "request",
    alias: Some("requests"),
    meaning: "asks for these sides in a still state, without time: 3x2",
    read: |text, _| text.parse().map(|sides| Reading::new(text, sides, |given| &mut given.request)),
    ..STILL
};
