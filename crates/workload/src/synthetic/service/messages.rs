//! A number of messages per job, drawn from an exponential distribution with a given mean. The
//! number is rounded down, but is at least 1.
//!
//! The GABL paper calls the mean `num_mes`. We count messages per job, not per processor, because
//! only then do the paper's loads produce the utilization that it reports. The paper does not
//! specify the rounding. Rounding down comes closest to the published numbers; options select other
//! rounding modes. Each job uses one draw.

use pavior_kernel::{Entry, OptionSpec, Stream, Values};

use super::{DrawService, ServiceDistribution};
use crate::values::POSITIVE;
use crate::{Service, TimeUnit};

pub(super) const ENTRY: Entry<ServiceDistribution> = Entry {
    name: "messages",
    title: "number of messages per job, exponentially distributed",
    source: "",
    options: &[
        OptionSpec {
            key: "mean",
            values: POSITIVE,
            default: "5",
            meaning: "the mean number of messages before rounding",
            bare: true,
        },
        OptionSpec {
            key: "rounding",
            values: Values::OneOf(&["down", "nearest", "up"]),
            default: "down",
            meaning: "the rounding of the message count (minimum: 1)",
            bare: false,
        },
    ],
    variants: &[""],
    does: ServiceDistribution {
        unit: TimeUnit::CYCLE,
        build: |options| {
            let round = match options.get("rounding") {
                "nearest" => f64::round,
                "up" => f64::ceil,
                _ => f64::floor,
            };
            Box::new(Messages { mean: options.number("mean"), round })
        },
    },
};

struct Messages {
    mean: f64,
    round: fn(f64) -> f64,
}

impl DrawService for Messages {
    fn service(&mut self, draw: &mut Stream) -> Service {
        Service::Messages((self.round)(draw.exponential(self.mean)).max(1.0) as u64)
    }
}
