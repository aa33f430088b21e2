//! Parameters of failures of nodes.

use super::{Applies, COMMON, Heading, Parameter, ValueType, number};

const FAILURE: Parameter = Parameter {
    heading: Heading::Failures,
    applies: Applies::Runs,
    kind: ValueType::Number,
    unit: "units of time",
    ..COMMON
};

pub(super) const MTTF: Parameter = Parameter {
    name: "mttf",
    meaning: "the mean time to failure of a node, exponential",
    read: |text, _| mean(text, "failure"),
    ..FAILURE
};

pub(super) const MTTR: Parameter = Parameter {
    name: "mttr",
    meaning: "the mean time to its repair, exponential",
    read: |text, _| mean(text, "repair"),
    ..FAILURE
};

pub(super) const FAILURES: Parameter = Parameter {
    name: "failures",
    meaning: "a list of failures and repairs: JSON lines {\"op\":\"fail\",\"node\":[1,1],\"at\":60}",
    kind: ValueType::Text,
    unit: "",
    read: |text, _| Ok(text.to_string()),
    ..FAILURE
};

pub(super) const CHECKPOINT: Parameter = Parameter {
    name: "checkpoint",
    meaning: "interrupted jobs go on from the last multiple of this run time; else from scratch",
    read: |text, _| number(text, |value| value > 0.0, "above 0"),
    ..FAILURE
};

/// The range of [`pavior_workload::Failures`].
fn mean(text: &str, what: &str) -> Result<String, pavior_kernel::BadName> {
    let range = format!("from 1e-3 to 1e12, a mean time to {what}");
    number(text, |value| (1e-3..=1e12).contains(&value), &range)
}
