//! The strategies, one file each, and the one list of them.
//!
//! To add one: write its file with a `SPEC`, name the module in its folder's `mod.rs`, and add one
//! line here. Everything else (names, help, tables, tests, benches) derives from the `SPEC`.

mod contiguous;
mod noncontiguous;
mod shared;

use crate::spec::Spec;
use contiguous::{bl, ff, tbl, tff};
use noncontiguous::{
    anca, gen_alg, granular_mbs, linear_best, linear_first, linear_sorted, mbs, mc, mc1x1, mip,
    naive, paging, random,
};

/// Every strategy, contiguous ones first, in the order in which tables show them.
pub(crate) const ALL: &[&Spec] = &[
    &ff::SPEC,
    &tff::SPEC,
    &bl::SPEC,
    &tbl::SPEC,
    &random::SPEC,
    &naive::SPEC,
    &paging::SPEC,
    &mbs::SPEC,
    &granular_mbs::SPEC,
    &anca::SPEC,
    &mip::SPEC,
    &mc::SPEC,
    &mc1x1::SPEC,
    &gen_alg::SPEC,
    &linear_first::SPEC,
    &linear_best::SPEC,
    &linear_sorted::SPEC,
];

/// Other names for a strategy with options.
pub(crate) const ALIASES: &[(&str, &str)] = &[("hilbert", "linear-best:hilbert")];
