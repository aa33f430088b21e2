//! Filters that select jobs of a log: `partition=2,queue=1`.

use pavior_kernel::{BadName, unknown_name};
use std::fmt;
use std::str::FromStr;

use super::Tags;

type Field = (&'static str, fn(&Tags) -> i64);

/// The fields that a filter can use.
const FIELDS: [Field; 6] = [
    ("partition", |tags| tags.partition),
    ("queue", |tags| tags.queue),
    ("status", |tags| tags.status),
    ("user", |tags| tags.user),
    ("group", |tags| tags.group),
    ("app", |tags| tags.application),
];

/// Conditions on a job's tags. Several values of one field mean any of them; conditions on several
/// fields must all be met. The empty filter passes everything.
///
/// ```
/// use pavior_workload::traces::{Filter, Tags};
/// let filter: Filter = "partition=2,queue=1,queue=3".parse()?;
/// assert!(filter.passes(&Tags { partition: 2, queue: 3, ..Tags::UNKNOWN }));
/// assert!(!filter.passes(&Tags { partition: 2, queue: 2, ..Tags::UNKNOWN }));
/// assert_eq!("que=1".parse::<Filter>().unwrap_err().span, 0..3);
/// # Ok::<(), pavior_kernel::BadName>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The index of a field and a value, for each condition.
    allowed: Vec<(usize, i64)>,
}

impl Filter {
    /// Returns true if a job passes the filter.
    pub fn passes(&self, tags: &Tags) -> bool {
        self.allowed.iter().all(|&(field, value)| {
            let actual = FIELDS[field].1(tags);
            actual == value || self.allowed.contains(&(field, actual))
        })
    }

    /// Returns true if the filter passes everything.
    pub fn is_empty(&self) -> bool {
        self.allowed.is_empty()
    }

    /// Combines the conditions of this filter and of another one.
    pub fn and(mut self, other: &Filter) -> Filter {
        self.allowed.extend(&other.allowed);
        self
    }
}

impl Filter {
    /// Parses a list of status values: `1,5` is `status=1,status=5`.
    ///
    /// # Errors
    /// Returns an error if a value is not an integer. The span is in bytes of `text`.
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

impl FromStr for Filter {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Filter, BadName> {
        let mut filter = Filter::default();
        let mut at = 0;
        for part in text.split(',') {
            let start = at;
            at += part.len() + 1;
            let Some((key, value)) = part.split_once('=') else {
                let reason = format!("`{part}` is no condition: write partition=2,queue=1");
                return Err(BadName { reason, span: start..start + part.len() });
            };
            let Some(field) = FIELDS.iter().position(|(name, _)| *name == key) else {
                let known = FIELDS.map(|(name, _)| name);
                let error = unknown_name("field", key, &known);
                return Err(BadName { span: start..start + key.len(), ..error });
            };
            let Ok(value) = value.parse() else {
                let reason = format!("`{value}` is no value of `{key}`: a whole number");
                let span = start + key.len() + 1..start + part.len();
                return Err(BadName { reason, span });
            };
            filter.allowed.push((field, value));
        }
        Ok(filter)
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |&(field, value): &(usize, i64)| format!("{}={value}", FIELDS[field].0);
        f.write_str(&self.allowed.iter().map(one).collect::<Vec<_>>().join(","))
    }
}
