//! The behaviour of the allocation crate, seen from outside.

mod cases;
mod conformance;
mod equalities;
mod lssa;
mod machine;
mod mfa;
mod registry;
