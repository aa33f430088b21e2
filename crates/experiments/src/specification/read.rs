//! Typed values out of a TOML document, or out of settings given one by one, with spans.

use std::ops::Range;

use pavior_kernel::{BadName, unknown_name};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::SpecificationError;
use super::error::inside;

/// A value as it was given.
#[derive(Clone, Copy)]
pub(super) enum Node<'a> {
    /// It stands in a file.
    File {
        /// The whole file.
        source: &'a str,
        /// The value.
        value: &'a Spanned<DeValue<'a>>,
    },
    /// The text of one value.
    Text {
        /// The text.
        text: &'a str,
        /// Where it begins.
        start: usize,
    },
    /// The texts of several values, one after the other with a byte between them.
    Texts {
        /// The texts.
        texts: &'a [String],
        /// Where the first begins.
        start: usize,
    },
}

/// An entry of a table: its key, where the key stands, and its value.
pub(super) struct Entry<'a> {
    pub(super) key: &'a str,
    pub(super) key_span: Range<usize>,
    pub(super) node: Node<'a>,
}

impl Entry<'_> {
    /// The error for a key that means nothing here.
    pub(super) fn unknown(&self, known: &[&str]) -> SpecificationError {
        let bad = unknown_name("key", self.key, known);
        SpecificationError::new(bad.reason, self.key_span.clone())
    }

    /// Whether the key is `name`; an underscore stands for a dash.
    pub(super) fn is(&self, name: &str) -> bool {
        self.key.replace('_', "-") == name
    }
}

/// The entries of a table, in the order in which they stand.
pub(super) fn entries<'a>(source: &'a str, table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref(),
            key_span: key.span(),
            node: Node::File { source, value },
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

impl<'a> Node<'a> {
    pub(super) fn span(self) -> Range<usize> {
        match self {
            Node::File { value, .. } => value.span(),
            Node::Text { text, start } => start..start + text.len(),
            Node::Texts { texts, start } => start..start + length(texts),
        }
    }

    /// The error for text of this value that cannot be read.
    pub(super) fn bad(self, text: &str, bad: BadName) -> SpecificationError {
        match self {
            Node::File { source, value } => inside(source, text, &value.span(), bad),
            Node::Text { start, .. } | Node::Texts { start, .. } => {
                let span = start + bad.span.start..start + bad.span.end;
                SpecificationError::new(bad.reason, span)
            }
        }
    }

    pub(super) fn fail<T>(self, reason: impl Into<String>) -> Result<T, SpecificationError> {
        Err(SpecificationError::new(reason, self.span()))
    }

    /// The error for a value of the wrong type.
    fn wrong<T>(self, wanted: &str) -> Result<T, SpecificationError> {
        match self {
            Node::File { value, .. } => {
                self.fail(format!("this must be {wanted}, not {}", word(value.get_ref())))
            }
            Node::Text { text, .. } => self.fail(format!("`{text}` is not {wanted}")),
            Node::Texts { .. } => self.fail(format!("this must be {wanted}, not a list")),
        }
    }

    pub(super) fn text(self) -> Result<&'a str, SpecificationError> {
        match self {
            Node::Text { text, .. } => Ok(text),
            Node::File { value, .. } => match value.get_ref() {
                DeValue::String(text) => Ok(text),
                DeValue::Integer(_) | DeValue::Float(_) => self.wrong("text in quotes"),
                _ => self.wrong("text"),
            },
            Node::Texts { .. } => self.wrong("text"),
        }
    }

    pub(super) fn switch(self) -> Result<bool, SpecificationError> {
        let value = match self {
            Node::File { value, .. } => match value.get_ref() {
                DeValue::Boolean(value) => Some(*value),
                _ => None,
            },
            Node::Text { text, .. } => text.parse().ok(),
            Node::Texts { .. } => None,
        };
        value.map_or_else(|| self.wrong("true or false"), Ok)
    }

    pub(super) fn number(self) -> Result<f64, SpecificationError> {
        let value = match self {
            Node::File { value, .. } => match value.get_ref() {
                DeValue::Integer(integer) => match whole(integer) {
                    Some(value) => Some(value as f64),
                    None => return self.fail("this number is too large"),
                },
                DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
                _ => None,
            },
            Node::Text { text, .. } => text.parse().ok(),
            Node::Texts { .. } => None,
        };
        value.map_or_else(|| self.wrong("a number"), Ok)
    }

    pub(super) fn count(self) -> Result<u64, SpecificationError> {
        let value = match self {
            Node::File { value, .. } => {
                let DeValue::Integer(integer) = value.get_ref() else {
                    return self.wrong("a whole number");
                };
                whole(integer).and_then(|value| u64::try_from(value).ok())
            }
            Node::Text { text, .. } => text.parse().ok(),
            Node::Texts { .. } => return self.wrong("a whole number"),
        };
        value.map_or_else(|| self.fail("this must be a whole number of at least 0"), Ok)
    }

    /// A number strictly between 0 and 1.
    pub(super) fn share(self) -> Result<f64, SpecificationError> {
        match self.number()? {
            value if value > 0.0 && value < 1.0 => Ok(value),
            value => self.fail(format!("{value} does not lie between 0 and 1")),
        }
    }

    /// The members of a list; a single value is a list of one.
    pub(super) fn list(self) -> Vec<Node<'a>> {
        match self {
            Node::File { source, value } => match value.get_ref() {
                DeValue::Array(items) => {
                    items.iter().map(|value| Node::File { source, value }).collect()
                }
                _ => vec![self],
            },
            Node::Text { .. } => vec![self],
            Node::Texts { texts, start } => texts
                .iter()
                .enumerate()
                .map(|(index, text)| {
                    let before = if index == 0 { 0 } else { length(&texts[..index]) + 1 };
                    Node::Text { text, start: start + before }
                })
                .collect(),
        }
    }

    pub(super) fn table(self) -> Result<Vec<Entry<'a>>, SpecificationError> {
        match self {
            Node::File { source, value } => match value.get_ref() {
                DeValue::Table(table) => Ok(entries(source, table)),
                _ => self.wrong("a table"),
            },
            Node::Text { .. } | Node::Texts { .. } => self.wrong("a table"),
        }
    }

    pub(super) fn is_table(self) -> bool {
        matches!(self, Node::File { value, .. } if matches!(value.get_ref(), DeValue::Table(_)))
    }
}

/// The length of texts with a byte between them.
fn length(texts: &[String]) -> usize {
    (texts.iter().map(|text| text.len() + 1).sum::<usize>()).saturating_sub(1)
}

fn whole(integer: &DeInteger<'_>) -> Option<i128> {
    i128::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok()
}

fn word(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
