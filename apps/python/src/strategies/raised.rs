//! Exceptions raised by the caller's code.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use pavior::names::CallerError;
use pyo3::prelude::*;

/// The first exception raised by the caller's code, and the number of calls to that code. Clones
/// share both values.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Kept>);

#[derive(Default)]
struct Kept {
    error: OnceLock<CallerError>,
    asked: AtomicU64,
}

impl Raised {
    /// Stores an exception unless one is already stored, because later exceptions are consequences
    /// of the first one.
    pub(crate) fn keep(&self, error: PyErr) {
        self.0.error.get_or_init(|| CallerError::new(error));
    }

    /// Returns the stored exception, if any. Once one is stored, the caller's code is no longer
    /// called.
    pub(crate) fn get(&self) -> Option<&CallerError> {
        self.0.error.get()
    }

    pub(crate) fn count(&self) {
        self.0.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of calls to the caller's code.
    pub(crate) fn asked(&self) -> u64 {
        self.0.asked.load(Ordering::Relaxed)
    }
}
