//! Tests of the public behavior of the kernel crate.

mod registry;
