//! Tests of the public interface: plans, forecasts, and reasons. Plans are compared with brute
//! force in every small state.

mod brute;
mod by;
mod drains;
mod forecasts;
mod places;
mod random;
mod room;
mod slots;
mod states;
mod unblocks;
mod waits;
mod whys;
