//! Strategies that grant one box per job.

pub(super) mod adaptive_scan;
pub(super) mod adj;
pub(super) mod asff;
pub(super) mod bf;
pub(super) mod bl;
pub(super) mod choo;
pub(super) mod ff;
pub(super) mod fl;
pub(super) mod flexfold;
pub(super) mod fs;
pub(super) mod gradient;
pub(super) mod kymfl;
pub(super) mod lssa;
pub(super) mod mfa;
pub(super) mod pmfl;
pub(super) mod qa;
pub(super) mod rbs;
pub(super) mod sba;
pub(super) mod tbl;
pub(super) mod tff;
pub(super) mod two_db;
pub(super) mod wf;
