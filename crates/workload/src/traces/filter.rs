//! Filters that select jobs from a log, such as `partition=gpu,queue=1`.

use pavior_kernel::{BadName, shown, unknown_name};
use std::fmt;
use std::str::FromStr;

use super::{Field, Names, Tags};

/// Words for values of field 11 (status). They are valid in every format.
const STATUS: [(&str, i64); 3] = [("COMPLETED", 1), ("FAILED", 0), ("CANCELLED", 5)];

/// A condition on one field.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    field: Field,
    /// The value as the user wrote it: a name or a number.
    text: String,
    /// The value as a number, and a flag: true if the value is one of the log's state names.
    value: Option<(i64, bool)>,
}

/// Conditions on a job's tags. For each field that has conditions, a job must meet at least one
/// condition. An empty filter accepts every job.
///
/// A value is either a name from the log, as in `partition=gpu`, or a number. A name does not match
/// any job until [`Filter::resolve`] has looked it up.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; pub use pavior_kernel::*; }
/// use pavior::workload::traces::{Filter, Tags};
/// let filter: Filter = "partition=2,queue=1,queue=3".parse()?;
/// assert!(filter.passes(&Tags { partition: 2, queue: 3, ..Tags::UNKNOWN }));
/// assert!(!filter.passes(&Tags { partition: 2, queue: 2, ..Tags::UNKNOWN }));
/// assert_eq!("que=1".parse::<Filter>().unwrap_err().span, 0..3);
/// # Ok::<(), pavior::BadName>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    allowed: Vec<Condition>,
}

impl Filter {
    /// Returns true if a job passes the filter.
    pub fn passes(&self, tags: &Tags) -> bool {
        self.passes_with(tags, -1)
    }

    /// Returns true if a job passes the filter. `state` is the number for the job's state name.
    pub(crate) fn passes_with(&self, tags: &Tags, state: i64) -> bool {
        let met = |one: &Condition| {
            one.value.is_some_and(|(value, is_state)| {
                value == if is_state { state } else { tags.get(one.field) }
            })
        };
        self.allowed.iter().all(|one| {
            met(one) || self.allowed.iter().any(|other| other.field == one.field && met(other))
        })
    }

    /// Returns this filter with each name replaced by its number in the log. If a number is also a
    /// name in the log, it is treated as that name.
    ///
    /// # Errors
    /// Returns an error message if a name does not occur in the log.
    pub fn resolve(&self, names: &Names) -> Result<Filter, String> {
        let one = |condition: &Condition| {
            let Condition { field, text, value } = condition;
            let named = names.get(*field, text).map(|number| (number, *field == Field::Status));
            // If the log has state names, only these names are valid.
            let is_other =
                *field == Field::Status && names.has(*field) && text.parse::<i64>().is_err();
            match named.or(value.filter(|_| !is_other)) {
                Some(value) => Ok(Condition { value: Some(value), ..condition.clone() }),
                None => Err(unknown(*field, text, names)),
            }
        };
        Ok(Filter { allowed: self.allowed.iter().map(one).collect::<Result<_, _>>()? })
    }

    /// Translates names to numbers for use with records. Unlike [`Filter::resolve`], accepts a
    /// state word only if it is valid in every format, because a record stores only field 11.
    ///
    /// # Errors
    /// Returns an error message if a name does not occur in the log.
    pub fn resolve_tags(&self, names: &Names) -> Result<Filter, String> {
        let is_status = |one: &&Condition| one.field == Field::Status;
        let (states, others): (Vec<_>, Vec<_>) = self.allowed.iter().partition(is_status);
        let of = |all: Vec<&Condition>| Filter { allowed: all.into_iter().cloned().collect() };
        let states = of(states).resolve(&Names::default())?;
        Ok(of(others).resolve(names)?.and(&states))
    }

    /// Returns true if the filter accepts every job.
    pub fn is_empty(&self) -> bool {
        self.allowed.is_empty()
    }

    /// Returns a filter that combines the conditions of both filters.
    pub fn and(mut self, other: &Filter) -> Filter {
        self.allowed.extend_from_slice(&other.allowed);
        self
    }
}

impl Filter {
    /// Parses a list of status values. For example, `1,TIMEOUT` means `status=1,status=TIMEOUT`.
    ///
    /// # Errors
    /// Returns an error if a value is empty. The span is a byte range in `text`.
    pub fn of_status(text: &str) -> Result<Filter, BadName> {
        let mut filter = Filter::default();
        let mut at = 0;
        for part in text.split(',') {
            let condition: Result<Filter, BadName> = format!("status={part}").parse();
            let span = at..at + part.len();
            filter = filter.and(&condition.map_err(|bad| BadName { span, ..bad })?);
            at += part.len() + 1;
        }
        Ok(filter)
    }
}

/// Creates the error message for an unknown name. The message lists the names in the log.
fn unknown(field: Field, text: &str, names: &Names) -> String {
    const SHOWN: usize = 8;
    let (key, all) = (field.key(), names.of(field));
    if all.is_empty() {
        return format!("`{}`: the log has no {key} names, only numbers", shown(text));
    }
    let few: Vec<String> =
        all.iter().take(SHOWN).map(|(name, _)| shown(name).to_string()).collect();
    let more = if all.len() > SHOWN { ", ..." } else { "" };
    format!("the log has no {key} `{}`, only {}{more}", shown(text), few.join(", "))
}

impl FromStr for Filter {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Filter, BadName> {
        let mut filter = Filter::default();
        let mut at = 0;
        for part in text.split(',') {
            let start = at;
            at += part.len() + 1;
            let Some((key, value)) = part.split_once('=') else {
                let reason = format!("`{part}` is not a valid condition; use KEY=VALUE");
                return Err(BadName { reason, span: start..start + part.len() });
            };
            let Some(field) = Field::ALL.into_iter().find(|field| field.key() == key) else {
                let known = Field::ALL.map(Field::key);
                let error = unknown_name("field", key, &known);
                return Err(BadName { span: start..start + key.len(), ..error });
            };
            if value.is_empty() {
                let reason = format!("`{key}` needs a value: a name or a whole number");
                let span = start + key.len() + 1..start + part.len();
                return Err(BadName { reason, span });
            }
            let word = STATUS.iter().find(|(word, _)| field == Field::Status && *word == value);
            let number = word.map(|(_, number)| *number).or_else(|| value.parse().ok());
            let (text, value) = (value.to_string(), number.map(|number| (number, false)));
            filter.allowed.push(Condition { field, text, value });
        }
        Ok(filter)
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |one: &Condition| format!("{}={}", one.field.key(), one.text);
        f.write_str(&self.allowed.iter().map(one).collect::<Vec<_>>().join(","))
    }
}
