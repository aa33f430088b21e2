//! Strategies that may grant several boxes, or single nodes, a job.

pub(super) mod nas;
