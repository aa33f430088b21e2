//! The engine for a page in a browser: the page's commands as JSON, and their replies.
//!
//! [`Engine::answer`] is the whole interface: a message is one line of JSON, followed by the bytes
//! of a log if the command reads one. A message gets the same reply, byte for byte, in a browser
//! and in a native program. In a browser, `exports` passes messages through linear memory, so that
//! neither a generated script nor a second description of the interface is needed.
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

pub use engine::Engine;
