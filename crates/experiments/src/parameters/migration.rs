//! Parameters for moving running jobs.

use super::{Applies, COMMON, Parameter, ValueType, number, parsed};

pub(super) const MIGRATION: Parameter = Parameter {
    name: "migration",
    meaning: "moves running jobs to make room for the oldest waiting job if this pays off; the \
              value is the run time that a move adds to a job, per node moved",
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
    meaning: "the running jobs that may be moved: those that meet any of the given conditions, \
              each a maximum size in nodes (64), a column's value (queue=1) or a share of all jobs \
              (25%); default: all",
    applies: Applies::Runs,
    read: |text, _| parsed(text, |given| &mut given.movable),
    ..COMMON
};
