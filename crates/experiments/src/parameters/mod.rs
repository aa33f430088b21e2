//! What an experiment can vary: the one list of parameters.
//!
//! A parameter is an option of `pavior simulate` by the same name, but for those of [still
//! states](Applies::Still), in which nothing is simulated. A line in [`ALL`] makes it a key
//! of experiment files, of their schema, of figures and of result tables; `scenario.rs` is where its
//! value takes effect.

mod messages;
mod still;

use std::fmt::Display;
use std::str::FromStr;

use pavior_kernel::BadName;
use pavior_mesh::Grid;
use pavior_workload::traces::{Estimates, Filter};
use pavior_workload::{
    ArrivalProcess, Selection, ServiceDistribution, ShapeRule, SideDistribution,
};

/// A parameter as data.
pub struct Parameter {
    /// The name, as `simulate` has it, kebab-case.
    pub name: &'static str,
    /// Another name under which files may give it.
    pub alias: Option<&'static str>,
    /// What it is, in a clause.
    pub meaning: &'static str,
    /// What its values are.
    pub kind: ValueType,
    /// The workloads that it applies to.
    pub applies: Applies,
    /// Its values where none are given; none where leaving it out means something.
    pub default: &'static [&'static str],
    /// The canonical form of a value.
    pub read: fn(&str) -> Result<String, BadName>,
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
    /// Drawn jobs that send messages.
    Messages,
    /// Logs only.
    Log,
    /// One request asked in a state in which no time passes.
    Still,
}

/// The index of a parameter in [`ALL`], by its name.
///
/// # Panics
/// If there is none: names in code are right.
pub fn index(name: &str) -> usize {
    ALL.iter().position(|parameter| parameter.name == name).expect("a parameter of the list")
}

impl Parameter {
    /// Whether `key` means this parameter; an underscore stands for a dash.
    pub fn is_called(&self, key: &str) -> bool {
        let key = key.replace('_', "-");
        self.name == key || self.alias == Some(key.as_str())
    }

    /// The name in JSON and CSV: snake_case.
    pub fn column(&self) -> String {
        self.name.replace('-', "_")
    }
}

