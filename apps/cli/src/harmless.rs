//! Escapes text from untrusted sources (files, arguments and the network) for standard output.
//! Escaped text cannot move the cursor, change colors, or reverse the order of characters. Hidden
//! characters are escaped in the syntax of the output format, so a program that parses the output
//! gets the original text.

use std::borrow::Cow;

/// Escapes hidden characters in JSON strings, e.g., as `\u202e`. Outside strings, white space is
/// the only hidden text that JSON allows.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    escaped(text, |c| {
        let mut units = [0; 2];
        let units = c.encode_utf16(&mut units).iter();
        units.map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat()
    })
}

/// Escapes hidden characters in XML, e.g., as `&#x202e;`.
pub(crate) fn xml(text: &str) -> Cow<'_, str> {
    escaped(text, |c| format!("&#x{:x};", u32::from(c)))
}

/// Escapes hidden characters in human-readable lines or a CSV table, e.g., as `\u{202e}`.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| pavior::text::cell(c.encode_utf8(&mut [0; 4])))
}

fn escaped(text: &str, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let piece = |c: char| if is_hidden(c) { escape(c) } else { c.to_string() };
    Cow::Owned(text.chars().map(piece).collect())
}

/// Returns true if a character is invisible. A line feed does not count as invisible.
fn is_hidden(c: char) -> bool {
    let visible = matches!(c, ' '..='~' | '\n');
    !visible && {
        let mut bytes = [0; 4];
        let c: &str = c.encode_utf8(&mut bytes);
        pavior::text::cell(c) != c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[2J\u{9b}1m\u{202e}\u{7f}\r\u{feff}é名\u{e0001}";

    #[test]
    fn json_reads_back_the_same() {
        let text = serde_json::to_string_pretty(&[HOSTILE, "b"]).unwrap();
        let shown = json(&text);
        assert!(!shown.chars().any(is_hidden), "{shown}");
        let back: Vec<String> = serde_json::from_str(&shown).unwrap();
        assert_eq!(back, [HOSTILE, "b"]);
        assert!(matches!(json("{\"a\": \"é\"}\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn lines_and_xml_show_what_is_hidden() {
        assert_eq!(lines("a\u{1b}b\nc\u{202e}"), "a\\u{1b}b\nc\\u{202e}");
        assert_eq!(xml("<a>\u{202e}</a>\n"), "<a>&#x202e;</a>\n");
        assert!(![lines(HOSTILE), xml(HOSTILE)].iter().any(|text| text.chars().any(is_hidden)));
    }
}
