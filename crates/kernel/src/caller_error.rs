//! Errors from entries that the caller added to a registry.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// An error from a strategy, scheduler or other entry that the caller added to a registry. Such an
/// error occurs, for example, if a script raises an exception or a service does not respond. All
/// clones share one underlying error, and two values are equal only if they share it.
///
/// ```
/// # mod pavior { pub use pavior_kernel as names; }
/// use pavior::names::CallerError;
/// let error = CallerError::new("the service does not answer");
/// assert_eq!(error.to_string(), "the service does not answer");
/// assert!(CallerError::new(std::fmt::Error).get().is::<std::fmt::Error>());
/// ```
#[derive(Clone, Debug)]
pub struct CallerError(Arc<dyn Error + Send + Sync>);

impl CallerError {
    /// Wraps an error or a message.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> CallerError {
        CallerError(Arc::from(error.into()))
    }

    /// Returns the original error, for downcasting.
    pub fn get(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl fmt::Display for CallerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for CallerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.get())
    }
}

impl PartialEq for CallerError {
    fn eq(&self, other: &CallerError) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for CallerError {}
