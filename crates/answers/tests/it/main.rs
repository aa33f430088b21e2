//! Tests of the public interface: plans (compared with brute force in every small state),
//! forecasts, and reasons.

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
