//! The behaviour of the kernel crate, seen from outside.

mod registry;
