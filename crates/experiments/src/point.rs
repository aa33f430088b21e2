//! A single combination of parameter values.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pavior_workload::TimeUnit;

use crate::RunSettings;
use crate::parameters::{self, Parameter};
use crate::settings::Asked;

/// The name shown as the strategy and scheduler of a point that uses the logged placements.
const PLACED: &str = "placed";

/// A combination of values, one for each parameter that applies, in the order used in
/// [`parameters::ALL`].
///
/// Runs use a point's [`RunSettings`]; tables, figures, and keys use the canonical text of its
/// values. Points are cheap to clone because all points in an experiment share this text.
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
    /// Creates a point from parsed settings and the text for each entry in [`parameters::ALL`].
    pub(crate) fn new(texts: Arc<[Option<Arc<str>>]>, settings: RunSettings) -> Point {
        assert_eq!(texts.len(), parameters::ALL.len(), "there is not one entry per parameter");
        Point { texts, settings: Arc::new(settings) }
    }

    /// Splits off a point that uses the placements in the log, if the settings request such a
    /// point. Returns the point with scheduled jobs and the new point.
    pub(crate) fn split_placed(self) -> (Point, Option<Point>) {
        let Asked::Jobs(jobs) = &self.settings.asked else { return (self, None) };
        if jobs.log().is_none_or(|log| log.placed.is_none()) {
            return (self, None);
        }
        let mut settings = (*self.settings).clone();
        if let Asked::Jobs(jobs) = &mut settings.asked
            && let Some(log) = jobs.log_mut()
        {
            log.placed = None;
        }
        let named = |name: &str, text: Option<&str>, texts: &mut [Option<Arc<str>>]| {
            let place = parameters::ALL.iter().position(|parameter| parameter.name == name);
            texts[place.expect("it is a parameter")] = text.map(Arc::from);
        };
        let (mut plain, mut placed) = (self.texts.to_vec(), self.texts.to_vec());
        named("placed", None, &mut plain);
        named("strategy", Some(PLACED), &mut placed);
        named("scheduler", Some(PLACED), &mut placed);
        let placed = Point { texts: placed.into(), settings: self.settings };
        (Point { texts: plain.into(), settings: Arc::new(settings) }, Some(placed))
    }

    /// Returns the settings for the point's runs.
    pub fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// Returns the canonical text of the named parameter. Returns `None` if there is no such
    /// parameter, if it does not apply, or if it is not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        let place = parameters::ALL.iter().position(|parameter| parameter.name == name)?;
        self.at(place)
    }

    /// Returns the text of the parameter with this index.
    pub(crate) fn at(&self, index: usize) -> Option<&str> {
        self.texts.get(index)?.as_deref()
    }

    /// Returns true if the point is a single request in a snapshot, without jobs or time.
    pub fn is_snapshot(&self) -> bool {
        self.settings.jobs().is_none()
    }

    /// Returns the point's unit of time.
    pub fn unit(&self) -> TimeUnit {
        self.settings.unit()
    }

    /// Returns the parameters that are set, with their values.
    pub fn set(&self) -> impl Iterator<Item = (&'static Parameter, &str)> {
        parameters::ALL
            .iter()
            .zip(self.texts.iter())
            .filter_map(|(parameter, value)| Some((parameter, value.as_deref()?)))
    }

    /// Returns true if the point has all of the given values. An empty value matches a parameter
    /// that is not set.
    pub fn has(&self, wanted: &[(&str, &str)]) -> bool {
        wanted.iter().all(|(name, value)| self.get(name).unwrap_or_default() == *value)
    }

    /// Returns all values on one line, as `name=value` pairs separated by spaces. Two keys are
    /// equal if and only if the points are equal.
    pub fn key(&self) -> String {
        let part = |(parameter, value): (&Parameter, &str)| {
            format!("{}={}", parameter.name, value.escape_default())
        };
        self.set().map(part).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the indices of the parameters that vary among the points.
pub(crate) fn varying(points: &[Point]) -> Vec<usize> {
    (0..parameters::ALL.len())
        .filter(|&index| points.iter().any(|point| point.at(index) != points[0].at(index)))
        .collect()
}
