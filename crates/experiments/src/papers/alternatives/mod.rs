//! Other readings of what a paper leaves open, measured as an experiment of their own.
//!
//! A [`Reading`] changes values of the paper's default reading; a [`Goal`] is a point of the paper with
//! the ratios that it states there. Every reading is run at every goal, and the readings are ordered
//! by their distance: the root mean square of ln(our ratio / the paper's ratio). Where a paper states
//! orders only, a ratio is to be below 1.

mod report;

use super::{Estimate, Evidence};
use crate::parameters::{self, ValueType};
use crate::{Samples, Specification};

/// The readings of a paper.
pub struct Alternatives {
    /// The paper's name.
    pub paper: &'static str,
    /// The heading of the report.
    pub title: &'static str,
    /// The experiment's keys that every point has besides those of `usual`.
    pub keys: &'static str,
    /// The default reading: every parameter that a reading or a goal changes, in full.
    pub usual: &'static [(&'static str, &'static str)],
    /// Whether the paper states orders only: every ratio is below what stands as its number, 1.
    pub orders: bool,
    /// What is compared with what the paper states.
    pub goals: &'static [Goal],
    /// The readings; the first one changes nothing.
    pub readings: &'static [Reading],
}

/// Ratios that a paper states at one place.
pub struct Goal {
    /// The statement.
    pub id: &'static str,
    /// Where, over the default reading.
    pub at: &'static [(&'static str, &'static str)],
    /// The metric.
    pub metric: &'static str,
    /// The strategy above the stroke.
    pub strategy: &'static str,
    /// The strategies below the stroke, and the paper's ratios.
    pub others: &'static [(&'static str, f64)],
}

/// A reading: the default one but for some changes.
pub struct Reading {
    /// Names its rows.
    pub name: &'static str,
    /// What it changes, in a clause.
    pub meaning: &'static str,
    /// Parameters with other values.
    pub set: &'static [(&'static str, &'static str)],
    /// Values that are replaced wherever they stand, such as a pattern or a strategy.
    pub instead: &'static [(&'static str, &'static str)],
}

/// A reading with its numbers.
pub struct Closeness {
    /// The reading.
    pub reading: &'static Reading,
    /// Our ratios, in the order of goals and of their other strategies.
    pub ratios: Vec<Option<Estimate>>,
    /// The distance over all of them.
    pub distance: f64,
    /// The distance of each goal.
    pub goals: Vec<f64>,
}

impl Alternatives {
    /// The experiment as a file; the quick one has few runs.
    pub fn experiment(&self, quick: bool) -> String {
        let runs = if quick { 2 } else { 100 };
        let mut text = format!(
            "name = \"{}-alternatives\"\ntitle = \"{}\"\n{}replications = {runs}\nfigure = []\n",
            self.paper, self.title, self.keys
        );
        for reading in self.readings {
            for goal in self.goals {
                text += "\n[[sweep]]\n";
                for (key, value) in reading.settings(self.usual, goal) {
                    let quote = match parameters::ALL[parameters::index(key)].kind {
                        ValueType::Text => "\"",
                        _ => "",
                    };
                    if !value.is_empty() {
                        text += &format!("{key} = {quote}{value}{quote}\n");
                    }
                }
                let others = goal.others.iter().map(|(other, _)| *other);
                let strategies: Vec<String> = std::iter::once(goal.strategy)
                    .chain(others)
                    .map(|strategy| format!("\"{}\"", reading.of("strategy", strategy)))
                    .collect();
                text += &format!("strategy = [{}]\n", strategies.join(", "));
            }
        }
        text
    }

    /// The experiment.
    ///
    /// # Panics
    /// If it is written wrong, which a test shows.
    pub fn specification(&self, quick: bool) -> Specification {
        let text = self.experiment(quick);
        let read = Specification::parse(&text, self.paper);
        read.expect("the papers' experiments are written right")
    }

    /// The readings, the closest first.
    pub fn judge(&self, specification: &Specification, samples: &Samples) -> Vec<Closeness> {
        let evidence = Evidence::new(specification, samples);
        let mut all: Vec<Closeness> =
            self.readings.iter().map(|reading| self.measure(reading, &evidence)).collect();
        all.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        all
    }

