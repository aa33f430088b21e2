//! The behaviour of the mesh crate, seen from outside.

mod bases;
mod edge;
mod largest;
mod naive;
mod occupancy;
mod search;
