//! Strategies for machines whose partitions get their own networks, by cables or by optical
//! switches. They work on a grid of units.

pub(super) mod bluegene;
pub(super) mod tpu;
