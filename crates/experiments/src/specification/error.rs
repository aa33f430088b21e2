//! Errors in experiments, with their positions.

use std::ops::Range;

use pavior_kernel::BadName;
use thiserror::Error;

/// An error in settings, with its position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct SettingError {
    /// A description of the error and how to fix it.
    pub reason: String,
    /// The index of the invalid setting, or `None` if a setting is missing.
    pub setting: Option<usize>,
    /// The index of the invalid value and a byte range in it, or `None` if the key is invalid.
    pub value: Option<(usize, Range<usize>)>,
}

/// The location of a key or a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A range of bytes in a file.
    File(Range<usize>),
    /// The key of the setting with this index.
    Key(usize),
    /// A range of bytes in a value: the setting's index, the value's index, and the range.
    Value(usize, usize, Range<usize>),
    /// No location, because the setting is missing.
    Nowhere,
}

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

/// Returns the position of an error within a string in a file. If the string contains no escapes,
/// the position is exact; otherwise, it covers the whole string.
pub(super) fn inside(source: &str, string: &str, span: &Range<usize>, bad: &BadName) -> Place {
    let start = span.start + 1;
    let plain = source.get(start..).is_some_and(|rest| rest.starts_with(string));
    Place::File(if plain && !bad.span.is_empty() {
        start + bad.span.start..start + bad.span.end
    } else {
        span.clone()
    })
}
