//! The two engines. Neither uses code of the other. They share only paths and the engine interface,
//! and must agree message by message.

mod flit;
mod worm;

pub use flit::Flit;
pub use worm::Worm;
