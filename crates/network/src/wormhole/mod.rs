//! The two engines. They share nothing but the paths and the engine interface, and they must agree
//! on every message.

mod flit;
mod worm;

pub use flit::Flit;
pub use worm::Worm;
