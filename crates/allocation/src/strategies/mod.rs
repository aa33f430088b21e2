//! The strategies, one file each, and the one list of them.
//!
//! To add one: write its file with an `ENTRY`, name the module in its folder's `mod.rs`, and add one
//! line here. Everything else (names, help, tables, tests, benches) derives from the `ENTRY`.

mod contiguous;
mod noncontiguous;
mod partitioned;
mod shared;

use crate::kind::Entry;
use contiguous::{
    adaptive_scan, adj, asff, bf, bl, choo, ff, fl, flexfold, fs, kymfl, lssa, mfa, pmfl, qa, rbs,
    sba, tbl, tff, two_db, wf,
};
use noncontiguous::{
    anca, connected, gabl, gen_alg, granular_mbs, linear_best, linear_first, linear_sorted, mbs,
    mc, mc1x1, mip, naive, nas, paging, random,
};
use partitioned::{bluegene, tpu};
pub(crate) use shared::base_search::BaseSearch;
pub use shared::border_planes::tbl_most_pieces;
pub(crate) use shared::busy_list::BusyList;
pub(crate) use shared::contact::{contact, most_contact};
pub use shared::fringe::{MfaCandidate, MfaSide, MfaVerdict, mfa_candidates};
pub(crate) use shared::prefix_sums::PrefixSums;
pub use shared::turning::{
    TURN_BEST_OFF, TURN_BEST_ON, TURN_OFF, TURN_ON, Turn, box_family, turn_over,
};

/// Every strategy, contiguous ones first, in the order in which tables show them.
pub(crate) const ALL: &[&Entry] = &[
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
    // End of the contiguous ones.
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
    &mc1x1::ENTRY,
    &gen_alg::ENTRY,
    &linear_first::ENTRY,
    &linear_best::ENTRY,
    &linear_sorted::ENTRY,
    &bluegene::ENTRY,
    &tpu::ENTRY,
];

/// Other names for a strategy with options.
pub(crate) const ALIASES: &[(&str, &str)] = &[("hilbert", "linear-best:hilbert")];
