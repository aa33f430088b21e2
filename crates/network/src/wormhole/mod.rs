//! The two engines. Neither uses the other's code; they share paths and the definition of an
//! engine, and must agree message by message.

mod flit;
mod worm;

pub use flit::Flit;
pub use worm::Worm;
