//! Finds the positions of keys and values in a line of JSON, so that errors can underline them.
//!
//! The text must be well-formed JSON.

use std::ops::Range;

use serde::de::IgnoredAny;

/// A value in an object, with its key.
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_place: Range<usize>,
    pub(crate) place: Range<usize>,
}

/// Returns, in order, the members of the object at a position. Returns none if the value there is
/// not an object.
pub(crate) fn members(text: &str, place: &Range<usize>) -> Vec<Member> {
    let mut members = Vec::new();
    let Some(mut at) = inside(text, place, '{') else { return members };
    while at < place.end && !text[at..].starts_with('}') {
        let key_place = value(text, at);
        let key = serde_json::from_str(&text[key_place.clone()]).unwrap_or_default();
        let colon = after(text, key_place.end);
        let place = value(text, after(text, colon + 1));
        at = next(text, place.end);
        members.push(Member { key, key_place, place });
    }
    members
}

/// Returns, in order, the elements of the array at a position. Returns none if the value there is
/// not an array.
pub(crate) fn elements(text: &str, place: &Range<usize>) -> Vec<Range<usize>> {
    let mut elements = Vec::new();
    let Some(mut at) = inside(text, place, '[') else { return elements };
    while at < place.end && !text[at..].starts_with(']') {
        let place = value(text, at);
        at = next(text, place.end);
        elements.push(place);
    }
    elements
}

/// Returns the position of the first item inside a value that starts with `bracket`.
fn inside(text: &str, place: &Range<usize>, bracket: char) -> Option<usize> {
    text[place.clone()].starts_with(bracket).then(|| after(text, place.start + 1))
}

/// Returns the position of the next character that is not white space.
fn after(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

/// Skips white space and an optional comma, and returns the position after them.
fn next(text: &str, at: usize) -> usize {
    let at = after(text, at);
    if text[at..].starts_with(',') { after(text, at + 1) } else { at }
}

/// Returns the range of the value at a position.
fn value(text: &str, at: usize) -> Range<usize> {
    let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<IgnoredAny>();
    let _ = values.next();
    // Well-formed text has a value here. If it does not, the minimum length of 1 prevents an
    // endless loop.
    at..at + values.byte_offset().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_keys_and_values() {
        let text = r#" {"a" : [1, {"b":"x]}"} ,-2.5] , "é":null}"#.trim_start();
        let all = members(text, &(0..text.len()));
        let keys: Vec<&str> = all.iter().map(|member| member.key.as_str()).collect();
        assert_eq!(keys, ["a", "é"]);
        assert_eq!(&text[all[1].key_place.clone()], "\"é\"");
        assert_eq!(&text[all[1].place.clone()], "null");
        let inner: Vec<&str> =
            elements(text, &all[0].place).into_iter().map(|place| &text[place]).collect();
        assert_eq!(inner, ["1", r#"{"b":"x]}"}"#, "-2.5"]);
        assert!(members("[]", &(0..2)).is_empty() && elements("{}", &(0..2)).is_empty());
        assert!(members("{}", &(0..2)).is_empty() && elements("[ ]", &(0..3)).is_empty());
    }
}
