//! Untrusted text in messages, tables and on terminals.
//!
//! Names and files supplied by users can contain escape sequences, marks that reverse text, or
//! megabytes of data. Messages that quote such text should pass it through one of these functions.
//!
//! ```
//! use pavior::text::{cell, shown};
//!
//! assert_eq!(shown("job \u{1b}[31m7").to_string(), r"job \u{1b}[31m7");
//! assert!(shown(&"x".repeat(1 << 20)).to_string().chars().count() <= 161);
//! assert_eq!(cell("two\tcolumns"), r"two\tcolumns");
//! ```

pub use pavior_kernel::{
    LONGEST_MESSAGE, LONGEST_QUOTE, Shown, cell, excerpt, message, shown, shown_bytes,
};
