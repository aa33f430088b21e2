//! What synthetic jobs do while they hold their nodes: one distribution a file, and the list.

mod constant;
mod exponential;
mod iterations;
mod messages;

use pavior_kernel::{Entry, Family, Options, Stream};

use crate::{Service, TimeUnit};

/// What a distribution of service does.
pub struct ServiceDistribution {
    /// The time in which a workload with this service runs: cycles if messages run.
    pub unit: TimeUnit,
    /// Makes one.
    pub build: fn(&Options) -> Box<dyn DrawService>,
}

/// Services at random.
pub trait DrawService: Send {
    /// The service of one job.
    fn service(&mut self, draw: &mut Stream) -> Service;
}

impl Family for ServiceDistribution {
    const NOUN: &'static str = "service";

    fn builtin() -> &'static [&'static Entry<ServiceDistribution>] {
        &[&exponential::ENTRY, &constant::ENTRY, &messages::ENTRY, &iterations::ENTRY]
    }
}
