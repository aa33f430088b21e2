//! Bases on the right borders of busy boxes: the searches of RBS, BL, TBL and GABL.
//!
//! The headers of [`rbs`](crate::strategies::contiguous::rbs) and
//! [`tbl`](crate::strategies::contiguous::tbl) tell why they miss nothing, and what they cost.

pub(crate) mod lines;
mod pieces;
pub(crate) mod planes;
pub(crate) mod planes_plain;
mod walk;
