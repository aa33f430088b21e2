//! Alternative readings of details that a paper leaves open, compared in a separate experiment.
//!
//! A [`Reading`] changes some values in the default reading of the paper. A [`Goal`] is a point in
//! the paper, with the ratios that the paper reports there. Every reading is run at every goal.
//! Readings are ranked by their distance, which is the root mean square of ln(our ratio / the
//! paper's ratio). If a paper states only an order, the ratio should be below 1.

mod report;

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value};

use super::folder::{self, PaperError};
use super::points::plain;
use super::{Estimate, PointEvidence};
use pavior::experiments::{Samples, Specification};

/// A paper's readings, from `readings.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Readings {
    /// The experiment's name and title.
    name: String,
    title: String,
    /// Experiment keys that apply to every point, in addition to those in `usual`.
    keys: Table,
    /// The number of runs per point in the full experiment and in the quick one.
    runs: [u64; 2],
    /// The default reading, which sets every parameter that a reading or a goal changes.
    usual: BTreeMap<String, Value>,
    /// Settings in the default reading for individual strategies, by strategy name.
    #[serde(default)]
    own: BTreeMap<String, Own>,
    /// True if the paper states only orders, in which case every ratio should be below 1.
    orders: bool,
    /// The goals against which our results are compared.
    pub goal: Vec<Goal>,
    /// The readings. The first reading changes nothing.
    pub reading: Vec<Reading>,
    /// The details left open. Each combination of their alternatives is also a reading.
    #[serde(default)]
    choice: Vec<Choice>,
}

/// Settings for one strategy in the default reading.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    /// The strategy's full name, if its short name refers to a variant.
    strategy: Option<String>,
    /// Values that override those in `usual`.
    #[serde(default)]
    set: BTreeMap<String, Value>,
}

/// A detail that the paper leaves open, with its alternative readings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    option: Vec<Reading>,
}

/// The maximum number of combinations. A larger number is assumed to be a mistake.
const MOST_READINGS: usize = 1000;

/// The ratios that a paper reports at a point.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The statement's id.
    pub id: String,
    /// The point's values, which override the default reading.
    #[serde(default)]
    at: BTreeMap<String, Value>,
    /// The metric whose ratios the paper states.
    metric: String,
    /// The strategy in the numerator.
    strategy: String,
    /// The strategies used as denominators, each with the ratio that the paper reports.
    others: Vec<(String, f64)>,
}

/// The default reading with some changes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The reading's name, which becomes part of its rows' names.
    pub name: String,
    /// A description of the change, as a clause.
    pub meaning: String,
    /// Parameters to set for every strategy. An empty value removes the parameter.
    #[serde(default)]
    set: BTreeMap<String, Value>,
    /// Replacements for individual values, such as a pattern or a strategy, in any parameter.
    #[serde(default)]
    instead: BTreeMap<String, String>,
}

/// A reading, with its ratios and their distance from the paper's ratios.
pub struct Closeness {
    /// The reading that was judged.
    pub reading: Reading,
    /// Our ratios, in goal order and, within each goal, in the order of the other strategies.
    pub ratios: Vec<Option<Estimate>>,
    /// The distance, computed from all ratios.
    pub distance: f64,
    /// The distance for each goal.
    pub goals: Vec<f64>,
}

impl Readings {
    /// Adds a reading for every combination of the choices.
    pub(super) fn combined(mut self) -> Result<Readings, PaperError> {
        let count: usize = self.choice.iter().map(|choice| choice.option.len()).product();
        if self.choice.is_empty() {
            return Ok(self);
        }
        if count > MOST_READINGS {
            let reason = format!("{count} combinations exceed the limit of {MOST_READINGS}");
            return Err(PaperError::new(folder::READINGS, reason));
        }
        let mut combinations = vec![Reading::default()];
        for choice in &self.choice {
            let longer = combinations
                .iter()
                .flat_map(|so_far| choice.option.iter().map(|option| so_far.and(option)));
            combinations = longer.collect();
        }
        self.reading.extend(combinations);
        Ok(self)
    }

