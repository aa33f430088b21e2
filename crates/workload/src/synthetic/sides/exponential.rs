//! Exponential sides with mean L/2, rounded up and capped at the axis length L.
//!
//! The TBL paper says only "exponential". Capping reproduces the paper's utilization, but redrawing
//! until the value fits does not. Each side uses one draw.

use super::{ANY_GRID, SideDistribution, per_axis};
use pavior_kernel::Entry;

pub(super) const ENTRY: Entry<SideDistribution> = Entry {
    name: "exponential",
    title: "exponentially distributed sides with mean L/2, rounded up, at most L",
    source: "",
    options: &[],
    variants: &[""],
    does: SideDistribution {
        supports: ANY_GRID,
        build: |_, grid| {
            per_axis(grid, |length, draw| {
                let side = draw.exponential(f64::from(length) / 2.0).ceil();
                // A draw of exactly 0 would still be 0 after rounding up.
                side.clamp(1.0, f64::from(length)) as u16
            })
        },
    },
};
