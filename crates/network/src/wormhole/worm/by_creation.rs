//! Messages of later cycles, in the order of their creation: by time, then by id.

use std::cmp::Ordering;

use pavior_kernel::Time;

use crate::message::Message;

/// A message that is compared by (time, id).
#[derive(Debug)]
pub(super) struct ByCreation(pub(super) Message);

impl ByCreation {
    fn key(&self) -> (Time, u64) {
        (self.0.created, self.0.id)
    }
}

impl PartialEq for ByCreation {
    fn eq(&self, other: &ByCreation) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ByCreation {}

impl PartialOrd for ByCreation {
    fn partial_cmp(&self, other: &ByCreation) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByCreation {
    fn cmp(&self, other: &ByCreation) -> Ordering {
        self.key().cmp(&other.key())
    }
}
