//! What synthetic jobs do while they hold their nodes: one distribution a file, and the list.

mod constant;
mod exponential;
mod iterations;
mod messages;

use pavior_kernel::{Options, Stream};

use crate::{Kind, Service, Spec, TimeUnit};

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

impl Kind for ServiceDistribution {
    const WORD: &'static str = "service";

    fn all() -> &'static [&'static Spec<ServiceDistribution>] {
        &[&exponential::SPEC, &constant::SPEC, &messages::SPEC, &iterations::SPEC]
    }
}
