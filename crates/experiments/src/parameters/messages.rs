//! Parameters of jobs that send messages.

use pavior_network::PatternSelection;

use super::{Applies, Parameter, ValueType, canonical, count, one_of};

const COMMON: Parameter = Parameter {
    name: "",
    alias: None,
    meaning: "",
    kind: ValueType::Text,
    applies: Applies::Messages,
    default: &[],
    read: |text| Ok(text.to_string()),
};

pub(super) const PATTERN: Parameter = Parameter {
    name: "pattern",
    alias: Some("patterns"),
    meaning: "what jobs send",
    default: &["one-to-all"],
    read: canonical::<PatternSelection>,
    ..COMMON
};

pub(super) const SENDING: Parameter = Parameter {
    name: "sending",
    meaning: "messages in flight at once: sequential, blocking or pipelined",
    read: |text| one_of(text, &["sequential", "blocking", "pipelined"]),
    ..COMMON
};

pub(super) const ROUNDS: Parameter = Parameter {
    name: "rounds",
    meaning: "what lies between two rounds of a pattern: barrier or free",
    read: |text| one_of(text, &["barrier", "free"]),
    ..COMMON
};

pub(super) const RANKS: Parameter = Parameter {
    name: "ranks",
    meaning: "how ranks of a job in several parts are numbered: coordinates or parts",
    default: &["coordinates"],
    read: |text| one_of(text, &["coordinates", "parts"]),
    ..COMMON
};

pub(super) const FLITS: Parameter = Parameter {
    name: "flits",
    meaning: "the length of a message",
    kind: ValueType::Count,
    default: &["8"],
    read: |text| count(text, 1),
    ..COMMON
};

pub(super) const ROUTING_DELAY: Parameter = Parameter {
    name: "routing-delay",
    meaning: "cycles that a header takes to be routed through a node",
    kind: ValueType::Count,
    default: &["3"],
    read: |text| count(text, 0),
    ..COMMON
};

pub(super) const BUFFER: Parameter = Parameter {
    name: "buffer",
    meaning: "flits that the buffer behind a channel holds",
    kind: ValueType::Count,
    default: &["1"],
    read: |text| count(text, 1),
    ..COMMON
};

pub(super) const ENGINE: Parameter = Parameter {
    name: "engine",
    meaning: "the network engine: worm or flit",
    default: &["worm"],
    read: |text| one_of(text, &["worm", "flit"]),
    ..COMMON
};

pub(super) const RELEASE: Parameter = Parameter {
    name: "release",
    meaning: "when a channel is free again: drained or passed",
    default: &["drained"],
    read: |text| one_of(text, &["drained", "passed"]),
    ..COMMON
};

/// One lane is left out: a run that deadlocks has no results.
pub(super) const LANES: Parameter = Parameter {
    name: "lanes",
    meaning: "lanes of links on axes that wrap: 2 or shared",
    default: &["2"],
    read: |text| one_of(text, &["2", "shared"]),
    ..COMMON
};
