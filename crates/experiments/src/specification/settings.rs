//! An experiment from settings given one by one: by the options of a command, or by a program.

use std::ops::Range;

use super::read::{Entry, Node};
use super::{Specification, SpecificationError};
use crate::Catalogue;
use crate::keys::Keys;

/// A key and its values, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name of a parameter or control.
    pub key: String,
    /// One value, or several to be combined with those of other keys.
    pub values: Vec<String>,
}

impl Setting {
    /// A setting with one value.
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Setting {
        Setting { key: key.into(), values: vec![value.into()] }
    }
}

/// Why settings cannot be used, with the place of the fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SettingError {
    /// What is wrong, and what would be right.
    pub reason: String,
    /// The setting at fault; none if what is at fault was not given.
    pub setting: Option<usize>,
    /// Its value at fault, and the bytes of it; none if the key is.
    pub value: Option<(usize, Range<usize>)>,
}

impl Specification {
    /// An experiment from settings: the points of a file whose top level has the same keys, and
    /// none of its figures.
    ///
    /// # Errors
    /// If a key or a value means nothing, with the place.
    ///
    /// ```
    /// use pavior_experiments::{Keys, Setting, Specification};
    /// let strategies = ["ff", "tlb"].map(String::from).to_vec();
    /// let mut settings =
    ///     vec![Setting::new("load", "2"), Setting { key: "strategy".into(), values: strategies }];
    /// let error = Specification::from_settings(&settings, "example", Keys::Plain).err().unwrap();
    /// assert_eq!(error.reason, "unknown strategy `tlb`; did you mean `tbl`?");
    /// assert_eq!((error.setting, error.value), (Some(1), Some((1, 0..3))));
    /// settings[1].values[1] = "tbl".into();
    /// let experiment = Specification::from_settings(&settings, "example", Keys::Plain)?;
    /// assert_eq!(experiment.points.len(), 2);
    /// # Ok::<(), pavior_experiments::SettingError>(())
    /// ```
    pub fn from_settings(
        settings: &[Setting],
        name: &str,
        keys: Keys,
    ) -> Result<Specification, SettingError> {
        Specification::from_settings_with(settings, name, keys, &Catalogue::default())
    }

    /// As [`Specification::from_settings`], with the entries that a caller has added to a
    /// catalogue.
    ///
    /// # Errors
    /// As [`Specification::from_settings`].
    pub fn from_settings_with(
        settings: &[Setting],
        name: &str,
        keys: Keys,
        catalogue: &Catalogue,
    ) -> Result<Specification, SettingError> {
        // Spans are places in a text that has every key and every value in turn, each with a byte
        // behind it, so that the place of an empty value is its own; byte 0 stands for nothing.
        let (mut at, mut entries) = (1, Vec::new());
        for Setting { key, values } in settings {
            let key_span = at..at + key.len();
            let start = key_span.end + 1;
            let node = match values.as_slice() {
                [text] => Node::Text { text, start },
                texts => Node::Texts { texts, start },
            };
            at = start + values.iter().map(|value| value.len() + 1).sum::<usize>();
            entries.push(Entry { key, key_span, node });
        }
        let specification = Specification::read(entries, name, keys, catalogue);
        let mut specification = specification.map_err(|error| located(settings, error))?;
        specification.figures = Vec::new();
        Ok(specification)
    }
}

/// The setting in which an error is.
fn located(settings: &[Setting], error: SpecificationError) -> SettingError {
    let SpecificationError { reason, span } = error;
    let mut at = 1;
    for (index, Setting { key, values }) in settings.iter().enumerate() {
        if (at..=at + key.len()).contains(&span.start) {
            return SettingError { reason, setting: Some(index), value: None };
        }
        at += key.len() + 1;
        for (number, value) in values.iter().enumerate() {
            if (at..=at + value.len()).contains(&span.start) {
                let end = span.end.clamp(span.start, at + value.len());
                let value = Some((number, span.start - at..end - at));
                return SettingError { reason, setting: Some(index), value };
            }
            at += value.len() + 1;
        }
    }
    SettingError { reason, setting: None, value: None }
}
