//! The behaviour of the allocation crate, seen from outside.

mod cases;
mod conformance;
mod free_lists;
mod gabl;
mod machine;
mod registry;
mod tbl_printed;
