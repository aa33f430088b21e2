//! The same number of communication-pattern iterations for every job. Uses no random draws.
//!
//! Jobs in the NAS paper run exactly one iteration.

use pavior_kernel::{Entry, OptionSpec, Values};

use super::ServiceDistribution;
use super::constant::Same;
use crate::{Service, TimeUnit};

pub(super) const ENTRY: Entry<ServiceDistribution> = Entry {
    name: "iterations",
    title: "iterations of the communication pattern",
    source: "",
    options: &[OptionSpec {
        key: "count",
        values: Values::Integer(1, 1_000_000_000),
        default: "1",
        meaning: "the number of iterations per job",
        bare: true,
    }],
    variants: &[""],
    does: ServiceDistribution {
        unit: TimeUnit::CYCLE,
        build: |options| Box::new(Same(Service::Iterations(options.integer("count")))),
    },
};
