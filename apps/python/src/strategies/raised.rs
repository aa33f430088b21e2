//! The exceptions of the caller's code.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use pavior::names::CallerError;
use pyo3::prelude::*;

/// The first exception that code of the caller raised, and how often it was asked. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Kept>);

#[derive(Default)]
struct Kept {
    error: OnceLock<CallerError>,
    asked: AtomicU64,
}

impl Raised {
    /// Keeps an exception; a later one is a consequence of it.
    pub(crate) fn keep(&self, error: PyErr) {
        self.0.error.get_or_init(|| CallerError::new(error));
    }

    /// What is kept; the caller's code is then asked no more.
    pub(crate) fn get(&self) -> Option<&CallerError> {
        self.0.error.get()
    }

    /// Counts a question.
    pub(crate) fn count(&self) {
        self.0.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// How many questions there were.
    pub(crate) fn asked(&self) -> u64 {
        self.0.asked.load(Ordering::Relaxed)
    }
}
