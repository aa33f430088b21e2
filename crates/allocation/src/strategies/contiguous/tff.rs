//! Turning First Fit: First Fit that may also rotate the request.
//!
//! This is [`ff`](super::ff) with `turn=all`, under the name used in the TBL paper; all of the code
//! is in that module. The strategy finds a free placement whenever one exists. Cost: one First Fit
//! search for each orientation tried.
//!
//! Source: Ababneh, "Job scheduling and contiguous processor allocation for three-dimensional mesh
//! multicomputers", AMSE Advances in Modelling & Analysis 6(4), 2001.

use super::ff;
use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::base_search::SEARCH;
use crate::strategies::shared::turning::TURN_ON;

pub(crate) static ENTRY: Entry = Entry {
    name: "tff",
    title: "Turning First Fit",
    source: "Ababneh 2001",
    options: &[SEARCH, TURN_ON, ff::SCAN],
    variants: &["", "plain", "corners", "leaps", "rows", "scan=yzx"],
    does: StrategyKind::contiguous(ff::build).with_claim(ff::claim),
};
