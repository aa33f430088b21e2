//! Prints escaped messages on standard error, and ignores write errors.
//!
//! Standard error may be closed, or redirected to a full disk. A failed write must not make a
//! command fail or change its exit status, so the whole program uses this macro instead of the
//! standard library's, which panics.

use std::fmt::Arguments;
use std::io::Write;

/// Prints a line on standard error.
macro_rules! eprintln {
    ($($words:tt)*) => { $crate::say::say(format_args!($($words)*)) };
}

/// Prints one line on standard error. Escapes the text so that it cannot move the cursor or begin
/// another line, and truncates it if it is long.
pub(crate) fn say(words: Arguments<'_>) {
    let line = pavior::text::message(&pavior::text::cell(&words.to_string())) + "\n";
    // If this write fails, the failure cannot be reported.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
