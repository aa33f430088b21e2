//! Safe display of untrusted text.
//!
//! Names, lines and values from a user or a file can contain anything: escape sequences that a
//! terminal executes, marks that reverse the direction of text, or a megabyte without a space.
//! Every message that quotes such text must pass it through this module, which escapes invisible
//! characters and truncates long text. The drawing crate escapes XML text.

use std::fmt::{self, Write};
use std::ops::Range;

/// Maximum number of characters quoted from a single untrusted text in a message.
pub const LONGEST_QUOTE: usize = 160;

/// Maximum number of characters in a message, including any quotations.
pub const LONGEST_MESSAGE: usize = 600;

/// Target length of an excerpt in bytes, and the maximum number of characters in each of the
/// excerpt's three pieces.
const EXCERPT: usize = 120;

/// Untrusted text, displayed as at most [`LONGEST_QUOTE`] harmless characters, followed by `…` if
/// the text is longer.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'t>(&'t str);

/// Prepares untrusted text for a message. Invisible characters are escaped, and only the first
/// [`LONGEST_QUOTE`] characters are shown. The cost is linear in the length shown.
///
/// ```
/// # mod pavior { pub use pavior_kernel as text; }
/// assert_eq!(pavior::text::shown("job \u{1b}[31m7").to_string(), r"job \u{1b}[31m7");
/// assert!(pavior::text::shown(&"x".repeat(1 << 20)).to_string().chars().count() <= 161);
/// ```
pub fn shown(text: &str) -> Shown<'_> {
    Shown(text)
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_bounded(f, self.0, LONGEST_QUOTE, false)
    }
}

/// Formats untrusted bytes for a message, as [`shown`] does for text. Replaces invalid UTF-8.
pub fn shown_bytes(bytes: &[u8]) -> String {
    // A character has at most four bytes.
    let enough = &bytes[..bytes.len().min(4 * (LONGEST_QUOTE + 1))];
    shown(&String::from_utf8_lossy(enough)).to_string()
}

/// Makes a whole message safe to display, whatever text it quotes. The result has at most
/// [`LONGEST_MESSAGE`] characters and no invisible characters other than line endings.
pub fn message(text: &str) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_bounded(&mut out, text, LONGEST_MESSAGE, true);
    out
}

/// Makes a table cell's text safe to display. Does not truncate the text, because tables limit
/// their own width.
pub fn cell(text: &str) -> String {
    let mut out = String::new();
    let _ = write_bounded(&mut out, text, usize::MAX, false);
    out
}

/// Returns a displayable excerpt of the line around an error, and the error's range in the excerpt.
///
/// ```
/// # mod pavior { pub use pavior_kernel as text; }
/// let (text, span) = pavior::text::excerpt(b"a\x00b 1x", 4..6);
/// assert_eq!((text.as_str(), &text[span]), (r"a\0b 1x", "1x"));
/// ```
pub fn excerpt(line: &[u8], at: Range<usize>) -> (String, Range<usize>) {
    let start = at.start.min(line.len());
    let end = at.end.clamp(start, line.len());
    // Cut the text only between characters. If the error is far into the line, keep about the same
    // amount of text on both sides of the error.
    let boundary = |mut at: usize| {
        while at > 0 && at < line.len() && line[at] & 0xc0 == 0x80 {
            at -= 1;
        }
        at
    };
    let from = if start > EXCERPT { boundary(start - EXCERPT / 2) } else { 0 };
    let to = boundary(line.len().min(from + EXCERPT).max(line.len().min(start + EXCERPT / 2)));
    let (start, to) = (start.max(from), to.max(start));
    let piece = |bytes: &[u8]| {
        let mut out = String::new();
        let text = String::from_utf8_lossy(bytes).replace('\t', " ");
        let _ = write_bounded(&mut out, &text, EXCERPT, false);
        out
    };
    let mut text = String::from(if from > 0 { "…" } else { "" });
    text += &piece(&line[from..start]);
    let fault = text.len()..text.len() + piece(&line[start..end.min(to)]).len();
    text += &piece(&line[start..end.min(to)]);
    text += &piece(&line[end.min(to)..to]);
    text += if to < line.len() { "…" } else { "" };
    (text, fault)
}

/// Writes at most `longest` characters, followed by `…` if the text is longer.
fn write_bounded(out: &mut impl Write, text: &str, longest: usize, line_ends: bool) -> fmt::Result {
    let mut room = longest;
    for c in text.chars() {
        let kept = !is_invisible(c) || (line_ends && c == '\n');
        let length = if kept { 1 } else { escape(c).count() };
        if length > room {
            return out.write_char('…');
        }
        room -= length;
        if kept {
            out.write_char(c)?;
        } else {
            escape(c).try_for_each(|c| out.write_char(c))?;
        }
    }
    Ok(())
}

/// Escapes a character, for example as `\n`, `\0` or `\u{1b}`.
fn escape(c: char) -> impl Iterator<Item = char> + Clone {
    let (nul, other) = if c == '\0' { (Some("\\0"), None) } else { (None, Some(c)) };
    let other = other.into_iter().flat_map(char::escape_default);
    nul.into_iter().flat_map(str::chars).chain(other)
}

/// Returns true if a character is invisible, moves the cursor, or reorders other characters.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{feff}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
        || u32::from(c) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_written_out() {
        for (text, expected) in [
            ("a\tb\r\n", r"a\tb\r\n"),
            ("\u{9b}2J", r"\u{9b}2J"),
            ("\u{202e}abc", r"\u{202e}abc"),
            ("\u{fffe}\u{1ffff}", r"\u{fffe}\u{1ffff}"),
            ("größe → 5 '\"\\", "größe → 5 '\"\\"),
        ] {
            assert_eq!(shown(text).to_string(), expected);
        }
        assert_eq!(message("two\nlines\r"), "two\nlines\\r");
        assert_eq!(shown_bytes(b"\xff\x07"), "\u{fffd}\\u{7}");
    }

    #[test]
    fn long_text_is_cut() {
        let long = "\u{1b}".repeat(1000);
        assert!(shown(&long).to_string().chars().count() <= LONGEST_QUOTE + 1);
        assert!(message(&"é".repeat(10_000)).chars().count() == LONGEST_MESSAGE + 1);
        assert_eq!(cell(&"é".repeat(10_000)).chars().count(), 10_000);
    }

    #[test]
    fn excerpts_keep_the_fault_in_sight() {
        let line = format!("{}FAULT{}", "x".repeat(5000), "y".repeat(5000));
        let (text, span) = excerpt(line.as_bytes(), 5000..5005);
        assert_eq!(&text[span], "FAULT");
        assert!(text.starts_with('…') && text.ends_with('…') && text.chars().count() < 200);
        assert_eq!(excerpt(b"abc", 3..3), ("abc".to_string(), 3..3));
        assert_eq!(excerpt(b"", 0..9), (String::new(), 0..0));
    }

    proptest! {
        #[test]
        fn nothing_invisible_is_ever_shown(
            bytes in prop::collection::vec(any::<u8>(), 0..400),
            from in 0usize..500,
            to in 0usize..500
        ) {
            let (text, span) = excerpt(&bytes, from..to);
            prop_assert!(text.get(span).is_some());
            prop_assert!(text.chars().count() <= 4 * EXCERPT);
            prop_assert!(!text.contains(is_invisible));
            let text = String::from_utf8_lossy(&bytes);
            prop_assert!(!shown(&text).to_string().contains(is_invisible));
            prop_assert!(!cell(&text).contains(is_invisible));
        }
    }
}
