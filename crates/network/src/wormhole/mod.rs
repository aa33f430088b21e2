//! The two engines. They share only the paths and the engine interface, and must agree on every
//! message's timing.

mod flit;
mod worm;

pub use flit::Flit;
pub use worm::Worm;
