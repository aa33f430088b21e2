//! Typed values and their positions, read from a TOML document or from individual settings.

use pavior_kernel::{BadName, unknown_name};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::error::{Fault, Place, inside};

/// A value as the user wrote it, before conversion to a type.
#[derive(Clone, Copy)]
pub(super) enum Node<'a> {
    /// A value in a file.
    File {
        /// The whole file.
        source: &'a str,
        value: &'a Spanned<DeValue<'a>>,
    },
    /// The value of a setting.
    Value {
        text: &'a str,
        /// The index of the setting, and the index of the value within the setting.
        at: (usize, usize),
    },
    /// The values of a setting that has either no value or more than one.
    Values {
        texts: &'a [String],
        /// The index of the setting.
        setting: usize,
    },
}

/// An entry in a table: its key, the position of the key, and its value.
pub(super) struct Entry<'a> {
    pub(super) key: &'a str,
    pub(super) key_place: Place,
    pub(super) node: Node<'a>,
}

impl Entry<'_> {
    pub(super) fn unknown(&self, known: &[&str]) -> Fault {
        // Suggested names contain underscores if the key contains an underscore.
        let between = if self.key.contains('_') { "_" } else { "-" };
        let known: Vec<String> = known.iter().map(|name| name.replace('-', between)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let bad = unknown_name("key", self.key, &known);
        Fault::new(bad.reason, self.key_place.clone())
    }

    /// Returns true if the key is `name`. Underscores are equivalent to dashes.
    pub(super) fn is(&self, name: &str) -> bool {
        self.key.replace('_', "-") == name
    }
}

/// Returns a table's entries, in file order.
pub(super) fn entries<'a>(source: &'a str, table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref(),
            key_place: Place::File(key.span()),
            node: Node::File { source, value },
        })
        .collect();
    // The table is sorted by key, so restore the order in the file.
    entries.sort_by_key(|entry| match &entry.key_place {
        Place::File(span) => span.start,
        _ => 0,
    });
    entries
}

impl<'a> Node<'a> {
    pub(super) fn place(self) -> Place {
        match self {
            Node::File { value, .. } => Place::File(value.span()),
            Node::Value { text, at: (setting, number) } => {
                Place::Value(setting, number, 0..text.len())
            }
            Node::Values { texts, setting } => texts
                .first()
                .map_or(Place::Key(setting), |text| Place::Value(setting, 0, 0..text.len())),
        }
    }

    /// Returns the error for unparsable text in this value.
    pub(super) fn bad(self, text: &str, bad: BadName) -> Fault {
        let place = match self {
            Node::File { source, value } => inside(source, text, &value.span(), &bad),
            Node::Value { at: (setting, number), .. } => {
                Place::Value(setting, number, bad.span.clone())
            }
            Node::Values { .. } => self.place(),
        };
        Fault::new(bad.reason, place)
    }

    pub(super) fn fail<T>(self, reason: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::new(reason, self.place()))
    }

    /// Returns the error for a value of the wrong type.
    fn wrong<T>(self, wanted: &str) -> Result<T, Fault> {
        match self {
            Node::File { value, .. } => {
                self.fail(format!("expected {wanted}, but found {}", word(value.get_ref())))
            }
            Node::Value { text, .. } => self.fail(format!("`{text}` is not {wanted}")),
            Node::Values { .. } => self.fail(format!("expected {wanted}, but found a list")),
        }
    }

    pub(super) fn text(self) -> Result<&'a str, Fault> {
        match self {
            Node::Value { text, .. } => Ok(text),
            Node::File { value, .. } => match value.get_ref() {
                DeValue::String(text) => Ok(text),
                DeValue::Integer(_) | DeValue::Float(_) => self.wrong("text in quotes"),
                _ => self.wrong("text"),
            },
            Node::Values { .. } => self.wrong("text"),
        }
    }

    pub(super) fn switch(self) -> Result<bool, Fault> {
        let value = match self {
            Node::File { value, .. } => match value.get_ref() {
                DeValue::Boolean(value) => Some(*value),
                _ => None,
            },
            Node::Value { text, .. } => text.parse().ok(),
            Node::Values { .. } => None,
        };
        value.map_or_else(|| self.wrong("true or false"), Ok)
    }

    pub(super) fn number(self) -> Result<f64, Fault> {
        let value = match self {
            Node::File { value, .. } => match value.get_ref() {
                DeValue::Integer(integer) => match whole(integer) {
                    Some(value) => Some(value as f64),
                    None => return self.fail("this number is too large"),
                },
                DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
                _ => None,
            },
            Node::Value { text, .. } => text.parse().ok(),
            Node::Values { .. } => None,
        };
        value.map_or_else(|| self.wrong("a number"), Ok)
    }

    pub(super) fn count(self) -> Result<u64, Fault> {
        let value = match self {
            Node::File { value, .. } => {
                let DeValue::Integer(integer) = value.get_ref() else {
                    return self.wrong("a whole number");
                };
                whole(integer).and_then(|value| u64::try_from(value).ok())
            }
            Node::Value { text, .. } => text.parse().ok(),
            Node::Values { .. } => return self.wrong("a whole number"),
        };
        value.map_or_else(|| self.fail("expected a non-negative whole number"), Ok)
    }

    /// Returns a number strictly between 0 and 1.
    pub(super) fn share(self) -> Result<f64, Fault> {
        match self.number()? {
            value if value > 0.0 && value < 1.0 => Ok(value),
            value => self.fail(format!("expected a number between 0 and 1, but found {value}")),
        }
    }

    /// Returns the members of a list. A single value is treated as a list with one member.
    pub(super) fn list(self) -> Vec<Node<'a>> {
        match self {
            Node::File { source, value } => match value.get_ref() {
                DeValue::Array(items) => {
                    items.iter().map(|value| Node::File { source, value }).collect()
                }
                _ => vec![self],
            },
            Node::Value { .. } => vec![self],
            Node::Values { texts, setting } => {
                let value = |(number, text)| Node::Value { text, at: (setting, number) };
                texts.iter().map(String::as_str).enumerate().map(value).collect()
            }
        }
    }

    pub(super) fn table(self) -> Result<Vec<Entry<'a>>, Fault> {
        match self {
            Node::File { source, value } => match value.get_ref() {
                DeValue::Table(table) => Ok(entries(source, table)),
                _ => self.wrong("a table"),
            },
            Node::Value { .. } | Node::Values { .. } => self.wrong("a table"),
        }
    }

    pub(super) fn is_table(self) -> bool {
        matches!(self, Node::File { value, .. } if matches!(value.get_ref(), DeValue::Table(_)))
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
