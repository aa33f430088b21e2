//! The strategies, one file each, and the one list of them.
//!
//! To add one: write its file with a `SPEC`, name the module in its folder's `mod.rs`, and add one
//! line here. Everything else (names, help, tables, tests, benches) derives from the `SPEC`.

mod contiguous;
mod noncontiguous;
mod shared;

use crate::spec::Spec;
use contiguous::{
    adaptive_scan, asff, bf, bl, ff, flexfold, fs, lssa, mfa, qa, tbl, tff, two_db, wf,
};
use noncontiguous::nas;
pub use shared::fringe::{MfaCandidate, MfaSide, MfaVerdict, mfa_candidates};

/// Every strategy, contiguous ones first, in the order in which tables show them.
pub(crate) const ALL: &[&Spec] = &[
    &ff::SPEC,
    &tff::SPEC,
    &bf::SPEC,
    &wf::SPEC,
    &bl::SPEC,
    &tbl::SPEC,
    &two_db::SPEC,
    &fs::SPEC,
    &adaptive_scan::SPEC,
    &qa::SPEC,
    &mfa::SPEC,
    &flexfold::SPEC,
    &asff::SPEC,
    &lssa::SPEC,
    &nas::SPEC,
];

/// Other names for a strategy with options.
pub(crate) const ALIASES: &[(&str, &str)] = &[];
