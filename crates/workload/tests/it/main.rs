//! The behaviour of the workload crate, seen from outside.

mod registry;
mod shapes;
mod synthetic;
