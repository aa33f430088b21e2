//! The behaviour of the workload crate, seen from outside.

mod formats;
mod real_logs;
mod registry;
mod replay;
mod shapes;
mod swf;
mod synthetic;
