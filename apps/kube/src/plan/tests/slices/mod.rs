//! Machines of slices.

mod control;
mod judge;
mod small;
mod storm;
mod trouble;
