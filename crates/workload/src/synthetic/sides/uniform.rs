//! Every side uniform on [1, L], L being the length of its axis. One draw a side.

use super::{ANY_GRID, SideDistribution, per_axis};
use crate::Spec;

pub(super) const SPEC: Spec<SideDistribution> = Spec {
    name: "uniform",
    title: "sides uniform on [1, L]",
    options: &[],
    does: SideDistribution {
        supports: ANY_GRID,
        build: |_, grid| per_axis(grid, |length, draw| draw.between(1, u64::from(length)) as u16),
    },
};
