//! One combination of parameters.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pavior_workload::TimeUnit;

use crate::RunSettings;
use crate::parameters::{self, Parameter};

/// A value for every parameter that applies, in the order of [`parameters::ALL`].
///
/// What is run is its [`RunSettings`]; tables, figures and keys have the canonical texts. Cheap to
/// clone; points of one experiment share the texts of their values.
#[derive(Clone, Debug)]
pub struct Point {
    texts: Arc<[Option<Arc<str>>]>,
    settings: Arc<RunSettings>,
}

impl PartialEq for Point {
    fn eq(&self, other: &Point) -> bool {
        self.texts == other.texts
    }
}

impl Eq for Point {}

impl Hash for Point {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.texts.hash(state);
    }
}

impl Point {
    /// A point with these texts, one an entry of [`parameters::ALL`], and what they mean.
    pub(crate) fn new(texts: Arc<[Option<Arc<str>>]>, settings: RunSettings) -> Point {
        assert_eq!(texts.len(), parameters::ALL.len(), "a value or none for every parameter");
        Point { texts, settings: Arc::new(settings) }
    }

    /// What is run.
    pub fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// The canonical text of a parameter, by name; none if there is no such parameter, or it does
    /// not apply or is not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        let place = parameters::ALL.iter().position(|parameter| parameter.name == name)?;
        self.at(place)
    }

    /// The text of the parameter with this index.
    pub(crate) fn at(&self, index: usize) -> Option<&str> {
        self.texts.get(index)?.as_deref()
    }

    /// Whether it asks one request in a snapshot, without jobs and time.
    pub fn is_snapshot(&self) -> bool {
        self.settings.jobs().is_none()
    }

    /// What its times are measured in.
    pub fn unit(&self) -> TimeUnit {
        self.settings.unit()
    }

    /// The parameters that are set, with their values.
    pub fn set(&self) -> impl Iterator<Item = (&'static Parameter, &str)> {
        parameters::ALL
            .iter()
            .zip(self.texts.iter())
            .filter_map(|(parameter, value)| Some((parameter, value.as_deref()?)))
    }

    /// Whether it has all these values; an empty one is that of a parameter that is not set.
    pub fn has(&self, wanted: &[(&str, &str)]) -> bool {
        wanted.iter().all(|(name, value)| self.get(name).unwrap_or_default() == *value)
    }

    /// All values in one line, `name=value` separated by spaces: equal if and only if the points
    /// are.
    pub fn key(&self) -> String {
        let part = |(parameter, value): (&Parameter, &str)| {
            format!("{}={}", parameter.name, value.escape_default())
        };
        self.set().map(part).collect::<Vec<_>>().join(" ")
    }
}

/// The indices of the parameters that do not have one value throughout.
pub(crate) fn varying(points: &[Point]) -> Vec<usize> {
    (0..parameters::ALL.len())
        .filter(|&index| points.iter().any(|point| point.at(index) != points[0].at(index)))
        .collect()
}
