//! The list of parameters. Together, they define everything that can vary between runs.
//!
//! Each entry in [`ALL`] defines an option of `pavior simulate`, unless it applies only to
//! [snapshots](Applies::Snapshot), in which nothing is simulated. Each entry also defines a key in
//! experiment files, in their schema, in figures and in result tables, and a row in the
//! documentation. A value's text is parsed once, into a field of [`Given`].
//! [`RunSettings`](crate::RunSettings) defines what the value means.

mod controls;
mod failures;
mod keywords;
mod log;
mod messages;
mod migration;
mod page;
mod reservations;
mod runs;
mod snapshot;
mod synthetic;

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use pavior_kernel::BadName;

use crate::{Catalogue, Given};

pub use controls::{CONTROLS, Control, ControlKind, SKIP_UNSUPPORTED};
pub use keywords::{declaration, experiment, help};
pub use log::{TRACE, of_reading};
pub use messages::COMMUNICATION;
pub use page::page;
pub use runs::{MACHINE, SCHEDULER, STRATEGY};
pub use snapshot::REQUEST;
pub use synthetic::{LOAD, SERVICE};

/// The definition of a parameter.
pub struct Parameter {
    /// The name, in kebab-case.
    pub name: &'static str,
    /// An alternative name.
    pub alias: Option<&'static str>,
    /// A one-clause description.
    pub meaning: &'static str,
    /// The type of the parameter's values.
    pub kind: ValueType,
    /// The unit of a number, or an empty string if there is no unit.
    pub unit: &'static str,
    /// The heading in help and documentation.
    pub heading: Heading,
    /// The kinds of workload that the parameter applies to.
    pub applies: Applies,
    /// The default values, or an empty list if there is no fixed default.
    pub default: &'static [&'static str],
    /// A parser that looks up names, such as those of strategies, in the catalogue.
    read: fn(&str, &Catalogue) -> Result<Reading, BadName>,
}

/// A parsed value.
#[derive(Clone)]
pub struct Reading {
    /// The canonical text. Equal values have the same text.
    pub text: Arc<str>,
    put: Arc<dyn Fn(&mut Given) + Send + Sync>,
}

impl Reading {
    /// Creates a reading from a value, its canonical text, and the [`Given`] field for the value.
    fn new<T: Clone + Send + Sync + 'static>(
        text: impl Into<Arc<str>>,
        value: T,
        field: fn(&mut Given) -> &mut Option<T>,
    ) -> Reading {
        let put = move |given: &mut Given| *field(given) = Some(value.clone());
        Reading { text: text.into(), put: Arc::new(put) }
    }

    /// Sets the field in `given` to the value.
    pub fn put(&self, given: &mut Given) {
        (self.put)(given);
    }
}

/// The types of parameter values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// Text, for example a name with options.
    Text,
    /// A decimal number.
    Number,
    /// A whole number.
    Count,
    /// True or false.
    Switch,
    /// One of a fixed set of words, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
}

/// The kinds of workload that a parameter applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// All workloads.
    Always,
    /// Runs of synthetic or logged jobs.
    Runs,
    /// Synthetic jobs only.
    Synthetic,
    /// Jobs that send messages: synthetic jobs, or logged jobs with `communication`.
    Messages,
    /// Jobs in a log that send messages.
    Communication,
    /// Logs only.
    Log,
    /// A single request, with the machine in a fixed state.
    Snapshot,
}

/// A group of parameters. Groups are in the order shown in help and documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// The machine, the strategy and the scheduler.
    General,
    /// Synthetic jobs.
    Synthetic,
    /// Messages between a job's nodes, and the network.
    Messages,
    /// Job logs.
    Log,
    /// Failures.
    Failures,
    /// The number of replications and the seed.
    Replications,
    /// The metrics to observe.
    Results,
    /// A single request, with the machine in a fixed state.
    Snapshot,
}

impl Heading {
    /// All headings.
    pub const ALL: [Heading; 8] = [
        Heading::General,
        Heading::Synthetic,
        Heading::Messages,
        Heading::Log,
        Heading::Failures,
        Heading::Replications,
        Heading::Results,
        Heading::Snapshot,
    ];

