//! Reading and writing files.
//!
//! Every program in the project (the command line, the Python package, the service) uses this crate
//! to open its files. It guarantees that:
//!
//! - Reading is bounded. [`Limits`], which a caller may raise, apply to the length of a line and to
//!   the length of the input after decompression.
//! - Writing is atomic. A temporary file with a random name is created exclusively, written,
//!   synchronized and renamed. A replaced file keeps its mode.
//! - An output that is also an input is rejected before anything is read ([`FileUses`]).
//! - Only one process at a time can change a folder that contains several files ([`Lock`]).
//! - Untrusted text is shown only through `pavior_kernel::shown`, including in this crate's errors.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod bounded;
mod error;
mod identity;
mod input;
mod limits;
mod lines;
mod lock;
mod output;
mod partial;

pub use bounded::Bounded;
pub use error::{FileError, shown};
pub use identity::FileUses;
pub use input::{open, read_if_there, read_text, stdin, unpacked};
pub use limits::{LONGEST_DOCUMENT, LONGEST_INPUT, LONGEST_LINE, Limits};
pub use lines::{Lines, NextLine};
pub use lock::{Lock, is_empty};
pub use output::{Output, append, check_writable, remove, remove_unfinished, write_whole};
