//! Parameters of still states.

use super::{Applies, Parameter, ValueType, count};
use crate::still::{Asked, Boxes};

const COMMON: Parameter = Parameter {
    name: "",
    alias: None,
    meaning: "",
    kind: ValueType::Text,
    applies: Applies::Still,
    default: &[],
    read: |text| Ok(text.to_string()),
};

pub(super) const BUSY: Parameter = Parameter {
    name: "busy",
    meaning: "the busy boxes of a still state, base and sides: 1,2:4x3 5,5:2x2",
    read: |text| text.parse::<Boxes>().map(|_| text.to_string()),
    ..COMMON
};

pub(super) const SUBMESHES: Parameter = Parameter {
    name: "submeshes",
    meaning: "so many busy boxes at random places, drawn anew for each replication",
    kind: ValueType::Count,
    read: |text| count(text, 0),
    ..COMMON
};

pub(super) const REQUEST: Parameter = Parameter {
    name: "request",
    alias: Some("requests"),
    meaning: "asks for these sides in a still state, without time: 3x2",
    read: |text| text.parse::<Asked>().map(|_| text.to_string()),
    ..COMMON
};
