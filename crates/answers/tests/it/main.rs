//! Answers from outside: plans against brute force on every small state, forecasts, reasons.

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
