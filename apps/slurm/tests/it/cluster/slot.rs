//! A limit on the number of running clusters.

use std::sync::{Condvar, Mutex, PoisonError};

/// The maximum number of concurrent clusters. A higher number would overload a small host.
const MAX_RUNNING: u32 = 3;

static RUNNING: Mutex<u32> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// A slot for a running cluster.
pub(super) struct Slot;

impl Slot {
    pub(super) fn wait() -> Slot {
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |running: &mut u32| *running == MAX_RUNNING;
        *ENDED.wait_while(running, full).unwrap_or_else(PoisonError::into_inner) += 1;
        Slot
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        ENDED.notify_one();
    }
}
