//! Quoting for shells.

use std::borrow::Cow;

/// Quotes a word for a POSIX shell if necessary. The cost is linear in the word's length.
///
/// ```
/// # mod pavior { pub use pavior_kernel as text; }
/// assert_eq!(pavior::text::shell_word("mesh:8x8"), "mesh:8x8");
/// assert_eq!(pavior::text::shell_word("it's"), r"'it'\''s'");
/// ```
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}
