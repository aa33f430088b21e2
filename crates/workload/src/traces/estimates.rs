//! What schedulers are told of a run time: the log's estimate, the truth, or a multiple of it.

use pavior_kernel::{OptionSpec, Options, Time};

use crate::registry::POSITIVE;
use crate::{Kind, Spec};

/// What a rule for estimates does.
pub struct Estimates {
    /// The estimate, from the run time and the user's estimate in the log.
    pub estimate: fn(&Options, Time, Option<Time>) -> Time,
}

impl Kind for Estimates {
    const WORD: &'static str = "rule for estimates";

    fn all() -> &'static [&'static Spec<Estimates>] {
        &[&LOG, &EXACT, &FACTOR]
    }
}

const LOG: Spec<Estimates> = Spec {
    name: "log",
    title: "the user's estimate in the log, else the run time",
    options: &[],
    does: Estimates { estimate: |_, run, logged| logged.unwrap_or(run) },
};

const EXACT: Spec<Estimates> = Spec {
    name: "exact",
    title: "the run time",
    options: &[],
    does: Estimates { estimate: |_, run, _| run },
};

const FACTOR: Spec<Estimates> = Spec {
    name: "factor",
    title: "the run time times a factor",
    options: &[OptionSpec {
        key: "by",
        values: POSITIVE,
        default: "2",
        meaning: "the factor",
        bare: true,
    }],
    does: Estimates {
        estimate: |options, run, _| Time((run.ticks() * options.number("by")).round() as u64),
    },
};
