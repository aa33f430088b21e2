//! Strategies that grant one box a job.

pub(super) mod adaptive_scan;
pub(super) mod bf;
pub(super) mod bl;
pub(super) mod ff;
pub(super) mod qa;
pub(super) mod tbl;
pub(super) mod tff;
pub(super) mod wf;
