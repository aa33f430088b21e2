//! The behaviour of the allocation crate, seen from outside.

mod buddies;
mod cases;
mod conformance;
mod drawings;
mod machine;
mod noncontiguous;
mod partitioned;
mod registry;
mod shells;
