//! The engine for a page in a browser: the page's commands as JSON, and their replies.
//!
//! [`Engine::answer`] is the whole interface: a message is one line of JSON, followed by the bytes
//! of a log if the command reads one. Replies are the same, byte for byte, in a browser and in a
//! native program. In a browser, `exports` passes messages through linear memory. This requires
//! neither generated scripts nor a second interface description.
//!
//! Settings have the same names as in `pavior simulate`. The crate reads no clock and starts no
//! thread.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod ask;
mod engine;
#[cfg(target_family = "wasm")]
mod exports;
mod log;
mod registries;
mod session;
mod statistics;

pub use engine::Engine;
