//! Bases on the right borders of busy boxes: the searches of RBS, BL, TBL and GABL.

pub(crate) mod lines;
mod pieces;
pub(crate) mod planes;
mod walk;
