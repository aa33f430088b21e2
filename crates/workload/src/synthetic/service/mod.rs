//! The work that synthetic jobs do while they hold nodes. Each distribution is in its own file.

mod constant;
mod exponential;
mod iterations;
mod messages;

use pavior_kernel::{Entry, Family, Options, Stream};

use crate::{Service, TimeUnit};

/// The implementation of a service distribution.
pub struct ServiceDistribution {
    /// The time unit of workloads with this service: cycles if messages are simulated.
    pub unit: TimeUnit,
    /// The constructor.
    pub build: fn(&Options) -> Box<dyn DrawService>,
}

/// A source of random services.
pub trait DrawService: Send {
    /// Draws the service for one job.
    fn service(&mut self, draw: &mut Stream) -> Service;
}

impl Family for ServiceDistribution {
    const NOUN: &'static str = "service";

    fn builtin() -> &'static [&'static Entry<ServiceDistribution>] {
        &[&exponential::ENTRY, &constant::ENTRY, &messages::ENTRY, &iterations::ENTRY]
    }
}
