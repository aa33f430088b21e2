//! What several schedulers are made of.

pub(crate) mod arrivals;
pub(crate) mod ends;
pub(crate) mod growth;
pub(crate) mod least;
pub(crate) mod plan;
pub(crate) mod profile;
pub(crate) mod promise;
pub(crate) mod refused;
pub(crate) mod slot;
pub(crate) mod steps;
pub(crate) mod ways;
