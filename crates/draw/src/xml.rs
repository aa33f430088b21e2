//! XML elements and escaping.

use std::borrow::Cow;
use std::fmt::{Display, Write};

/// Escapes text for use in XML or HTML, either as content or in a quoted attribute.
///
/// `&`, `<`, `>` and `"` become entities. Three kinds of characters become U+FFFD, the replacement
/// character. These are the characters that XML 1.0 forbids in section 2.2 (most control
/// characters, U+FFFE and U+FFFF), the control characters that XML 1.0 discourages (U+007F to
/// U+009F), and noncharacters. Tabs, line feeds and carriage returns are kept.
///
/// ```
/// # mod pavior { pub use pavior_draw as draw; }
/// let escaped = pavior::draw::escape("<a & \"b\">\u{0}\u{fffe}");
/// assert_eq!(escaped, "&lt;a &amp; &quot;b&quot;&gt;\u{fffd}\u{fffd}");
/// ```
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|character| is_replaced(character) || "&<>\"".contains(character)) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            other if is_replaced(other) => escaped.push(char::REPLACEMENT_CHARACTER),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

/// Returns true if [`escape`] replaces a character.
fn is_replaced(character: char) -> bool {
    let is_noncharacter =
        u32::from(character) & 0xfffe == 0xfffe || matches!(character, '\u{fdd0}'..='\u{fdef}');
    (character.is_control() && !matches!(character, '\t' | '\n' | '\r')) || is_noncharacter
}

/// An element under construction.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    name: &'static str,
    /// The opening tag without its closing bracket.
    tag: String,
}

impl Element {
    pub(crate) fn new(name: &'static str) -> Element {
        Element { name, tag: format!("<{name}") }
    }

    pub(crate) fn with(mut self, attribute: &str, value: impl Display) -> Element {
        let value = value.to_string();
        // Writing to a string cannot fail.
        let _ = write!(self.tag, " {attribute}=\"{}\"", escape(&value));
        self
    }

    /// Writes the element with no content.
    pub(crate) fn end(self, out: &mut String) {
        *out += &self.tag;
        *out += "/>\n";
    }

    /// Writes the element with text as its content.
    pub(crate) fn text(self, text: &str, out: &mut String) {
        let _ = writeln!(out, "{}>{}</{}>", self.tag, escape(text), self.name);
    }

    /// Writes the element with a title inside it. Viewers show the title as a tooltip.
    pub(crate) fn titled(self, title: &str, out: &mut String) {
        let _ = writeln!(out, "{}><title>{}</title></{}>", self.tag, escape(title), self.name);
    }

    /// Writes the element with a title and child elements inside it.
    pub(crate) fn titled_around(self, title: &str, inner: &str, out: &mut String) {
        let title = escape(title);
        let _ = writeln!(out, "{}><title>{title}</title>\n{inner}</{}>", self.tag, self.name);
    }

    /// Writes the element with a single child element, on one line.
    pub(crate) fn holding(self, inner: &Element, out: &mut String) {
        let _ = writeln!(out, "{}>{}/></{}>", self.tag, inner.tag, self.name);
    }

    /// Writes the element around other elements, each of which ends with a newline.
    pub(crate) fn around(self, inner: &str, out: &mut String) {
        let _ = writeln!(out, "{}>\n{inner}</{}>", self.tag, self.name);
    }

    /// Writes the element with `first` on the same line as the opening tag, followed by `inner`.
    pub(crate) fn around_first(self, first: &Element, inner: &str, out: &mut String) {
        let _ = writeln!(out, "{}>{}/>\n{inner}</{}>", self.tag, first.tag, self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_a_drawing() {
        let mut out = String::new();
        Element::new("text").with("class", "a\"b").text("<job & \u{1}>", &mut out);
        assert_eq!(out, "<text class=\"a&quot;b\">&lt;job &amp; \u{fffd}&gt;</text>\n");
        let mut out = String::new();
        Element::new("g").around("<rect/>\n", &mut out);
        assert_eq!(out, "<g>\n<rect/>\n</g>\n");
    }

    #[test]
    fn only_characters_of_xml_remain() {
        // Production [2] in XML 1.0.
        let is_allowed = |c: char| {
            let is_space = matches!(c, '\t' | '\n' | '\r');
            is_space || matches!(c, ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
        };
        for character in '\0'..=char::MAX {
            let text = character.to_string();
            let escaped = escape(&text);
            assert!(escaped.chars().all(is_allowed), "{character:?}");
            assert!(!escaped.contains(['<', '>', '"']), "{character:?}");
        }
        for replaced in ["\0", "\u{1}", "\u{7f}", "\u{85}", "\u{9b}", "\u{fffe}", "\u{ffff}"] {
            assert_eq!(escape(replaced), "\u{fffd}");
        }
        for kept in ["\t", "\n", "\r", "é", "名", "\u{1f600}", "'"] {
            assert_eq!(escape(kept), kept);
        }
    }
}
