//! The behaviour of the allocation crate, seen from outside.

mod buddies;
mod cases;
mod conformance;
mod fork;
mod machine;
mod noncontiguous;
mod registry;
mod shells;