    /// Returns the heading's text.
    pub fn title(self) -> &'static str {
        match self {
            Heading::General => "Machine, strategies and schedulers",
            Heading::Synthetic => "Synthetic workload",
            Heading::Messages => {
                "Messages (service messages or iterations; logs with communication)"
            }
            Heading::Log => "Job log",
            Heading::Failures => "Failures",
            Heading::Replications => "Replications",
            Heading::Results => "Results",
            Heading::Snapshot => "Snapshots",
        }
    }
}

impl Parameter {
    /// Returns the index in [`ALL`].
    pub fn index(&self) -> usize {
        ALL.iter().take_while(|parameter| parameter.name != self.name).count()
    }

    /// Returns true if `key` is the name of this parameter. Underscores are equivalent to dashes.
    pub fn is_called(&self, key: &str) -> bool {
        let key = key.replace('_', "-");
        self.name == key || self.alias == Some(key.as_str())
    }

    /// Returns the name in JSON and CSV, in snake_case.
    pub fn column(&self) -> String {
        self.name.replace('-', "_")
    }

    /// Parses a value.
    ///
    /// # Errors
    /// Returns an error with the position of the fault if the value is invalid.
    pub fn reading(&self, text: &str, catalogue: &Catalogue) -> Result<Reading, BadName> {
        (self.read)(text, catalogue)
    }

    /// Returns the canonical form of a value.
    ///
    /// # Errors
    /// Returns the same errors as [`Parameter::reading`].
    pub fn canonical(&self, text: &str, catalogue: &Catalogue) -> Result<Arc<str>, BadName> {
        self.reading(text, catalogue).map(|reading| reading.text)
    }
}

/// The fields that most parameters have in common. Each constant sets only the fields that differ.
const COMMON: Parameter = Parameter {
    name: "",
    alias: None,
    meaning: "",
    kind: ValueType::Text,
    unit: "",
    heading: Heading::General,
    applies: Applies::Always,
    default: &[],
    // Every constant overrides this function.
    read: |text, _| Ok(Reading { text: text.into(), put: Arc::new(|_| ()) }),
};

/// All parameters, in the order used for table columns and point numbers. The last parameter varies
/// fastest. Message parameters come after `service`, which determines whether jobs send messages.
pub static ALL: &[Parameter] = &[
    runs::MACHINE,
    log::TRACE,
    log::SHAPE_RULE,
    log::ARRIVAL_SCALE,
    log::FIRST,
    log::FILTER,
    log::STATUS,
    log::ESTIMATES,
    log::KILL,
    log::LENIENT,
    log::DEPENDENCIES,
    log::PROCESSORS_PER_NODE,
    log::NODES_FROM,
    log::PIECES,
    log::LOG_FORMAT,
    log::PLACED,
    snapshot::BUSY,
    snapshot::SUBMESHES,
    snapshot::REQUEST,
    synthetic::SIDES,
    synthetic::SERVICE,
    synthetic::ARRIVALS,
    messages::COMMUNICATION,
    messages::CONTENTION,
    messages::CYCLES_PER_SECOND,
    messages::PATTERN,
    messages::ORDER,
    messages::SENDING,
    messages::ROUNDS,
    messages::RANKS,
    messages::FLITS,
    messages::ROUTING_DELAY,
    messages::BUFFER,
    messages::ENGINE,
    messages::RELEASE,
    messages::LANES,
    messages::LINK_ENERGY,
    messages::ROUTER_ENERGY,
    failures::MTTF,
    failures::MTTR,
    failures::FAIL_CLASSES,
    failures::SPARES,
    failures::SPARE_SWITCHES,
    failures::SLICE,
    failures::FAILURES,
    failures::CHECKPOINT,
    reservations::RESERVATIONS,
    synthetic::JOBS,
    runs::FREEDOM,
    migration::MIGRATION,
    migration::MOVABLE,
    runs::WARMUP,
    runs::SLOWDOWN_BOUND,
    runs::MAX_WAITING,
    runs::MAX_TIME,
    runs::MAX_INTERRUPTIONS,
    runs::SEED,
    synthetic::LOAD,
    runs::SCHEDULER,
    runs::STRATEGY,
];