    /// Returns the text of the experiment file. The quick version has fewer runs.
    ///
    /// # Errors
    /// Returns an error if the experiment cannot be written as TOML.
    pub fn experiment(&self, quick: bool) -> Result<String, PaperError> {
        let mut file = self.keys.clone();
        let [runs, few] = self.runs;
        let mut add = |key: &str, value: Value| file.insert(key.to_string(), value);
        add("name", Value::String(self.name.clone()));
        add("title", Value::String(self.title.clone()));
        add("replications", Value::Integer(if quick { few } else { runs } as i64));
        add("figure", Value::Array(Vec::new()));
        let mut sweeps = Vec::new();
        for reading in &self.reading {
            for goal in &self.goal {
                sweeps.extend(self.sweeps(reading, goal).into_iter().map(Value::Table));
            }
        }
        file.insert("sweep".to_string(), Value::Array(sweeps));
        let text = toml::to_string(&file);
        text.map_err(|error| PaperError::new(folder::READINGS, error.to_string()))
    }

    /// Returns a reading's sweeps for a goal. Strategies with equal settings share a sweep.
    fn sweeps(&self, reading: &Reading, goal: &Goal) -> Vec<Table> {
        let mut shared: Vec<(BTreeMap<String, Value>, Vec<Value>)> = Vec::new();
        let others = goal.others.iter().map(|(other, _)| other);
        for strategy in std::iter::once(&goal.strategy).chain(others) {
            let settings = self.settings(reading, goal, strategy);
            let name = Value::String(self.strategy(reading, strategy));
            match shared.iter_mut().find(|(other, _)| *other == settings) {
                Some((_, strategies)) => strategies.push(name),
                None => shared.push((settings, vec![name])),
            }
        }
        let sweep = |(settings, strategies): (BTreeMap<String, Value>, Vec<Value>)| {
            let mut sweep: Table =
                settings.into_iter().filter(|(_, value)| !empty(value)).collect();
            sweep.insert("strategy".to_string(), Value::Array(strategies));
            sweep
        };
        shared.into_iter().map(sweep).collect()
    }

    /// Returns a strategy's full name, after applying any replacement from the reading.
    fn strategy(&self, reading: &Reading, name: &str) -> String {
        let own = || self.own.get(name)?.strategy.as_ref();
        reading.instead.get(name).or_else(own).map_or(name, String::as_str).to_string()
    }

    /// Returns all of a strategy's parameters at a goal. The reading's values take precedence over
    /// the goal's, which take precedence over the strategy's own.
    fn settings(&self, reading: &Reading, goal: &Goal, strategy: &str) -> BTreeMap<String, Value> {
        let own = self.own.get(strategy);
        let one = |(key, usual): (&String, &Value)| {
            let set = reading.set.get(key).or_else(|| goal.at.get(key));
            let value = set.or_else(|| own?.set.get(key)).unwrap_or(usual);
            let value = match value {
                Value::String(text) => Value::String(reading.of(text)),
                other => other.clone(),
            };
            (key.clone(), value)
        };
        self.usual.iter().map(one).collect()
    }

    /// Reads the experiment.
    ///
    /// # Errors
    /// Returns an error if anything in the experiment is invalid.
    pub fn specification(&self, quick: bool) -> Result<Specification, PaperError> {
        folder::specification(folder::READINGS, self.experiment(quick)?, &self.name)
    }

    /// Checks, without running the experiment, that the readings refer only to existing points.
    pub(super) fn check(&self, quick: bool) -> Result<(), PaperError> {
        let wrong = |reason: String| Err(PaperError::new(folder::READINGS, reason));
        if self.goal.is_empty() || self.reading.is_empty() {
            return wrong("readings need at least one `goal` and one `reading`".to_string());
        }
        for reading in &self.reading {
            let known = |key: &&String| !self.usual.contains_key(*key);
            if let Some(key) = reading.set.keys().find(known) {
                return wrong(format!("reading {}: `usual` must contain `{key}`", reading.name));
            }
            if self.reading.iter().filter(|other| other.name == reading.name).count() > 1 {
                return wrong(format!("reading {} appears twice", reading.name));
            }
        }
        let unknown = |(strategy, own): (&String, &Own)| {
            let asked = |goal: &Goal| {
                goal.strategy == *strategy || goal.others.iter().any(|(other, _)| other == strategy)
            };
            if !self.goal.iter().any(asked) {
                return Some(format!("own.{strategy}: no goal compares `{strategy}`"));
            }
            let key = own.set.keys().find(|key| !self.usual.contains_key(*key))?;
            Some(format!("own.{strategy}: `usual` must contain `{key}`"))
        };
        if let Some(reason) = self.own.iter().find_map(unknown) {
            return wrong(reason);
        }
        let specification = self.specification(quick)?;
        let nothing = vec![Vec::new(); specification.points.len()];
        self.judge(&specification, &nothing).map(drop)
    }

