//! Code that several schedulers share.

pub(crate) mod beside;
pub(crate) mod ends;
pub(crate) mod promise;
pub(crate) mod refused;
