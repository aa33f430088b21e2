//! Tests of the public behavior of the workload crate.

mod accounting;
mod dependencies;
mod failures;
mod formats;
mod hosts;
mod inspect;
mod lublin;
mod real_logs;
mod registry;
mod replay;
mod reservations;
mod sacct;
mod shapes;
mod sizes;
mod swf;
mod synthetic;
