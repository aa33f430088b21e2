//! The one place where files are read and written.
//!
//! Every program of the project (the command line, the Python package, the service) opens its files
//! here, so that the same things hold for all of them.
//!
//! - Reading is bounded: the length of a line, and the length of what is read after decompression.
//!   Both are [`Limits`], which a caller may raise.
//! - Writing is whole or not at all: a temporary file with a name that cannot be foreseen, made
//!   exclusively, written, synchronized and renamed. The mode of a file that is replaced stays.
//! - An output that is also an input is refused before anything is read ([`FileUses`]).
//! - A folder that is changed step by step is locked by one process ([`Lock`]).
//! - Text from outside is shown by `pavior_kernel::shown` alone, also in the errors of this crate.

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
pub use input::{open, read_if_there, read_text, stdin};
pub use limits::{LONGEST_DOCUMENT, LONGEST_INPUT, LONGEST_LINE, Limits};
pub use lines::{Lines, NextLine};
pub use lock::{Lock, is_empty};
pub use output::{Output, append, check_writable, remove, remove_unfinished, write_whole};
