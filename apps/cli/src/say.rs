//! Standard error: messages are escaped, and errors in writing them have no effect.
//!
//! Standard error may be closed or on a full disk. That is no reason to fail or to change the exit
//! status. The whole program uses this macro instead of the standard library's, which panics.

use std::fmt::Arguments;
use std::io::Write;

/// Prints a line on standard error.
macro_rules! eprintln {
    ($($words:tt)*) => { $crate::say::say(format_args!($($words)*)) };
}

/// Prints one line on standard error. The text cannot move a cursor or begin another line, and the
/// line's length is limited.
pub(crate) fn say(words: Arguments<'_>) {
    let line = pavior::text::message(&pavior::text::cell(&words.to_string())) + "\n";
    // A failure to write cannot be reported anywhere.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
