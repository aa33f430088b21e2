//! What several schedulers are made of.

pub(crate) mod ends;
pub(crate) mod least;
pub(crate) mod profile;
pub(crate) mod promise;
pub(crate) mod refused;
