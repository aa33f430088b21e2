//! The strategies, one file each, and the one list of them.
//!
//! To add one: write its file with a `SPEC`, name the module in its folder's `mod.rs`, and add one
//! line here. Everything else (names, help, tables, tests, benches) derives from the `SPEC`.

mod contiguous;
mod noncontiguous;
mod partitioned;
mod shared;

use crate::spec::Spec;
use contiguous::{
    adaptive_scan, adj, asff, bf, bl, choo, ff, fl, flexfold, fs, kymfl, lssa, mfa, pmfl, qa, rbs,
    sba, tbl, tff, two_db, wf,
};
use noncontiguous::{
    anca, gabl, gen_alg, granular_mbs, linear_best, linear_first, linear_sorted, mbs, mc, mc1x1,
    mip, naive, nas, paging, random,
};
use partitioned::{bluegene, tpu};
pub use shared::border_planes::tbl_most_pieces;
pub(crate) use shared::contact::{contact, most_contact};
pub use shared::fringe::{MfaCandidate, MfaSide, MfaVerdict, mfa_candidates};
pub(crate) use shared::prefix_sums::PrefixSums;

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
    &adj::SPEC,
    &fl::SPEC,
    &qa::SPEC,
    &sba::SPEC,
    &rbs::SPEC,
    &mfa::SPEC,
    &flexfold::SPEC,
    &asff::SPEC,
    &lssa::SPEC,
    &kymfl::SPEC,
    &pmfl::SPEC,
    &choo::SPEC,
    &random::SPEC,
    &naive::SPEC,
    &paging::SPEC,
    &mbs::SPEC,
    &granular_mbs::SPEC,
    &anca::SPEC,
    &gabl::SPEC,
    &mip::SPEC,
    &nas::SPEC,
    &mc::SPEC,
    &mc1x1::SPEC,
    &gen_alg::SPEC,
    &linear_first::SPEC,
    &linear_best::SPEC,
    &linear_sorted::SPEC,
    &bluegene::SPEC,
    &tpu::SPEC,
];

/// Other names for a strategy with options.
pub(crate) const ALIASES: &[(&str, &str)] = &[("hilbert", "linear-best:hilbert")];
