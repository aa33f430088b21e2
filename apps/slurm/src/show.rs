//! Information for users and operators: `why`, the page and the metrics.

pub(crate) mod metrics;
pub(crate) mod page;
pub(crate) mod why;
