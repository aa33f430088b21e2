//! Reading and writing files.
//!
//! Every program in the project (the command line, the Python package, the service) opens its files
//! with this crate, so that all of them share these properties:
//!
//! - Reading is bounded: the length of a line and the length of the input after decompression have
//!   [`Limits`], which a caller may raise.
//! - Writing is atomic: a temporary file with a random name is created exclusively, written,
//!   synchronized and renamed. A file that is replaced keeps its mode.
//! - An output that is also an input is rejected before anything is read ([`FileUses`]).
//! - A folder that is changed step by step is locked by one process ([`Lock`]).
//! - Untrusted text is only shown through `pavior_kernel::shown`, including in this crate's errors.

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
