//! Parameters for failures.

use pavior_kernel::BadName;

use super::{
    Applies, COMMON, Heading, Parameter, Reading, ValueType, count, number, parsed, verbatim,
};
use crate::Given;

const FAILURE: Parameter = Parameter {
    heading: Heading::Failures,
    applies: Applies::Runs,
    kind: ValueType::Number,
    unit: "units of time",
    ..COMMON
};

pub(super) const MTTF: Parameter = Parameter {
    name: "mttf",
    meaning: "a node's mean time to failure (exponential)",
    read: |text, _| mean(text, "failure", |given| &mut given.mttf),
    ..FAILURE
};

pub(super) const MTTR: Parameter = Parameter {
    name: "mttr",
    meaning: "a node's mean time to repair (exponential)",
    read: |text, _| mean(text, "repair", |given| &mut given.mttr),
    ..FAILURE
};

pub(super) const FAIL_CLASSES: Parameter = Parameter {
    name: "fail-classes",
    meaning: "the kinds of components that can fail, with their mean times to failure and repair: \
              chip:mttf=1e5:mttr=24,cube:mttf=9000:mttr=24,switch:mttf=1e5:mttr=8",
    kind: ValueType::Text,
    read: |text, _| parsed(text, |given| &mut given.fail_classes),
    ..FAILURE
};

pub(super) const SPARES: Parameter = Parameter {
    name: "spares",
    meaning: "the number of spare cubes (4x4x4 nodes each), unused until another cube fails",
    unit: "cubes",
    read: |text, _| count(text, 0..=MOST_SPARES, |given| &mut given.spares),
    ..STANDING_BY
};

pub(super) const SPARE_SWITCHES: Parameter = Parameter {
    name: "spare-switches",
    meaning: "the number of spare switches, which replace failed ones",
    unit: "switches",
    read: |text, _| count(text, 0..=MOST_SPARES, |given| &mut given.spare_switches),
    ..STANDING_BY
};

const STANDING_BY: Parameter = Parameter { kind: ValueType::Count, ..FAILURE };
const MOST_SPARES: u64 = 1_000_000;

pub(super) const SLICE: Parameter = Parameter {
    name: "slice",
    meaning: "the slice whose availability is measured: a number of 4x4x4-node cubes, or the sides \
              of a box in nodes, such as 8x8x16; see the metrics slice_availability and slice_free",
    kind: ValueType::Text,
    unit: "",
    read: |text, _| parsed(text, |given| &mut given.slice),
    ..FAILURE
};

pub(super) const FAILURES: Parameter = Parameter {
    name: "failures",
    meaning: "a file of failures and repairs: JSON lines \
              {\"op\":\"fail\",\"node\":[1,1],\"at\":60}; \"cube\" or \"switch\" may replace \
              \"node\"",
    kind: ValueType::Text,
    unit: "",
    read: |text, _| Ok(verbatim(text, |given| &mut given.failures)),
    ..FAILURE
};

pub(super) const CHECKPOINT: Parameter = Parameter {
    name: "checkpoint",
    meaning: "the run time between checkpoints; default: interrupted jobs start over",
    read: |text, _| number(text, |value| value > 0.0, "above 0", |given| &mut given.checkpoint),
    ..FAILURE
};

/// Parses a mean time within the range that [`pavior_workload::Failures`] accepts.
fn mean(
    text: &str,
    what: &str,
    field: fn(&mut Given) -> &mut Option<f64>,
) -> Result<Reading, BadName> {
    let range = format!("from 1e-3 to 1e12 (mean time to {what})");
    number(text, |value| (1e-3..=1e12).contains(&value), &range, field)
}
