//! Parses JSON from other programs, rejecting ambiguous input, and writes log lines for daemons.
//!
//! A duplicate key in an object is an error, because programs disagree on which value to use.
//!
//! ```
//! use pavior::json;
//!
//! let nodes: Vec<u32> = json::read(b"[3, 4]")?;
//! assert_eq!(nodes, [3, 4]);
//! let twice = json::check(br#"{"user": "ann", "user": "root"}"#).unwrap_err();
//! assert_eq!(json::reason(&twice), "the member `user` appears twice");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_kernel::json::{check, log, read, reason};
