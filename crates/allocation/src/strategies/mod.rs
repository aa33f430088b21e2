//! The strategies, one per file, and a list of all of them.
//!
//! To add a strategy, write its file with an `ENTRY`, declare the module in its directory's
//! `mod.rs`, and add one line here. Everything else (names, help, tables, tests, benchmarks) is
//! derived from the `ENTRY`.

mod contiguous;
mod noncontiguous;
mod partitioned;
pub(crate) mod shared;

use pavior_kernel::Family;

use crate::kind::{Entry, StrategyKind};
use contiguous::{
    adaptive_scan, adj, asff, bf, bl, choo, ff, fl, flexfold, fs, gradient, kymfl, lssa, mfa, pmfl,
    qa, rbs, sba, tbl, tff, two_db, wf,
};
use noncontiguous::{
    anca, connected, gabl, gen_alg, granular_mbs, linear_best, linear_first, linear_sorted, mbs,
    mc, mip, naive, nas, paging, random,
};
use partitioned::{bluegene, tpu};

pub use contiguous::mfa::{MfaCandidate, MfaSide, MfaVerdict, mfa_candidates};
pub use contiguous::tbl::tbl_most_pieces;
pub(crate) use noncontiguous::connected::ConnectedSearch;

/// All strategies, in the order used in tables, with contiguous ones first.
const ALL: &[&Entry] = &[
    &ff::ENTRY,
    &tff::ENTRY,
    &bf::ENTRY,
    &wf::ENTRY,
    &bl::ENTRY,
    &tbl::ENTRY,
    &two_db::ENTRY,
    &fs::ENTRY,
    &adaptive_scan::ENTRY,
    &adj::ENTRY,
    &fl::ENTRY,
    &qa::ENTRY,
    &sba::ENTRY,
    &rbs::ENTRY,
    &mfa::ENTRY,
    &flexfold::ENTRY,
    &asff::ENTRY,
    &lssa::ENTRY,
    &kymfl::ENTRY,
    &pmfl::ENTRY,
    &choo::ENTRY,
    &gradient::ENTRY,
    // The contiguous strategies end here.
    &random::ENTRY,
    &naive::ENTRY,
    &paging::ENTRY,
    &mbs::ENTRY,
    &granular_mbs::ENTRY,
    &anca::ENTRY,
    &gabl::ENTRY,
    &mip::ENTRY,
    &nas::ENTRY,
    &connected::ENTRY,
    &mc::ENTRY,
    &mc::mc1x1::ENTRY,
    &gen_alg::ENTRY,
    &linear_first::ENTRY,
    &linear_best::ENTRY,
    &linear_sorted::ENTRY,
    &bluegene::ENTRY,
    &tpu::ENTRY,
];

/// Other names for strategies with particular options.
const ALIASES: &[(&str, &str)] = &[("hilbert", "linear-best:hilbert")];

impl Family for StrategyKind {
    const NOUN: &'static str = "strategy";

    fn builtin() -> &'static [&'static Entry] {
        ALL
    }

    fn aliases() -> &'static [(&'static str, &'static str)] {
        ALIASES
    }
}
