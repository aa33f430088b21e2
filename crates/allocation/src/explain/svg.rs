//! The few elements that drawings are made of, as text.

use std::fmt::{Display, Write};

/// An element with attributes, and what is inside it.
pub(super) struct Element(String);

impl Element {
    pub(super) fn new(name: &str) -> Element {
        Element(format!("<{name}"))
    }

    pub(super) fn with(mut self, attribute: &str, value: impl Display) -> Element {
        let value = escape(&value.to_string());
        write!(self.0, " {attribute}=\"{value}\"").expect("a String takes all text");
        self
    }

    /// Without anything inside.
    pub(super) fn end(self, out: &mut String) {
        *out += &self.0;
        *out += "/>\n";
    }

    /// With text inside.
    pub(super) fn text(self, text: &str, out: &mut String) {
        let name = self.0[1..].split(' ').next().unwrap_or_default().to_string();
        writeln!(out, "{}>{}</{name}>", self.0, escape(text)).expect("a String takes all text");
    }

    /// With elements inside.
    pub(super) fn around(self, inner: &str, out: &mut String) {
        let name = self.0[1..].split(' ').next().unwrap_or_default().to_string();
        writeln!(out, "{}>\n{inner}</{name}>", self.0).expect("a String takes all text");
    }
}

/// A rectangle of a class.
pub(super) fn rect(class: &str, [x, y]: [f64; 2], [wide, high]: [f64; 2]) -> Element {
    let rect = Element::new("rect").with("class", class).with("x", x).with("y", y);
    rect.with("width", wide).with("height", high)
}

/// Text of a class whose middle, or start, stands at a point.
pub(super) fn text(class: &str, [x, y]: [f64; 2], size: f64) -> Element {
    let text = Element::new("text").with("class", class).with("x", x).with("y", y);
    text.with("font-size", size)
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            // What XML does not allow at all.
            control if control.is_control() => escaped += "\u{fffd}",
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_name_their_jobs_cannot_break_the_drawing() {
        let mut out = String::new();
        Element::new("text").with("class", "a\"b").text("<job & \u{1}>", &mut out);
        assert_eq!(out, "<text class=\"a&quot;b\">&lt;job &amp; \u{fffd}&gt;</text>\n");
        let mut out = String::new();
        Element::new("g").around("<rect/>\n", &mut out);
        assert_eq!(out, "<g>\n<rect/>\n</g>\n");
    }
}
