//! The two engines. Neither uses the other's code. They share paths and the interface of an engine,
//! and must agree message by message.

mod flit;
mod worm;

pub use flit::Flit;
pub use worm::Worm;
