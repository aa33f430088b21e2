//! The work of synthetic jobs while they hold nodes. Each distribution is one file.

mod constant;
mod exponential;
mod iterations;
mod messages;

use pavior_kernel::{Entry, Family, Options, Stream};

use crate::{Service, TimeUnit};

/// A service distribution's behavior.
pub struct ServiceDistribution {
    /// The time unit of a workload with this service: cycles if messages are simulated.
    pub unit: TimeUnit,
    /// The constructor.
    pub build: fn(&Options) -> Box<dyn DrawService>,
}

/// Random services.
pub trait DrawService: Send {
    /// Draws the service of one job.
    fn service(&mut self, draw: &mut Stream) -> Service;
}

impl Family for ServiceDistribution {
    const NOUN: &'static str = "service";

    fn builtin() -> &'static [&'static Entry<ServiceDistribution>] {
        &[&exponential::ENTRY, &constant::ENTRY, &messages::ENTRY, &iterations::ENTRY]
    }
}
