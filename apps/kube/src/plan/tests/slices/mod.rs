//! Machines of slices.

mod control;
mod small;
