//! Code shared by several schedulers.

pub(crate) mod beside;
pub(crate) mod ends;
pub(crate) mod promise;
pub(crate) mod refused;
