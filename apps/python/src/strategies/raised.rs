//! The exceptions of the caller's code.

use std::sync::{Arc, OnceLock};

use pavior_kernel::CallerError;
use pyo3::prelude::*;

/// The first exception that code of the caller raised. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<OnceLock<CallerError>>);

impl Raised {
    /// Keeps an exception; a later one is a consequence of it.
    pub(crate) fn keep(&self, error: PyErr) {
        self.0.get_or_init(|| CallerError::new(error));
    }

    /// What is kept; the caller's code is then asked no more.
    pub(crate) fn get(&self) -> Option<&CallerError> {
        self.0.get()
    }
}