    fn measure(&self, reading: &'static Reading, evidence: &Evidence<'_>) -> Closeness {
        let (mut ratios, mut all, mut goals) = (Vec::new(), Vec::new(), Vec::new());
        for goal in self.goals {
            let settings = reading.settings(self.usual, goal);
            let mut errors = Vec::new();
            for (other, stated) in goal.others {
                let (above, below) =
                    (reading.point(&settings, goal.strategy), reading.point(&settings, other));
                let (above, below) = (borrowed(&above), borrowed(&below));
                let ratio = evidence.ratio(goal.metric, &above, &below);
                let error = |ratio: Estimate| libm::log(ratio.value / stated);
                let error = ratio.map_or(f64::INFINITY, error);
                // An order that holds is no distance, however far below it is.
                errors.push(if self.orders { error.max(0.0) } else { error });
                ratios.push(ratio);
            }
            goals.push(root_mean_square(&errors));
            all.extend(errors);
        }
        Closeness { reading, ratios, distance: root_mean_square(&all), goals }
    }

    /// The places of the ratios: statement, other strategy, and the paper's ratio.
    fn places(&self) -> impl Iterator<Item = (&'static str, &'static str, f64)> {
        let of = |goal: &'static Goal| {
            goal.others.iter().map(|(other, stated)| (goal.id, *other, *stated))
        };
        self.goals.iter().flat_map(of)
    }
}

impl Reading {
    /// One that changes nothing yet.
    pub(super) const PLAIN: Reading = Reading { name: "", meaning: "", set: &[], instead: &[] };

    /// A value under this reading, as points have it.
    fn of(&self, key: &'static str, value: &str) -> String {
        let instead = self.instead.iter().find(|(from, _)| *from == value);
        let value = instead.map_or(value, |(_, to)| to);
        if value.is_empty() {
            return String::new();
        }
        (parameters::ALL[parameters::index(key)].read)(value).expect("readings are written right")
    }

    /// Every parameter at a goal.
    fn settings(
        &self,
        usual: &'static [(&'static str, &'static str)],
        goal: &Goal,
    ) -> Vec<(&'static str, String)> {
        let given = |all: &'static [(&'static str, &'static str)], key: &str| {
            all.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
        };
        let keys = usual.iter().map(|(key, _)| *key);
        keys.map(|key| {
            let value =
                given(self.set, key).or_else(|| given(goal.at, key)).or_else(|| given(usual, key));
            (key, self.of(key, value.unwrap_or_default()))
        })
        .collect()
    }

    /// The point of a strategy.
    fn point(
        &self,
        settings: &[(&'static str, String)],
        strategy: &str,
    ) -> Vec<(&'static str, String)> {
        let mut point = settings.to_vec();
        point.push(("strategy", self.of("strategy", strategy)));
        point
    }

    /// What it changes, as a file would have it.
    fn changes(&self) -> String {
        let set = self.set.iter().map(|(key, value)| match *value {
            "" => format!("no {key}"),
            value => format!("{key}={value}"),
        });
        let instead = self.instead.iter().map(|(from, to)| format!("{from}->{to}"));
        set.chain(instead).collect::<Vec<_>>().join(" ")
    }
}

/// As evidence is asked.
fn borrowed<'v>(values: &'v [(&'static str, String)]) -> Vec<(&'v str, &'v str)> {
    values.iter().map(|(key, value)| (*key, value.as_str())).collect()
}

fn root_mean_square(errors: &[f64]) -> f64 {
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    libm::sqrt(squares / errors.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::ALTERNATIVES;

    #[test]
    fn every_reading_can_be_read_and_its_points_are_found() {
        for alternatives in ALTERNATIVES {
            let specification = alternatives.specification(true);
            let names: Vec<&str> = alternatives.readings.iter().map(|one| one.name).collect();
            for reading in alternatives.readings {
                let count = names.iter().filter(|name| **name == reading.name).count();
                assert_eq!(count, 1, "{}", reading.name);
                for (key, _) in reading.set {
                    assert!(alternatives.usual.iter().any(|(name, _)| name == key), "{key}");
                }
                for goal in alternatives.goals {
                    let settings = reading.settings(alternatives.usual, goal);
                    let at = reading.point(&settings, goal.strategy);
                    let at = borrowed(&at);
                    let found = specification.points.iter().filter(|point| point.has(&at)).count();
                    assert_eq!(found, 1, "{} at {}", reading.name, goal.id);
                }
            }
            assert!(alternatives.readings[0].changes().is_empty());
        }
    }

    #[test]
    fn the_distance_is_that_of_logarithms() {
        assert!((root_mean_square(&[3.0, -4.0]) - libm::sqrt(12.5)).abs() < 1e-12);
    }
}
