//! Strategies for machines whose partitions have their own networks, built from cables or optical
//! switches. They work on a grid of units.

pub(super) mod bluegene;
pub(super) mod tpu;
