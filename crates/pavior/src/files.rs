//! Reads files within size limits and writes them atomically.
//!
//! - Readers enforce [`Limits`] on the length of a line and the size of the decompressed input.
//! - Writes are atomic: a file contains either its old or its new contents, never a mixture.
//! - Before anything is read, [`FileUses`] rejects an output that is also an input.
//! - A [`Lock`] lets only one process at a time modify the files in a directory.
//!
//! ```
//! use std::io::Write;
//!
//! use pavior::files::{Limits, read_text, write_whole};
//!
//! let path = std::env::temp_dir().join(format!("pavior-files-{}.txt", std::process::id()));
//! write_whole(&path, |to| to.write_all(b"machine = 'mesh:8x8'\n"))?;
//! assert_eq!(read_text(&path, Limits::DOCUMENT)?, "machine = 'mesh:8x8'\n");
//! std::fs::remove_file(&path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_files::{
    Bounded, FileError, FileUses, LONGEST_DOCUMENT, LONGEST_INPUT, LONGEST_LINE, Limits, Lines,
    Lock, NextLine, Output, append, check_writable, is_empty, open, read_if_there, read_text,
    remove, remove_unfinished, replace_public, shown, stdin, unpacked, write_whole,
};
