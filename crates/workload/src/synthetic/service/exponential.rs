//! Execution times exponential with a mean, as in the TBL paper; no messages. One draw a job.

use pavior_kernel::{OptionSpec, Stream, Time};

use super::{DrawService, ServiceDistribution};
use crate::registry::POSITIVE;
use crate::{Service, Spec, TimeUnit};

pub(super) const SPEC: Spec<ServiceDistribution> = Spec {
    name: "exponential",
    title: "execution time, exponential",
    options: &[OptionSpec {
        key: "mean",
        values: POSITIVE,
        default: "1",
        meaning: "mean execution time, in time units",
        bare: true,
    }],
    does: ServiceDistribution {
        unit: TimeUnit::TIME_UNIT,
        build: |options| Box::new(Exponential { mean: options.number("mean") }),
    },
};

struct Exponential {
    mean: f64,
}

impl DrawService for Exponential {
    fn service(&mut self, draw: &mut Stream) -> Service {
        let time: Time = TimeUnit::TIME_UNIT.time(draw.exponential(self.mean));
        Service::Run(time)
    }
}
