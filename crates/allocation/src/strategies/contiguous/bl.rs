//! Busy List: TBL without turning.
//!
//! The same rule as [`tbl`](super::tbl) with `turn=none`; all the code is there. Misses nothing of
//! the orientation asked for.
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, PGNET 2006.

use super::super::shared::base_search::ENGINE;
use super::super::shared::turning::TURN_OFF;
use super::tbl;
use crate::contiguous::complete;
use crate::kind::{ANY_GRID, BuildStrategy, Entry, StrategyKind};

pub(in crate::strategies) static ENTRY: Entry = Entry {
    name: "bl",
    title: "Busy List",
    source: "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2006",
    options: &[TURN_OFF, ENGINE],
    variants: &["", "plain"],
    does: StrategyKind {
        contiguous: true,
        turns: false,
        supports: ANY_GRID,
        claim: complete,
        build: BuildStrategy::Function(tbl::build),
    },
};
