//! A checker that implements enough of XML 1.0 to find any mistakes that are possible in a drawing.

/// Asserts that the text is one well-formed XML element with allowed characters, and that its
/// attributes are quoted, distinct, and free of NaN and infinities.
pub(crate) fn assert_well_formed(text: &str) {
    let is_allowed = |c: char| {
        let is_space = matches!(c, '\t' | '\n' | '\r');
        is_space || matches!(c, ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
    };
    assert!(text.chars().all(is_allowed), "a character that XML does not allow");
    let mut open: Vec<&str> = Vec::new();
    let mut roots = 0;
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        content(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("every tag is closed");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "tags are nested");
            continue;
        }
        roots += usize::from(open.is_empty());
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(!name.is_empty() && name.chars().all(char::is_alphanumeric), "the name of {tag}");
        assert_attributes(attributes);
        if !is_empty {
            open.push(name);
        }
    }
    content(rest);
    assert!(open.is_empty() && roots == 1, "one root, and every element is closed");
}

fn assert_attributes(mut text: &str) {
    let mut names = Vec::new();
    while !text.trim().is_empty() {
        let (name, rest) = text.trim_start().split_once("=\"").expect("attributes are quoted");
        let (value, rest) = rest.split_once('"').expect("quotes are closed");
        assert!(name.chars().all(|c| c.is_alphanumeric() || c == '-'), "{name}");
        assert!(!names.contains(&name), "{name} appears twice");
        content(value);
        let is_number = |word: &str| !["NaN", "inf", "-inf", "infinity"].contains(&word);
        assert!(value.split([' ', ',', '(', ')']).all(is_number), "{name}={value}");
        names.push(name);
        text = rest;
    }
}

/// Asserts that every ampersand in the text begins an entity.
fn content(text: &str) {
    for after in text.split('&').skip(1) {
        let entity = after.split_once(';').map(|(entity, _)| entity);
        assert!(matches!(entity, Some("amp" | "lt" | "gt" | "quot")), "{after}");
    }
    assert!(!text.contains('>') || text.contains('{'), "{text}");
}
