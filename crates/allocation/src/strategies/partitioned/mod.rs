//! Machines whose partitions get networks of their own, by cables or by optical switches:
//! strategies over a grid of units.

pub(super) mod bluegene;
pub(super) mod tpu;
