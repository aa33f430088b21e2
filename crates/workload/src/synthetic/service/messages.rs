//! A number of messages per job, exponential with a mean, rounded down, at least 1.
//!
//! The GABL paper's num_mes. It is the total of the job and not of each processor: only so do the
//! paper's loads give its utilisation. One draw a job.

use pavior_kernel::{OptionSpec, Stream};

use super::{DrawService, ServiceDistribution};
use crate::registry::POSITIVE;
use crate::{Service, Spec, Unit};

pub(super) const SPEC: Spec<ServiceDistribution> = Spec {
    name: "messages",
    title: "number of messages per job, exponential",
    options: &[OptionSpec {
        key: "mean",
        values: POSITIVE,
        default: "5",
        meaning: "mean number of messages before rounding down",
        bare: true,
    }],
    does: ServiceDistribution {
        unit: Unit::CYCLE,
        build: |options| Box::new(Messages { mean: options.number("mean") }),
    },
};

struct Messages {
    mean: f64,
}

impl DrawService for Messages {
    fn service(&mut self, draw: &mut Stream) -> Service {
        Service::Messages(draw.exponential(self.mean).floor().max(1.0) as u64)
    }
}
