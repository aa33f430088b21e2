//! Independent, exponentially distributed gaps: a Poisson process.
//!
//! This is the process used in the papers. The load is the reciprocal of the mean gap, and each gap
//! uses one draw.

use pavior_kernel::{Entry, Stream};

use super::{ArrivalProcess, Gaps};

pub(super) const ENTRY: Entry<ArrivalProcess> = Entry {
    name: "exponential",
    title: "independent jobs (a Poisson process)",
    source: "",
    options: &[],
    variants: &[""],
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
