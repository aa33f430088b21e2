//! The behaviour of the workload crate, seen from outside.

mod real_logs;
mod registry;
mod replay;
mod shapes;
mod swf;
mod synthetic;
