//! Bases on the right borders of busy boxes: the searches of RBS, BL, TBL and GABL.
//!
//! A free placement can be moved left until it is on the machine's left face or touches the right
//! side of a busy box. The bases on these borders are therefore sufficient:
//!
//! ```text
//!   b # # c      b: the left face; c: the right border of the box #
//!   b # # c
//! ```
//!
//! - `lines`: in 2D, along border lines; `walk` steps from box to box.
//! - `planes`, with `pieces` of planes: the engine in 3D; `planes_plain` is its plain search.
//!
//! The docs of [`rbs`](crate::strategies::contiguous::rbs) and
//! [`tbl`](crate::strategies::contiguous::tbl) explain why nothing is missed, and the cost.

pub(crate) mod lines;
mod lines_plain;
mod pieces;
pub(crate) mod planes;
pub(crate) mod planes_plain;
mod walk;
