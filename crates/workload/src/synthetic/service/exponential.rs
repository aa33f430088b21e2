//! Exponential execution times without messages, as in the TBL paper. Each job uses one draw.

use pavior_kernel::{Entry, OptionSpec, Stream, Time};

use super::{DrawService, ServiceDistribution};
use crate::values::POSITIVE;
use crate::{Service, TimeUnit};

pub(super) const ENTRY: Entry<ServiceDistribution> = Entry {
    name: "exponential",
    title: "exponential execution time",
    source: "",
    options: &[OptionSpec {
        key: "mean",
        values: POSITIVE,
        default: "1",
        meaning: "the mean execution time, in time units",
        bare: true,
    }],
    variants: &[""],
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
