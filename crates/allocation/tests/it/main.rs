//! Tests of the public behavior of the allocation crate.

mod buddies;
mod cases;
mod common;
mod conformance;
mod connected;
mod connected_pinned;
mod drawings;
mod edge;
mod engines;
mod equalities;
mod explain;
mod fork;
mod free_lists;
mod freedom;
mod gabl;
mod lssa;
mod machine;
mod mfa;
mod mfa_figures;
mod noncontiguous;
mod partitioned;
mod pools;
mod registry;
mod shells;
mod tbl_printed;
mod work;
