//! Tests of answers through the public interface. Plans are compared with brute force in every
//! small state. Forecasts and reasons are tested as well.

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
