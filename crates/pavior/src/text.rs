//! Escapes untrusted text for messages, tables and terminals.
//!
//! User-supplied names and files can contain escape sequences, bidirectional control characters, or
//! megabytes of data. Pass such text through one of these functions before quoting it in a message.
//!
//! ```
//! use pavior::text::{cell, shown};
//!
//! assert_eq!(shown("job \u{1b}[31m7").to_string(), r"job \u{1b}[31m7");
//! assert!(shown(&"x".repeat(1 << 20)).to_string().chars().count() <= 161);
//! assert_eq!(cell("two\tcolumns"), r"two\tcolumns");
//! ```

pub use pavior_kernel::{
    LONGEST_MESSAGE, LONGEST_QUOTE, Shown, cell, excerpt, message, shell_word, shown, shown_bytes,
};
