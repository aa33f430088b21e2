//! The schedulers, each in its own file or directory, and a list of all schedulers.
//!
//! To add a scheduler, write its file with an `ENTRY`, declare the module, and add it to `ALL`.

mod bypass;
mod conservative;
mod easy;
mod easy_freedom;
mod fcfs;
mod ljf;
mod scan;
mod scan_all;
mod sjf;
mod ssd;
mod window;

pub use easy_freedom::weighs_messages;

use crate::Entry;

/// All schedulers, in the order used in tables.
pub(crate) const ALL: &[&Entry] = &[
    &fcfs::ENTRY,
    &ssd::ENTRY,
    &sjf::ENTRY,
    &ljf::ENTRY,
    &scan_all::ENTRY,
    &scan::ENTRY,
    &window::ENTRY,
    &bypass::ENTRY,
    &easy::ENTRY,
    &easy_freedom::ENTRY,
    &conservative::ENTRY,
];
