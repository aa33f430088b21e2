//! Parameters for synthetic jobs.

use super::runs::MOST_JOBS;
use super::{Applies, COMMON, Heading, Parameter, ValueType, count, number, parsed};

const SYNTHETIC: Parameter =
    Parameter { heading: Heading::Synthetic, applies: Applies::Synthetic, ..COMMON };

pub(super) const SIDES: Parameter = Parameter {
    name: "sides",
    meaning: "the distribution of the requested boxes' sides",
    default: &["uniform"],
    read: |text, _| parsed(text, |given| &mut given.sides),
    ..SYNTHETIC
};

/// The distribution of run times or messages.
pub const SERVICE: Parameter = Parameter {
    name: "service",
    meaning: "the distribution of run times or messages",
    default: &["exponential"],
    read: |text, _| parsed(text, |given| &mut given.service),
    ..SYNTHETIC
};

pub(super) const ARRIVALS: Parameter = Parameter {
    name: "arrivals",
    meaning: "the arrival process",
    default: &["exponential"],
    read: |text, _| parsed(text, |given| &mut given.arrivals),
    ..SYNTHETIC
};

pub(super) const JOBS: Parameter = Parameter {
    name: "jobs",
    meaning: "ends a run after this many jobs have completed",
    kind: ValueType::Count,
    unit: "jobs",
    default: &["1000"],
    read: |text, _| count(text, 1..=MOST_JOBS, |given| &mut given.jobs),
    ..SYNTHETIC
};

/// The number of arrivals per unit of time.
pub const LOAD: Parameter = Parameter {
    name: "load",
    alias: Some("loads"),
    meaning: "arrivals per unit of time",
    kind: ValueType::Number,
    unit: "jobs per unit of time",
    default: &["1.5"],
    read: |text, _| {
        number(
            text,
            |value| (1e-6..=1e6).contains(&value),
            "from 1e-6 to 1e6",
            |given| &mut given.load,
        )
    },
    ..SYNTHETIC
};
