//! The schedulers, one file each, and the one list of them.
//!
//! To add one: write its file with a `SPEC`, name the module, and add one line here.

mod bypass;
mod conservative;
mod easy;
mod fcfs;
mod ljf;
mod scan;
mod scan_all;
mod sjf;
mod ssd;
mod window;

use crate::Spec;

/// Every scheduler, in the order in which tables show them.
pub(crate) const ALL: &[&Spec] = &[
    &fcfs::SPEC,
    &ssd::SPEC,
    &sjf::SPEC,
    &ljf::SPEC,
    &scan_all::SPEC,
    &scan::SPEC,
    &window::SPEC,
    &bypass::SPEC,
    &easy::SPEC,
    &conservative::SPEC,
];
