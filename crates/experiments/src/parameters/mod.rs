//! What a run can vary: the one list of parameters.
//!
//! A line in [`ALL`] makes an option of `pavior simulate`, but for parameters of
//! [snapshots](Applies::Snapshot), in which nothing is simulated. It also makes a key of experiment
//! files, of their schema, of figures and of result tables, and a row of the documentation. Its
//! text is read once, into a field of [`Given`]. [`RunSettings`](crate::RunSettings) says what the
//! value means.

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
pub use log::TRACE;
pub use messages::COMMUNICATION;
pub use page::page;
pub use runs::{MACHINE, SCHEDULER, STRATEGY};
pub use snapshot::REQUEST;
pub use synthetic::{LOAD, SERVICE};

/// A parameter as data.
pub struct Parameter {
    /// The name, kebab-case.
    pub name: &'static str,
    /// Another name under which it may be given.
    pub alias: Option<&'static str>,
    /// What it is, in a clause.
    pub meaning: &'static str,
    /// What its values are.
    pub kind: ValueType,
    /// What a number is measured in; empty where there is nothing to say.
    pub unit: &'static str,
    /// Under which heading help and documentation show it.
    pub heading: Heading,
    /// The workloads that it applies to.
    pub applies: Applies,
    /// Its values where none are given; none where leaving it out means something.
    pub default: &'static [&'static str],
    /// Reads a value; names of strategies and the like are read from the catalogue.
    read: fn(&str, &Catalogue) -> Result<Reading, BadName>,
}

/// A value that was read.
#[derive(Clone)]
pub struct Reading {
    /// Its canonical text: equal values have equal texts.
    pub text: Arc<str>,
    put: Arc<dyn Fn(&mut Given) + Send + Sync>,
}

impl Reading {
    /// A value with its type, its canonical text, and the field that it goes to.
    fn new<T: Clone + Send + Sync + 'static>(
        text: impl Into<Arc<str>>,
        value: T,
        field: fn(&mut Given) -> &mut Option<T>,
    ) -> Reading {
        let put = move |given: &mut Given| *field(given) = Some(value.clone());
        Reading { text: text.into(), put: Arc::new(put) }
    }

    /// Gives the value.
    pub fn put(&self, given: &mut Given) {
        (self.put)(given);
    }
}

/// What the values of a parameter are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// Text, such as a name with options.
    Text,
    /// A decimal number.
    Number,
    /// A whole number.
    Count,
    /// True or false.
    Switch,
    /// One of these words, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
}

/// The workloads that a parameter applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// All.
    Always,
    /// Runs of jobs, drawn or from logs.
    Runs,
    /// Drawn jobs only.
    Synthetic,
    /// Jobs that send messages: drawn ones, or those of a log with `communication`.
    Messages,
    /// Jobs of a log that send messages.
    Communication,
    /// Logs only.
    Log,
    /// One request asked in a state in which no time passes.
    Snapshot,
}

/// Groups of parameters, in the order in which help and documentation show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// Machine, strategy and scheduler.
    General,
    /// Drawn jobs.
    Synthetic,
    /// What jobs send, and the network.
    Messages,
    /// Logs.
    Log,
    /// Failures.
    Failures,
    /// How often, and from which seed.
    Replications,
    /// What is observed.
    Results,
    /// One request in a state in which no time passes.
    Snapshot,
}

impl Heading {
    /// Every heading.
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

    /// The heading in words.
    pub fn title(self) -> &'static str {
        match self {
            Heading::General => "Machine, strategies and schedulers",
            Heading::Synthetic => "Synthetic workload",
            Heading::Messages => {
                "Messages (service messages or iterations; of a log, with a communication)"
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
    /// Its place in [`ALL`].
    pub fn index(&self) -> usize {
        ALL.iter().take_while(|parameter| parameter.name != self.name).count()
    }

    /// Whether `key` means this parameter; an underscore stands for a dash.
    pub fn is_called(&self, key: &str) -> bool {
        let key = key.replace('_', "-");
        self.name == key || self.alias == Some(key.as_str())
    }

    /// The name in JSON and CSV: snake_case.
    pub fn column(&self) -> String {
        self.name.replace('-', "_")
    }

    /// Reads a value.
    ///
    /// # Errors
    /// If it is no value of this parameter, with the place of the fault.
    pub fn reading(&self, text: &str, catalogue: &Catalogue) -> Result<Reading, BadName> {
        (self.read)(text, catalogue)
    }

    /// The canonical form of a value.
    ///
    /// # Errors
    /// As [`Parameter::reading`].
    pub fn canonical(&self, text: &str, catalogue: &Catalogue) -> Result<Arc<str>, BadName> {
        self.reading(text, catalogue).map(|reading| reading.text)
    }
}

/// What parameters have in common; every constant of the list names what differs.
const COMMON: Parameter = Parameter {
    name: "",
    alias: None,
    meaning: "",
    kind: ValueType::Text,
    unit: "",
    heading: Heading::General,
    applies: Applies::Always,
    default: &[],
    // Each constant names its own.
    read: |text, _| Ok(Reading { text: text.into(), put: Arc::new(|_| ()) }),
};

/// Every parameter, in the order in which tables show them and points are numbered: the last varies
/// fastest. Those of messages stand behind `service`, which says whether there are any.
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

/// A value that its type reads and writes.
fn parsed<T>(text: &str, field: fn(&mut Given) -> &mut Option<T>) -> Result<Reading, BadName>
where
    T: FromStr<Err = BadName> + Display + Clone + Send + Sync + 'static,
{
    text.parse::<T>().map(|value| Reading::new(value.to_string(), value, field))
}

/// A name with options from a registry.
fn selected<T>(
    selection: Result<T, BadName>,
    field: fn(&mut Given) -> &mut Option<T>,
) -> Result<Reading, BadName>
where
    T: Display + Clone + Send + Sync + 'static,
{
    selection.map(|value| Reading::new(value.to_string(), value, field))
}

/// One of the words of a [`ValueType::Choice`], with what each means to a run.
fn chosen<T: Clone + Send + Sync + 'static, const N: usize>(
    text: &str,
    words: [(&str, T); N],
    field: fn(&mut Given) -> &mut Option<T>,
) -> Result<Reading, BadName> {
    let all = words.each_ref().map(|(word, _)| *word);
    match words.into_iter().find(|(word, _)| *word == text) {
        Some((_, value)) => Ok(Reading::new(text, value, field)),
        None => Err(whole(text, &format!("is none of {}", all.join(", ")))),
    }
}

/// Text that stays as it is.
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

/// A whole number of a type that holds the range.
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
        u64::MAX => format!("of at least {least}"),
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
                assert_eq!(error.reason, format!("`?` is none of {}", all.join(", ")));
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
