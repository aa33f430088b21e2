//! Conditions that select jobs by size, by a column in their log, or at random.

use std::fmt;
use std::str::FromStr;

use pavior_kernel::{BadName, Stream};

use crate::traces::{Filter, Names, Tags};

/// A condition on a job. `16` selects jobs with at most 16 nodes. `queue=2` selects jobs whose
/// `queue` column in the log is 2. The columns `partition`, `status`, `user`, `group` and `app`
/// work the same way. `25%` selects a random quarter of all jobs.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The maximum number of nodes.
    Nodes(u32),
    /// A value in a log column.
    Column(Filter),
    /// The percentage of jobs to select at random.
    Share(f64),
}

impl Condition {
    /// Returns true if a job with `nodes` nodes meets the condition. Percentages use one draw.
    pub fn is_met(&self, nodes: u32, tags: &Tags, draw: &mut Stream) -> bool {
        match self {
            Condition::Nodes(most) => nodes <= *most,
            Condition::Column(filter) => filter.passes(tags),
            Condition::Share(percent) => draw.unit() * 100.0 < *percent,
        }
    }

    /// Returns this condition with each name replaced by its number in the log.
    ///
    /// # Errors
    /// Returns an error message if a name does not occur in the log.
    pub fn resolve(&self, names: &Names) -> Result<Condition, String> {
        match self {
            Condition::Column(filter) => filter.resolve_tags(names).map(Condition::Column),
            other => Ok(other.clone()),
        }
    }

    /// Returns true if the condition uses a log column, which generated jobs do not have.
    pub fn needs_log(&self) -> bool {
        matches!(self, Condition::Column(_))
    }
}

impl FromStr for Condition {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Condition, BadName> {
        if text.contains('=') {
            return text.parse().map(Condition::Column);
        }
        let bad = || BadName {
            reason: format!(
                "`{text}` is not a valid condition; use a node count, queue=1 or a share such as \
                 25%"
            ),
            span: 0..text.len(),
        };
        if let Some(number) = text.strip_suffix('%') {
            let percent: f64 = number.parse().map_err(|_| bad())?;
            return if (0.0..=100.0).contains(&percent) {
                Ok(Condition::Share(percent))
            } else {
                Err(bad())
            };
        }
        let nodes: u32 = text.parse().map_err(|_| bad())?;
        if nodes > 0 { Ok(Condition::Nodes(nodes)) } else { Err(bad()) }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Nodes(most) => write!(f, "{most}"),
            Condition::Column(filter) => write!(f, "{filter}"),
            Condition::Share(percent) => write!(f, "{percent}%"),
        }
    }
}

/// A comma-separated list of conditions. A job is selected if it meets at least one of them.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; pub use pavior_kernel::*; }
/// use pavior::workload::JobRule;
/// use pavior::workload::traces::Tags;
/// use pavior::Stream;
/// let rule: JobRule = "16,queue=2".parse()?;
/// let mut draw = Stream::new(1, 0, "jobs");
/// assert!(rule.holds(16, &Tags::UNKNOWN, &mut draw));
/// assert!(!rule.holds(17, &Tags::UNKNOWN, &mut draw));
/// assert!(rule.holds(17, &Tags { queue: 2, ..Tags::UNKNOWN }, &mut draw));
/// assert_eq!("16,que=2".parse::<JobRule>().unwrap_err().span, 3..6);
/// # Ok::<(), pavior::BadName>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JobRule {
    conditions: Vec<Condition>,
}

impl JobRule {
    /// Returns true if a job with `nodes` nodes meets any condition. Each percentage that is
    /// evaluated consumes one draw.
    pub fn holds(&self, nodes: u32, tags: &Tags, draw: &mut Stream) -> bool {
        self.conditions.iter().any(|condition| condition.is_met(nodes, tags, draw))
    }

    /// Returns this rule with each name replaced by its number in the log.
    ///
    /// # Errors
    /// Returns an error message if a name does not occur in the log.
    pub fn resolve(&self, names: &Names) -> Result<JobRule, String> {
        let conditions = self.conditions.iter().map(|condition| condition.resolve(names));
        Ok(JobRule { conditions: conditions.collect::<Result<_, _>>()? })
    }

    /// Returns the first condition that uses a log column, which generated jobs do not have.
    pub fn needs_log(&self) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.needs_log())
    }
}

impl FromStr for JobRule {
    type Err = BadName;

    fn from_str(text: &str) -> Result<JobRule, BadName> {
        let (mut conditions, mut at) = (Vec::new(), 0);
        for part in text.split(',') {
            let condition: Result<Condition, BadName> = part.parse();
            conditions.push(
                condition.map_err(|bad| BadName {
                    span: at + bad.span.start..at + bad.span.end,
                    ..bad
                })?,
            );
            at += part.len() + 1;
        }
        Ok(JobRule { conditions })
    }
}

impl fmt::Display for JobRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, condition) in self.conditions.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{condition}")?;
        }
        Ok(())
    }
}
