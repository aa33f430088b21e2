//! The behaviour of the simulation crate, seen from outside.

mod fairness;
