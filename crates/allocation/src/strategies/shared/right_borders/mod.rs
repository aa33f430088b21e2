//! Searches for bases along the right borders of busy boxes, for RBS, BL, TBL and GABL.
//!
//! A free placement can be moved left until it reaches the machine's left face or touches a busy
//! box's right side. It is therefore enough to search the bases on these borders:
//!
//! ```text
//!   b # # c      b: the left face; c: the right border of the box #
//!   b # # c
//! ```
//!
//! - `lines`: the search in 2D, along border lines; `walk` goes from box to box.
//! - `planes`: the engine in 3D, which cuts planes into `pieces`; `planes_plain`: the plain search.
//!
//! The [`rbs`](crate::strategies::contiguous::rbs) and [`tbl`](crate::strategies::contiguous::tbl)
//! documentation explains why no free placement is missed, and states the cost.

pub(crate) mod lines;
mod lines_plain;
mod pieces;
pub(crate) mod planes;
pub(crate) mod planes_plain;
mod walk;
