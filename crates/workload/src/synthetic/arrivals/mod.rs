//! Arrival processes, each in its own file.

mod bursts;
mod exponential;

use pavior_kernel::{Entry, Family, Options, Stream};

/// The implementation of an arrival process.
pub struct ArrivalProcess {
    /// The constructor, which takes the mean gap between arrivals in the workload's time unit.
    pub build: fn(&Options, f64) -> Box<dyn Gaps>,
}

/// A source of random gaps between arrivals.
pub trait Gaps: Send {
    /// Draws the time from one arrival to the next, in time units.
    fn next(&mut self, draw: &mut Stream) -> f64;
}

impl Family for ArrivalProcess {
    const NOUN: &'static str = "arrival process";

    fn builtin() -> &'static [&'static Entry<ArrivalProcess>] {
        &[&exponential::ENTRY, &bursts::ENTRY]
    }
}
