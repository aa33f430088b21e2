//! Reading and writing files.
//!
//! Every Pavior program (the command line, the Python package and the service) opens its files
//! through this crate, which guarantees the following:
//!
//! - Reading is bounded. [`Limits`] cap the length of each line and the size of the input after
//!   decompression. A caller may raise these limits.
//! - Writing is atomic. A temporary file with a random name is created exclusively, written,
//!   synchronized and renamed. An existing destination keeps its mode, except in
//!   [`replace_public`].
//! - An output that is also an input is rejected before anything is read ([`FileUses`]).
//! - A directory of related files is changed by only one process at a time ([`Lock`]).
//! - Untrusted text is displayed only through `pavior_kernel::shown`, even in this crate's errors.
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
pub use output::{
    Output, append, check_writable, remove, remove_unfinished, replace_public, write_whole,
};
