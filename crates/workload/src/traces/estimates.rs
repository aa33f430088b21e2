//! Rules for the run-time estimates that schedulers see: the log's estimate, the actual run time,
//! or the actual run time multiplied by a factor.

use pavior_kernel::{Entry, Family, OptionSpec, Options, Time};

use crate::values::POSITIVE;

/// The implementation of an estimate rule.
pub struct Estimates {
    /// Computes an estimate from the run time and the user's estimate in the log.
    pub estimate: fn(&Options, Time, Option<Time>) -> Time,
}

impl Family for Estimates {
    const NOUN: &'static str = "estimate rule";

    fn builtin() -> &'static [&'static Entry<Estimates>] {
        &[&LOG, &EXACT, &FACTOR]
    }
}

const LOG: Entry<Estimates> = Entry {
    name: "log",
    title: "the user's estimate in the log, or the run time if there is none",
    source: "",
    options: &[],
    variants: &[""],
    does: Estimates { estimate: |_, run, logged| logged.unwrap_or(run) },
};

const EXACT: Entry<Estimates> = Entry {
    name: "exact",
    title: "the run time",
    source: "",
    options: &[],
    variants: &[""],
    does: Estimates { estimate: |_, run, _| run },
};

const FACTOR: Entry<Estimates> = Entry {
    name: "factor",
    title: "the run time multiplied by a factor",
    source: "",
    options: &[OptionSpec {
        key: "by",
        values: POSITIVE,
        default: "2",
        meaning: "the factor",
        bare: true,
    }],
    variants: &[""],
    does: Estimates {
        estimate: |options, run, _| Time((run.ticks() * options.number("by")).round() as u64),
    },
};
