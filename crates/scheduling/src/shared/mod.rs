//! What several schedulers use.

pub(crate) mod beside;
pub(crate) mod ends;
pub(crate) mod promise;
pub(crate) mod refused;
