//! Bases on the right borders of busy boxes: the searches of RBS, BL, TBL and GABL.
//!
//! A first free base can be slid left until it stands on the left face of the machine or touches
//! the right side of a busy box. So the bases on these borders are enough:
//!
//! ```text
//!   b # # c      b: the left face; c: the right border of the box #
//!   b # # c
//! ```
//!
//! - `lines`: in a plane, along border lines; `walk` steps from box to box.
//! - `planes`, with `pieces` of planes: in space, the engine; `planes_plain` is its plain search.
//!
//! The headers of [`rbs`](crate::strategies::contiguous::rbs) and
//! [`tbl`](crate::strategies::contiguous::tbl) tell why nothing is missed, and what it costs.

pub(crate) mod lines;
mod lines_plain;
mod pieces;
pub(crate) mod planes;
pub(crate) mod planes_plain;
mod walk;