/// Every parameter, in the order in which tables show them and points are numbered: the last varies
/// fastest.
pub const ALL: &[Parameter] = &[
    Parameter {
        name: "machine",
        alias: Some("machines"),
        meaning: "the machine: mesh:16x16, torus:8x8x8 or grid:8wx4x4w",
        kind: ValueType::Text,
        applies: Applies::Always,
        default: &["mesh:16x16"],
        read: |text| {
            let bad =
                |error: pavior_mesh::NameError| BadName { reason: error.reason, span: error.span };
            text.parse::<Grid>().map(|grid| grid.to_string()).map_err(bad)
        },
    },
    Parameter {
        name: "trace",
        alias: Some("traces"),
        meaning: "a job log, its path relative to the experiment's file",
        kind: ValueType::Text,
        applies: Applies::Log,
        default: &[],
        read: |text| Ok(text.to_string()),
    },
    Parameter {
        name: "shape-rule",
        alias: None,
        meaning: "how a number of nodes becomes a box",
        kind: ValueType::Text,
        applies: Applies::Log,
        default: &["compact"],
        read: canonical::<Selection<ShapeRule>>,
    },
    Parameter {
        name: "arrival-scale",
        alias: None,
        meaning: "multiplies the times between arrivals",
        kind: ValueType::Number,
        applies: Applies::Log,
        default: &["1"],
        read: |text| number(text, |value| value > 0.0 && value <= 1e6, "above 0, at most 1e6"),
    },
    Parameter {
        name: "first",
        alias: None,
        meaning: "reads this many job lines only",
        kind: ValueType::Count,
        applies: Applies::Log,
        default: &[],
        read: |text| count(text, 1),
    },
    Parameter {
        name: "filter",
        alias: None,
        meaning: "keeps jobs whose fields have these values: partition=2,queue=1",
        kind: ValueType::Text,
        applies: Applies::Log,
        default: &[],
        read: canonical::<Filter>,
    },
    Parameter {
        name: "status",
        alias: None,
        meaning: "keeps jobs with these status values, separated by commas",
        kind: ValueType::Text,
        applies: Applies::Log,
        default: &[],
        read: |text| {
            Filter::of_status(text)
                .map(|_| text.to_string())
                .map_err(|bad| BadName { span: 0..text.len(), ..bad })
        },
    },
    Parameter {
        name: "estimates",
        alias: None,
        meaning: "what schedulers are told of run times: log, exact or factor:2",
        kind: ValueType::Text,
        applies: Applies::Log,
        default: &["log"],
        read: canonical::<Selection<Estimates>>,
    },
    Parameter {
        name: "kill",
        alias: None,
        meaning: "cuts runs at their estimates",
        kind: ValueType::Switch,
        applies: Applies::Log,
        default: &["false"],
        read: canonical_switch,
    },
    Parameter {
        name: "lenient",
        alias: None,
        meaning: "skips and counts lines of a log that cannot be read",
        kind: ValueType::Switch,
        applies: Applies::Log,
        default: &["false"],
        read: canonical_switch,
    },
    still::BUSY,
    still::SUBMESHES,
    still::REQUEST,
    Parameter {
        name: "sides",
        alias: None,
        meaning: "the distribution of request sides",
        kind: ValueType::Text,
        applies: Applies::Synthetic,
        default: &["uniform"],
        read: canonical::<Selection<SideDistribution>>,
    },
    Parameter {
        name: "service",
        alias: None,
        meaning: "what jobs do while they hold their nodes",
        kind: ValueType::Text,
        applies: Applies::Synthetic,
        default: &["exponential"],
        read: canonical::<Selection<ServiceDistribution>>,
    },
    Parameter {
        name: "arrivals",
        alias: None,
        meaning: "when jobs arrive",
        kind: ValueType::Text,
        applies: Applies::Synthetic,
        default: &["exponential"],
        read: canonical::<Selection<ArrivalProcess>>,
    },
    messages::PATTERN,
    messages::SENDING,
    messages::ROUNDS,
    messages::RANKS,
    messages::FLITS,
    messages::ROUTING_DELAY,
    messages::BUFFER,
    messages::ENGINE,
    messages::RELEASE,
    messages::LANES,
    Parameter {
        name: "jobs",
        alias: None,
        meaning: "completed jobs that end a run",
        kind: ValueType::Count,
        applies: Applies::Synthetic,
        default: &["1000"],
        read: |text| count(text, 1),
    },
    Parameter {
        name: "warmup",
        alias: None,
        meaning: "completions to drop before averages start",
        kind: ValueType::Count,
        applies: Applies::Runs,
        default: &["0"],
        read: |text| count(text, 0),
    },
    Parameter {
        name: "slowdown-bound",
        alias: None,
        meaning: "the least run time in the bounded slowdown (10 s for logs, else 1 unit)",
        kind: ValueType::Number,
        applies: Applies::Runs,
        default: &[],
        read: |text| number(text, |value| value >= 0.0, "of at least 0"),
    },
    Parameter {
        name: "seed",
        alias: Some("seeds"),
        meaning: "the seed of all random numbers",
        kind: ValueType::Count,
        applies: Applies::Always,
        default: &["1"],
        read: |text| count(text, 0),
    },
    Parameter {
        name: "load",
        alias: Some("loads"),
        meaning: "arrivals per unit of time",
        kind: ValueType::Number,
        applies: Applies::Synthetic,
        default: &["1.5"],
        read: |text| number(text, |value| (1e-6..=1e6).contains(&value), "from 1e-6 to 1e6"),
    },
    Parameter {
        name: "scheduler",
        alias: Some("schedulers"),
        meaning: "which job goes next",
        kind: ValueType::Text,
        applies: Applies::Runs,
        default: &["fcfs"],
        read: canonical::<pavior_scheduling::Selection>,
    },
    Parameter {
        name: "strategy",
        alias: Some("strategies"),
        meaning: "which nodes a job gets",
        kind: ValueType::Text,
        applies: Applies::Always,
        default: &["ff", "tff", "tbl", "gabl", "mbs"],
        read: canonical::<pavior_allocation::Selection>,
    },
];

fn canonical<T: FromStr<Err = BadName> + Display>(text: &str) -> Result<String, BadName> {
    text.parse::<T>().map(|value| value.to_string())
}

fn canonical_switch(text: &str) -> Result<String, BadName> {
    match text {
        "true" | "false" => Ok(text.to_string()),
        _ => Err(whole(text, "is neither true nor false")),
    }
}

fn number(text: &str, accepts: fn(f64) -> bool, range: &str) -> Result<String, BadName> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && accepts(value) => Ok(value.to_string()),
        _ => Err(whole(text, &format!("is not a number {range}"))),
    }
}

fn one_of(text: &str, words: &[&str]) -> Result<String, BadName> {
    if words.contains(&text) {
        return Ok(text.to_string());
    }
    Err(whole(text, &format!("is none of {}", words.join(", "))))
}

fn count(text: &str, least: u64) -> Result<String, BadName> {
    match text.parse::<u64>() {
        Ok(value) if value >= least => Ok(value.to_string()),
        _ => Err(whole(text, &format!("is not a whole number of at least {least}"))),
    }
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
                assert_eq!((parameter.read)(value).unwrap(), *value, "{}", parameter.name);
            }
        }
    }

    #[test]
    fn names_tell_parameters_apart() {
        for (position, parameter) in ALL.iter().enumerate() {
            assert_eq!(index(parameter.name), position);
            let called = ALL.iter().filter(|other| other.is_called(parameter.name)).count();
            assert_eq!(called, 1, "{}", parameter.name);
        }
        assert!(ALL[index("arrival-scale")].is_called("arrival_scale"));
        assert!(ALL[index("load")].is_called("loads"));
    }
}
