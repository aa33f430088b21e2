//! Strategies that grant one box a job.

pub(super) mod adj;
pub(super) mod bl;
pub(super) mod choo;
pub(super) mod ff;
pub(super) mod fl;
pub(super) mod kymfl;
pub(super) mod pmfl;
pub(super) mod rbs;
pub(super) mod sba;
pub(super) mod tbl;
pub(super) mod tff;
