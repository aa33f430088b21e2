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
//! - A directory of a run ([`Directory`]) is locked by one process, and every line and file in it
//!   has a checksum.
//! - Text from outside is shown by `pavior_kernel::shown` alone, also in the errors of this crate.

mod bounded;
mod directory;
mod error;
mod folder;
mod identity;
mod input;
mod limits;
mod lines;
mod logs;
mod output;
mod partial;
mod replications;
mod run;
mod sealed;

pub use bounded::Bounded;
pub use directory::{Directory, Journal, Known, Resume, is_empty, known, note, verify};
pub use error::FileError;
pub use folder::Folder;
pub use identity::FileUses;
pub use input::{open, read_text, stdin};
pub use limits::{LONGEST_DOCUMENT, LONGEST_INPUT, LONGEST_LINE, Limits};
pub use lines::{Lines, NextLine};
pub use logs::{LogError, read_log};
pub use output::{Output, check_writable, write_whole};
pub use replications::replications;
pub use run::{Note, Run};
pub use sealed::{seal, unseal};
