//! The engine that carries out the commands of the browser page.
//!
//! [`Engine::answer`] is the whole interface. A message is one line of JSON, followed by the bytes
//! of a log if the command reads one. Replies are byte-for-byte identical in a browser and in a
//! native program. In a browser, `exports` passes messages through linear memory, which requires
//! neither generated scripts nor a second interface description.
//!
//! Settings have the same names as in `pavior simulate`. The crate does not read a clock or start
//! threads.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod ask;
mod engine;
#[cfg(target_family = "wasm")]
mod exports;
mod fault;
mod log;
mod registries;
mod session;
mod statistics;

pub use engine::Engine;
