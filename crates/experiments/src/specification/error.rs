//! What is wrong with an experiment, and where.

use std::ops::Range;

use pavior_kernel::BadName;
use thiserror::Error;

/// Why settings cannot be used, with the place of the fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct SettingError {
    /// What is wrong, and what would be right.
    pub reason: String,
    /// The setting at fault; none if what is at fault was not given.
    pub setting: Option<usize>,
    /// Its value at fault, and the bytes of it; none if the key is.
    pub value: Option<(usize, Range<usize>)>,
}

/// Where a key or a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In these bytes of a file.
    File(Range<usize>),
    /// It is the key of this setting.
    Key(usize),
    /// In these bytes of a value of a setting: the setting, and the value.
    Value(usize, usize, Range<usize>),
    /// It was not given.
    Nowhere,
}

/// What is wrong, and where.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) reason: String,
    pub(super) place: Place,
}

impl Fault {
    pub(super) fn new(reason: impl Into<String>, place: Place) -> Fault {
        Fault { reason: reason.into(), place }
    }
}

impl From<Fault> for BadName {
    fn from(Fault { reason, place }: Fault) -> BadName {
        let span = if let Place::File(span) = place { span } else { 0..0 };
        BadName { reason, span }
    }
}

impl From<Fault> for SettingError {
    fn from(Fault { reason, place }: Fault) -> SettingError {
        match place {
            Place::Key(setting) => SettingError { reason, setting: Some(setting), value: None },
            Place::Value(setting, number, bytes) => {
                let value = Some((number, bytes));
                SettingError { reason, setting: Some(setting), value }
            }
            Place::File(_) | Place::Nowhere => SettingError { reason, setting: None, value: None },
        }
    }
}

/// The place of a fault inside a string of a file: its own where the string is written without
/// escapes.
pub(super) fn inside(source: &str, string: &str, span: &Range<usize>, bad: &BadName) -> Place {
    let start = span.start + 1;
    let plain = source.get(start..).is_some_and(|rest| rest.starts_with(string));
    Place::File(if plain && !bad.span.is_empty() {
        start + bad.span.start..start + bad.span.end
    } else {
        span.clone()
    })
}
