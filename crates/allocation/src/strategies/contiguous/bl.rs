//! Busy List: TBL without rotation.
//!
//! This is [`tbl`](super::tbl) with `turn=none`; all of the code is in that module. The strategy
//! finds a free base for the requested orientation whenever one exists.
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, PGNET 2006.

use super::tbl;
use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::base_search::ENGINE;
use crate::strategies::shared::turning::TURN_OFF;

pub(crate) static ENTRY: Entry = Entry {
    name: "bl",
    title: "Busy List",
    source: "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2006",
    options: &[TURN_OFF, ENGINE],
    variants: &["", "plain"],
    does: StrategyKind::contiguous(tbl::build).with_turns(false),
};
