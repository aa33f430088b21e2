//! Bounded reading and atomic writing of files.
//!
//! - Reading has [`Limits`] on the lengths of lines and of the decompressed input.
//! - Writing is atomic: a file has either its old or its new contents, never a part.
//! - An output that is also an input is rejected before anything is read ([`FileUses`]).
//! - One process at a time can [`Lock`] a folder that it changes step by step.
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
    remove, remove_unfinished, shown, stdin, unpacked, write_whole,
};
