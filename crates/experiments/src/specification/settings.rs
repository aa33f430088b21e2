//! Creates experiments from individual settings, such as command-line options.

use super::Specification;
use super::error::{Place, SettingError};
use super::read::{Entry, Node};
use crate::Catalogue;
use crate::keys::Keys;

/// A key and its values, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name of a parameter or control.
    pub key: String,
    /// One value, or several values to be combined with those of other keys.
    pub values: Vec<String>,
}

impl Setting {
    /// Creates a setting with one value.
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Setting {
        Setting { key: key.into(), values: vec![value.into()] }
    }
}

impl Specification {
    /// Creates an experiment from settings. The experiment has the same points as a file with these
    /// keys at the top level, but no figures.
    ///
    /// # Errors
    /// Returns an error with its position if a key or a value is invalid.
    ///
    /// ```
    /// # mod pavior { pub use pavior_experiments as experiments; }
    /// use pavior::experiments::{Keys, Setting, Specification};
    /// let strategies = ["ff", "tlb"].map(String::from).to_vec();
    /// let mut settings =
    ///     vec![Setting::new("load", "2"), Setting { key: "strategy".into(), values: strategies }];
    /// let error = Specification::from_settings(&settings, "example", Keys::Plain).err().unwrap();
    /// assert_eq!(error.reason, "unknown strategy `tlb`; did you mean `tbl`?");
    /// assert_eq!((error.setting, error.value), (Some(1), Some((1, 0..3))));
    /// settings[1].values[1] = "tbl".into();
    /// let experiment = Specification::from_settings(&settings, "example", Keys::Plain)?;
    /// assert_eq!(experiment.points.len(), 2);
    /// # Ok::<(), pavior::experiments::SettingError>(())
    /// ```
    pub fn from_settings(
        settings: &[Setting],
        name: &str,
        keys: Keys,
    ) -> Result<Specification, SettingError> {
        Specification::from_settings_with(settings, name, keys, &Catalogue::default())
    }

    /// Works like [`Specification::from_settings`], but looks up names in the given catalogue.
    ///
    /// # Errors
    /// Returns the same errors as [`Specification::from_settings`].
    pub fn from_settings_with(
        settings: &[Setting],
        name: &str,
        keys: Keys,
        catalogue: &Catalogue,
    ) -> Result<Specification, SettingError> {
        let mut entries = Vec::with_capacity(settings.len());
        for (setting, Setting { key, values }) in settings.iter().enumerate() {
            let node = match values.as_slice() {
                [text] => Node::Value { text, at: (setting, 0) },
                texts => Node::Values { texts, setting },
            };
            entries.push(Entry { key, key_place: Place::Key(setting), node });
        }
        let mut specification = Specification::read(entries, name, keys, catalogue)?;
        specification.figures = Vec::new();
        Ok(specification)
    }
}
