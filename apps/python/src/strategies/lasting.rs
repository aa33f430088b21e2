//! Names with a `'static` lifetime.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Returns a copy of a name with a `'static` lifetime, as registries require. Equal names are
/// stored only once.
pub(crate) fn lasting(name: &str) -> &'static str {
    static KNOWN: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(name) = known.get(name) {
        return name;
    }
    let name: &'static str = name.to_string().leak();
    known.insert(name);
    name
}
