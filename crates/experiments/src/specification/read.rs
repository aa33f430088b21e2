//! Typed values out of a TOML document, with spans.

use std::ops::Range;

use pavior_kernel::unknown_name;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::SpecificationError;

/// A value as it stands in the file.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    /// The whole file.
    pub(super) source: &'a str,
    /// The value.
    pub(super) value: &'a Spanned<DeValue<'a>>,
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
            node: Node { source, value },
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

impl<'a> Node<'a> {
    pub(super) fn span(self) -> Range<usize> {
        self.value.span()
    }

    pub(super) fn fail<T>(self, reason: impl Into<String>) -> Result<T, SpecificationError> {
        Err(SpecificationError::new(reason, self.span()))
    }

    /// The error for a value of the wrong type.
    fn wrong<T>(self, wanted: &str) -> Result<T, SpecificationError> {
        self.fail(format!("this must be {wanted}, not {}", word(self.value.get_ref())))
    }

    pub(super) fn text(self) -> Result<&'a str, SpecificationError> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            DeValue::Integer(_) | DeValue::Float(_) => self.wrong("text in quotes"),
            _ => self.wrong("text"),
        }
    }

    pub(super) fn switch(self) -> Result<bool, SpecificationError> {
        match self.value.get_ref() {
            DeValue::Boolean(value) => Ok(*value),
            _ => self.wrong("true or false"),
        }
    }

    pub(super) fn number(self) -> Result<f64, SpecificationError> {
        match self.value.get_ref() {
            DeValue::Integer(integer) => match whole(integer) {
                Some(value) => Ok(value as f64),
                None => self.fail("this number is too large"),
            },
            DeValue::Float(float) => match float.as_str().replace('_', "").parse() {
                Ok(value) => Ok(value),
                Err(_) => self.wrong("a number"),
            },
            _ => self.wrong("a number"),
        }
    }

    pub(super) fn count(self) -> Result<u64, SpecificationError> {
        let DeValue::Integer(integer) = self.value.get_ref() else {
            return self.wrong("a whole number");
        };
        match whole(integer).and_then(|value| u64::try_from(value).ok()) {
            Some(value) => Ok(value),
            None => self.fail("this must be a whole number of at least 0"),
        }
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
        match self.value.get_ref() {
            DeValue::Array(items) => {
                items.iter().map(|value| Node { source: self.source, value }).collect()
            }
            _ => vec![self],
        }
    }

    pub(super) fn table(self) -> Result<Vec<Entry<'a>>, SpecificationError> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(entries(self.source, table)),
            _ => self.wrong("a table"),
        }
    }

    pub(super) fn is_table(self) -> bool {
        matches!(self.value.get_ref(), DeValue::Table(_))
    }
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
