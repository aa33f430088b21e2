//! Parameters for moving running jobs.

use super::{Applies, COMMON, Parameter, ValueType, number, parsed};

pub(super) const MIGRATION: Parameter = Parameter {
    name: "migration",
    meaning: "moves running jobs so that the oldest waiting job fits, if that pays off; the value \
              is the run time that each moved node adds to its job",
    applies: Applies::Runs,
    kind: ValueType::Number,
    unit: "units of time",
    read: |text, _| {
        number(
            text,
            |value| (0.0..=1e12).contains(&value),
            "from 0 to 1e12",
            |given| &mut given.migration,
        )
    },
    ..COMMON
};

pub(super) const MOVABLE: Parameter = Parameter {
    name: "movable",
    meaning: "the running jobs that may move: by maximum number of nodes (64), by a column's value \
              (queue=1), or by share of all jobs (25%); meeting one of several conditions is \
              enough; default: all",
    applies: Applies::Runs,
    read: |text, _| parsed(text, |given| &mut given.movable),
    ..COMMON
};
