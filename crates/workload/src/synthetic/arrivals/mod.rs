//! When jobs arrive: one process a file, and the list of them.

mod bursts;
mod exponential;

use pavior_kernel::{Options, Stream};

use crate::{Kind, Spec};

/// What an arrival process does.
pub struct ArrivalProcess {
    /// Makes one with a mean gap between arrivals, in units of the workload's time.
    pub build: fn(&Options, f64) -> Box<dyn Gaps>,
}

/// Gaps between arrivals.
pub trait Gaps: Send {
    /// The time from one arrival to the next, in units.
    fn next(&mut self, draw: &mut Stream) -> f64;
}

impl Kind for ArrivalProcess {
    const WORD: &'static str = "arrival process";

    fn all() -> &'static [&'static Spec<ArrivalProcess>] {
        &[&exponential::SPEC, &bursts::SPEC]
    }
}
