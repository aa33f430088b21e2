//! The behaviour of the allocation crate, seen from outside.

mod buddies;
mod cases;
mod conformance;
mod free_lists;
mod gabl;
mod machine;
mod noncontiguous;
mod registry;
mod shells;
mod tbl_printed;
