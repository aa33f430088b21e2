//! Every job goes through its communication pattern a number of times; no draw.
//!
//! The NAS paper's jobs do so exactly once.

use pavior_kernel::{OptionSpec, Values};

use super::ServiceDistribution;
use super::constant::Same;
use crate::{Service, Spec, TimeUnit};

pub(super) const SPEC: Spec<ServiceDistribution> = Spec {
    name: "iterations",
    title: "passes through the communication pattern",
    options: &[OptionSpec {
        key: "count",
        values: Values::Integer(1, 1_000_000_000),
        default: "1",
        meaning: "passes of every job",
        bare: true,
    }],
    does: ServiceDistribution {
        unit: TimeUnit::CYCLE,
        build: |options| Box::new(Same(Service::Iterations(options.integer("count")))),
    },
};
