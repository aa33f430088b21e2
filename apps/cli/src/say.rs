//! Standard error: whatever is said there is harmless, and a closed or full one changes nothing.
//!
//! Standard error may be a closed descriptor or a full disk. That is no reason to fail, or to exit
//! in another way than otherwise. The macro takes the place of the library's, which panics, in the
//! whole program.

use std::fmt::Arguments;
use std::io::Write;

/// Says a line on standard error.
macro_rules! eprintln {
    ($($words:tt)*) => { $crate::say::say(format_args!($($words)*)) };
}

/// Says one line on standard error: nothing of it moves a cursor or begins another line, and it is
/// not endless.
pub(crate) fn say(words: Arguments<'_>) {
    let line = pavior::text::message(&pavior::text::cell(&words.to_string())) + "\n";
    // There is no one to tell that it cannot be said.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
