//! Tests of the public behavior of the mesh crate.

mod bases;
mod edge;
mod largest;
mod naive;
mod occupancy;
mod search;
