//! Messages to be created in a later cycle.

use std::cmp::Ordering;

use pavior_kernel::Time;

use crate::message::Message;

/// A message in the order of (time, id).
#[derive(Debug)]
pub(super) struct Later(pub(super) Message);

impl Later {
    fn key(&self) -> (Time, u64) {
        (self.0.created, self.0.id)
    }
}

impl PartialEq for Later {
    fn eq(&self, other: &Later) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Later {}

impl PartialOrd for Later {
    fn partial_cmp(&self, other: &Later) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Later {
    fn cmp(&self, other: &Later) -> Ordering {
        self.key().cmp(&other.key())
    }
}
