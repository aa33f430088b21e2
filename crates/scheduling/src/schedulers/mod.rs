//! The schedulers, one file each, and the one list of them.

mod fcfs;
mod ssd;

use crate::Spec;

/// Every scheduler, in the order in which tables show them.
pub(crate) const ALL: &[&Spec] = &[&fcfs::SPEC, &ssd::SPEC];
