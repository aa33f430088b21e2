//! The same execution time for every job, with no messages. Uses no random draws.

use pavior_kernel::{Entry, OptionSpec, Stream};

use super::{DrawService, ServiceDistribution};
use crate::values::POSITIVE;
use crate::{Service, TimeUnit};

pub(super) const ENTRY: Entry<ServiceDistribution> = Entry {
    name: "constant",
    title: "constant execution time",
    source: "",
    options: &[OptionSpec {
        key: "time",
        values: POSITIVE,
        default: "1",
        meaning: "the execution time, in time units",
        bare: true,
    }],
    variants: &[""],
    does: ServiceDistribution {
        unit: TimeUnit::TIME_UNIT,
        build: |options| {
            let time = TimeUnit::TIME_UNIT.time(options.number("time"));
            Box::new(Same(Service::Run(time)))
        },
    },
};

/// A distribution in which every job has the same service.
pub(super) struct Same(pub(super) Service);

impl DrawService for Same {
    fn service(&mut self, _: &mut Stream) -> Service {
        self.0
    }
}
