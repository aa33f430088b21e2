//! Rules that set the placement freedom of all jobs, or of jobs selected by size, by log column or
//! at random.

use std::fmt;
use std::str::FromStr;

use pavior_kernel::{BadName, Stream, unknown_name};
use pavior_mesh::Freedom;

use crate::Condition;
use crate::traces::{Names, Tags};

/// A list of clauses. The first clause that matches a job sets the job's freedom. If no clause
/// matches, the job keeps the freedom from its log or, failing that, gets the strategy's default.
///
/// A clause is a level (`box`, `turned`, `any-box`, `connected` or `any`), optionally followed by a
/// colon and a condition. `box:16` applies to jobs with at most 16 nodes, and `box:queue=2` to jobs
/// whose `queue` column in the log is 2. The columns `partition`, `status`, `user`, `group` and
/// `app` work the same way. `any:25%` applies to a random quarter of the jobs, drawn job by job.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload;
/// #     pub use {pavior_kernel::*, pavior_mesh::*}; }
/// use pavior::workload::FreedomRule;
/// use pavior::workload::traces::Tags;
/// use pavior::{Freedom, Stream};
/// let rule: FreedomRule = "box:16,connected".parse()?;
/// let mut draw = Stream::new(1, 0, "freedom");
/// assert_eq!(rule.of(16, &Tags::UNKNOWN, &mut draw), Some(Freedom::Box));
/// assert_eq!(rule.of(17, &Tags::UNKNOWN, &mut draw), Some(Freedom::Connected));
/// assert_eq!("box:16,conected".parse::<FreedomRule>().unwrap_err().span, 7..15);
/// # Ok::<(), pavior::BadName>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FreedomRule {
    /// Each clause's level and condition. The condition is `None` if the clause matches all jobs.
    clauses: Vec<(Freedom, Option<Condition>)>,
}

impl FreedomRule {
    /// Returns the freedom for a job with `nodes` nodes, or `None` if no clause matches. Each
    /// percentage that is evaluated consumes one draw.
    pub fn of(&self, nodes: u32, tags: &Tags, draw: &mut Stream) -> Option<Freedom> {
        let found = self.clauses.iter().find(|(_, condition)| {
            condition.as_ref().is_none_or(|condition| condition.is_met(nodes, tags, draw))
        });
        found.map(|(level, _)| *level)
    }

    /// Returns this rule with each name replaced by its number in the log.
    ///
    /// # Errors
    /// Returns an error message if a name does not occur in the log.
    pub fn resolve(&self, names: &Names) -> Result<FreedomRule, String> {
        let clause = |(level, condition): &(Freedom, Option<Condition>)| {
            let condition = condition.as_ref().map(|condition| condition.resolve(names));
            Ok((*level, condition.transpose()?))
        };
        Ok(FreedomRule { clauses: self.clauses.iter().map(clause).collect::<Result<_, String>>()? })
    }

    /// Returns the first condition that uses a log column, which generated jobs do not have.
    pub fn needs_log(&self) -> Option<&Condition> {
        let mut conditions = self.clauses.iter().filter_map(|(_, condition)| condition.as_ref());
        conditions.find(|condition| condition.needs_log())
    }
}

/// Parses the name of a freedom level.
///
/// # Errors
/// Returns an error if no level has this name. The error suggests a similar name if one exists.
pub fn freedom_named(word: &str) -> Result<Freedom, BadName> {
    word.parse().map_err(|_| unknown_name("freedom", word, &Freedom::ALL.map(Freedom::word)))
}

impl FromStr for FreedomRule {
    type Err = BadName;

    fn from_str(text: &str) -> Result<FreedomRule, BadName> {
        let mut clauses = Vec::new();
        let mut at = 0;
        for part in text.split(',') {
            let (word, condition) = match part.split_once(':') {
                Some((word, condition)) => (word, Some(condition)),
                None => (part, None),
            };
            let level =
                freedom_named(word).map_err(|bad| BadName { span: at..at + word.len(), ..bad })?;
            let condition = condition.map(|condition| {
                let start = at + word.len() + 1;
                condition.parse().map_err(|bad: BadName| BadName {
                    span: start + bad.span.start..start + bad.span.end,
                    ..bad
                })
            });
            let condition = condition.transpose()?;
            clauses.push((level, condition));
            at += part.len() + 1;
        }
        Ok(FreedomRule { clauses })
    }
}

impl fmt::Display for FreedomRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (level, condition)) in self.clauses.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match condition {
                None => write!(f, "{comma}{level}")?,
                Some(condition) => write!(f, "{comma}{level}:{condition}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_written() {
        for text in
            ["connected", "box:16,connected", "box:queue=2,any:25%", "turned:user=-1,any-box"]
        {
            let rule: FreedomRule = text.parse().unwrap();
            assert_eq!(rule.to_string(), text);
        }
        for (text, span) in [
            ("", 0..0),
            ("boxes", 0..5),
            ("box:0", 4..5),
            ("box:x", 4..5),
            ("any,box:101%", 8..12),
            ("any,box:quue=1", 8..12),
            ("any,box:nan%", 8..12),
        ] {
            assert_eq!(text.parse::<FreedomRule>().unwrap_err().span, span, "{text}");
        }
    }

    #[test]
    fn the_first_clause_that_a_job_meets_counts() {
        let rule: FreedomRule = "box:queue=2,turned:4,any:50%".parse().unwrap();
        let mut draw = Stream::new(1, 0, "freedom");
        let of_queue = |queue| Tags { queue, ..Tags::UNKNOWN };
        assert_eq!(rule.of(4, &of_queue(2), &mut draw), Some(Freedom::Box));
        assert_eq!(rule.of(4, &of_queue(1), &mut draw), Some(Freedom::Turned));
        let free = (0..1000).filter(|_| rule.of(5, &of_queue(1), &mut draw).is_some()).count();
        assert!((450..550).contains(&free), "{free}");
    }
}
