//! Strategies for machines whose partitions have their own networks, built from cables or optical
//! switches. These strategies work on a grid of units.

pub(super) mod bluegene;
pub(super) mod tpu;
