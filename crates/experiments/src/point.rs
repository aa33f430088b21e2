//! One combination of parameters.

use crate::parameters::{self, Parameter};

/// A value for every parameter that applies, in the order of [`parameters::ALL`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    values: Vec<Option<String>>,
}

impl Point {
    /// A point with these values, one an entry of [`parameters::ALL`].
    pub(crate) fn new(values: Vec<Option<String>>) -> Point {
        assert_eq!(values.len(), parameters::ALL.len(), "a value or none for every parameter");
        Point { values }
    }

    /// The canonical value of a parameter, by name; none if it does not apply or is not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.at(parameters::index(name))
    }

    /// The value of the parameter with this index.
    pub(crate) fn at(&self, index: usize) -> Option<&str> {
        self.values[index].as_deref()
    }

    /// The parameters that are set, with their values.
    pub fn set(&self) -> impl Iterator<Item = (&'static Parameter, &str)> {
        parameters::ALL
            .iter()
            .zip(&self.values)
            .filter_map(|(parameter, value)| Some((parameter, value.as_deref()?)))
    }

    /// Whether it has all these values; an empty one is that of a parameter that is not set.
    pub fn has(&self, wanted: &[(&str, &str)]) -> bool {
        wanted.iter().all(|(name, value)| self.get(name).unwrap_or_default() == *value)
    }

    /// All values in one line, `name=value` separated by spaces: equal if and only if the points are.
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
