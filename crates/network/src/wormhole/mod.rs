//! The two engines. Neither uses the other's code. They share only paths and the engine interface,
//! and must agree message by message.

mod flit;
mod worm;

pub use flit::Flit;
pub use worm::Worm;
