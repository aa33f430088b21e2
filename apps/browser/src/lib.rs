//! The engine for a page in a browser: the commands of the page as JSON, and their replies.
//!
//! [`Engine::answer`] is everything: a message has one line of JSON, and after the end of the line
//! the bytes of a log, if the command reads one. The same message gets the same bytes in a browser
//! and in a native program. In a browser, `exports` passes messages through the linear memory, so
//! that neither a generated script nor a second description of the interface is needed.
//!
//! Settings are those of `pavior simulate`, under the same names. Nothing here reads a clock, and
//! no thread is started.

mod ask;
mod engine;
#[cfg(target_family = "wasm")]
mod exports;
mod log;
mod registries;
mod session;

pub use engine::Engine;