    /// Judges the readings, and returns them in order of increasing distance.
    ///
    /// # Errors
    /// Returns an error if a goal or reading refers to something missing from the experiment.
    pub fn judge(
        &self,
        specification: &Specification,
        samples: &Samples,
    ) -> Result<Vec<Closeness>, PaperError> {
        let evidence = PointEvidence::new(specification, samples);
        let measured = self.reading.iter().map(|reading| self.measure(reading, &evidence));
        let all: Result<Vec<Closeness>, String> = measured.collect();
        let mut all = all.map_err(|reason| PaperError::new(folder::READINGS, reason))?;
        all.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        Ok(all)
    }

    fn measure(
        &self,
        reading: &Reading,
        evidence: &PointEvidence<'_>,
    ) -> Result<Closeness, String> {
        let (mut ratios, mut all, mut goals) = (Vec::new(), Vec::new(), Vec::new());
        for goal in &self.goal {
            let point = |strategy: &str| {
                let settings = self.settings(reading, goal, strategy);
                let mut picks: BTreeMap<String, String> =
                    settings.iter().map(|(key, value)| (key.clone(), plain(value))).collect();
                picks.insert("strategy".to_string(), self.strategy(reading, strategy));
                let named = |reason| format!("reading {}, {}: {reason}", reading.name, goal.id);
                evidence.point(&picks).map_err(named)
            };
            let metric = evidence.metric(&goal.metric)?;
            let mut errors = Vec::new();
            for (other, stated) in &goal.others {
                let ratio = evidence.ratio(metric, [point(&goal.strategy)?, point(other)?]);
                let error = |ratio: Estimate| libm::log(ratio.value / stated);
                let error = ratio.map_or(f64::INFINITY, error);
                // If the paper's order holds, the error is 0 regardless of the ratio.
                errors.push(if self.orders { error.max(0.0) } else { error });
                ratios.push(ratio);
            }
            goals.push(root_mean_square(&errors));
            all.extend(errors);
        }
        Ok(Closeness { reading: reading.clone(), ratios, distance: root_mean_square(&all), goals })
    }

    /// Returns the statement id, the other strategy and the paper's value for each ratio.
    fn places(&self) -> impl Iterator<Item = (&str, &str, f64)> {
        self.goal.iter().flat_map(|goal| {
            goal.others.iter().map(|(other, stated)| (goal.id.as_str(), other.as_str(), *stated))
        })
    }
}

impl Reading {
    /// Combines the changes in two readings.
    fn and(&self, other: &Reading) -> Reading {
        let mut both = self.clone();
        if !both.name.is_empty() {
            both.name.push('+');
            both.meaning.push_str("; ");
        }
        both.name.push_str(&other.name);
        both.meaning.push_str(&other.meaning);
        both.set.extend(other.set.clone());
        both.instead.extend(other.instead.clone());
        both
    }

    /// Applies this reading's replacements to a value.
    fn of(&self, value: &str) -> String {
        self.instead.get(value).map_or(value, String::as_str).to_string()
    }

    /// Describes the reading's changes, using the notation of experiment files.
    fn changes(&self) -> String {
        let set = self.set.iter().map(|(key, value)| match value {
            value if empty(value) => format!("no {key}"),
            value => format!("{key}={}", plain(value)),
        });
        let instead = self.instead.iter().map(|(from, to)| format!("{from}->{to}"));
        set.chain(instead).collect::<Vec<_>>().join(" ")
    }
}

/// Returns true if a value removes its parameter.
fn empty(value: &Value) -> bool {
    value.as_str() == Some("")
}

fn root_mean_square(errors: &[f64]) -> f64 {
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    libm::sqrt(squares / errors.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_that_of_logarithms() {
        assert!((root_mean_square(&[3.0, -4.0]) - libm::sqrt(12.5)).abs() < 1e-12);
    }
}
