//! Independent, exponentially distributed gaps: a Poisson process.
//!
//! The papers' arrivals; the load is the reciprocal of the mean gap. One draw a job.

use pavior_kernel::Stream;

use super::{ArrivalProcess, Gaps};
use crate::Spec;

pub(super) const SPEC: Spec<ArrivalProcess> = Spec {
    name: "exponential",
    title: "independent jobs (a Poisson process)",
    options: &[],
    does: ArrivalProcess { build: |_, mean| Box::new(Exponential { mean }) },
};

struct Exponential {
    mean: f64,
}

impl Gaps for Exponential {
    fn next(&mut self, draw: &mut Stream) -> f64 {
        draw.exponential(self.mean)
    }
}
