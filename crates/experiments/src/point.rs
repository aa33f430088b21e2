//! One combination of parameters.

use std::fmt::Debug;
use std::str::FromStr;
use std::sync::Arc;

use pavior_workload::{Selection, ServiceDistribution, ShapeRule, TimeUnit};

use crate::Catalogue;
use crate::parameters::{self, Parameter};

/// A value for every parameter that applies, in the order of [`parameters::ALL`].
///
/// Cheap to clone; points of one experiment share the texts of their values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Point {
    values: Arc<[Option<Arc<str>>]>,
}

impl Point {
    /// A point with these values, one an entry of [`parameters::ALL`].
    pub(crate) fn new(values: Arc<[Option<Arc<str>>]>) -> Point {
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

    /// A value, typed. It must be set: points hold canonical values only.
    pub(crate) fn value<T: FromStr>(&self, name: &str) -> T
    where
        T::Err: Debug,
    {
        let text = self.get(name).expect("the parameter applies");
        text.parse().expect("points hold values that were read before")
    }

    /// A value, typed, if it is set.
    pub(crate) fn optional<T: FromStr>(&self, name: &str) -> Option<T>
    where
        T::Err: Debug,
    {
        self.get(name).map(|_| self.value(name))
    }

    /// Whether it asks one request in a still state, without jobs and time.
    pub fn is_still(&self) -> bool {
        self.get("request").is_some()
    }

    /// What its times are measured in.
    pub fn unit(&self) -> TimeUnit {
        if self.get("trace").is_some() {
            let cycles = self.optional("cycles-per-second");
            cycles.map_or(TimeUnit::SECOND, |ticks| TimeUnit { ticks, ..TimeUnit::SECOND })
        } else if let Some(service) = self.optional::<Selection<ServiceDistribution>>("service") {
            service.entry.does.unit
        } else {
            TimeUnit::TIME_UNIT
        }
    }

    /// Its strategy; as with the other names, from the catalogue that it was read with.
    pub(crate) fn strategy(&self, catalogue: &Catalogue) -> pavior_allocation::Selection {
        let name = self.get("strategy").expect("every point has a strategy");
        catalogue.strategies.select(name).expect("points hold values that were read before")
    }

    /// The scheduler of a run.
    pub(crate) fn scheduler(&self, catalogue: &Catalogue) -> pavior_scheduling::Selection {
        let name = self.get("scheduler").expect("every run has a scheduler");
        catalogue.schedulers.select(name).expect("points hold values that were read before")
    }

    /// The shape rule of a log.
    pub(crate) fn shape_rule(&self, catalogue: &Catalogue) -> Option<Selection<ShapeRule>> {
        let name = self.get("shape-rule")?;
        Some(catalogue.shape_rules.select(name).expect("points hold values that were read before"))
    }

    /// Whether its workload draws numbers, so that the replications of a strategy that draws none
    /// differ.
    pub fn draws(&self, catalogue: &Catalogue) -> bool {
        self.get("trace").is_none()
            || self.shape_rule(catalogue).is_some_and(|rule| rule.entry.does.draws)
            || self.get("mttf").is_some()
            || self.get("fail-classes").is_some()
    }

    /// The parameters that are set, with their values.
    pub fn set(&self) -> impl Iterator<Item = (&'static Parameter, &str)> {
        parameters::ALL
            .iter()
            .zip(self.values.iter())
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