/// Parses a value whose type implements [`FromStr`].
fn parsed<T>(text: &str, field: fn(&mut Given) -> &mut Option<T>) -> Result<Reading, BadName>
where
    T: FromStr<Err = BadName> + Display + Clone + Send + Sync + 'static,
{
    text.parse::<T>().map(|value| Reading::new(value.to_string(), value, field))
}

/// Parses a registry entry's name with options.
fn selected<T>(
    selection: Result<T, BadName>,
    field: fn(&mut Given) -> &mut Option<T>,
) -> Result<Reading, BadName>
where
    T: Display + Clone + Send + Sync + 'static,
{
    selection.map(|value| Reading::new(value.to_string(), value, field))
}

/// Converts a word in a [`ValueType::Choice`] to the corresponding value.
fn chosen<T: Clone + Send + Sync + 'static, const N: usize>(
    text: &str,
    words: [(&str, T); N],
    field: fn(&mut Given) -> &mut Option<T>,
) -> Result<Reading, BadName> {
    let all = words.each_ref().map(|(word, _)| *word);
    match words.into_iter().find(|(word, _)| *word == text) {
        Some((_, value)) => Ok(Reading::new(text, value, field)),
        None => Err(whole(text, &format!("is not one of {}", all.join(", ")))),
    }
}

/// Accepts any text, unchanged.
fn verbatim(text: &str, field: fn(&mut Given) -> &mut Option<String>) -> Reading {
    Reading::new(text, text.to_string(), field)
}

fn switch(text: &str, field: fn(&mut Given) -> &mut Option<bool>) -> Result<Reading, BadName> {
    match text.parse() {
        Ok(value) => Ok(Reading::new(text, value, field)),
        Err(_) => Err(whole(text, "is neither true nor false")),
    }
}

fn number(
    text: &str,
    accepts: fn(f64) -> bool,
    range: &str,
    field: fn(&mut Given) -> &mut Option<f64>,
) -> Result<Reading, BadName> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && accepts(value) => {
            Ok(Reading::new(value.to_string(), value, field))
        }
        _ => Err(whole(text, &format!("is not a number {range}"))),
    }
}

/// Parses a whole number. `T` must be able to represent the whole range.
fn count<T>(
    text: &str,
    range: RangeInclusive<u64>,
    field: fn(&mut Given) -> &mut Option<T>,
) -> Result<Reading, BadName>
where
    T: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    let number = text.parse::<u64>().ok().filter(|number| range.contains(number));
    if let Some((number, Ok(value))) = number.map(|number| (number, T::try_from(number))) {
        return Ok(Reading::new(number.to_string(), value, field));
    }
    let (least, most) = (range.start(), range.end());
    let range = match *most {
        u64::MAX => format!(">= {least}"),
        most => format!("from {least} to {most}"),
    };
    Err(whole(text, &format!("is not a whole number {range}")))
}

fn whole(text: &str, reason: &str) -> BadName {
    BadName { reason: format!("`{text}` {reason}"), span: 0..text.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_canonical() {
        for parameter in ALL {
            for value in parameter.default {
                let canonical = parameter.canonical(value, &Catalogue::default()).unwrap();
                assert_eq!(&*canonical, *value, "{}", parameter.name);
            }
        }
    }

    #[test]
    fn every_word_of_a_choice_is_read_as_itself() {
        for parameter in ALL {
            if let ValueType::Choice(words) = parameter.kind {
                let error = parameter.canonical("?", &Catalogue::default()).unwrap_err();
                let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                assert_eq!(error.reason, format!("`?` is not one of {}", all.join(", ")));
                for word in all {
                    let canonical = parameter.canonical(word, &Catalogue::default()).unwrap();
                    assert_eq!(&*canonical, word, "{}", parameter.name);
                }
            }
        }
    }

    #[test]
    fn names_tell_parameters_apart() {
        for (position, parameter) in ALL.iter().enumerate() {
            assert_eq!(parameter.index(), position);
            let called = ALL.iter().filter(|other| other.is_called(parameter.name)).count();
            assert_eq!(called, 1, "{}", parameter.name);
            assert!(!CONTROLS.iter().any(|control| parameter.is_called(control.name)));
            assert!(!parameter.meaning.is_empty());
        }
        assert!(log::ARRIVAL_SCALE.is_called("arrival_scale"));
        assert!(LOAD.is_called("loads"));
    }
}
