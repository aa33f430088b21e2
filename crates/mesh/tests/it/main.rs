//! The behaviour of the mesh crate, seen from outside.

mod bases;
mod largest;
mod naive;
mod occupancy;
mod search;
