//! Busy List: TBL without turning.
//!
//! The same rule as [`tbl`](super::tbl) with `turn=none`; all the code is there. Misses nothing of
//! the orientation asked for.
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, PGNET 2006.

use super::super::shared::turning::TURN_OFF;
use super::tbl;
use crate::spec::{ANY_GRID, Spec};

pub(in crate::strategies) const SPEC: Spec = Spec {
    name: "bl",
    title: "Busy List",
    source: "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2006",
    contiguous: true,
    turns: false,
    options: &[TURN_OFF],
    variants: &[""],
    supports: ANY_GRID,
    claim: tbl::claim,
    build: tbl::build,
};
