//! Strategies that may grant several boxes a job.

pub(super) mod gabl;
