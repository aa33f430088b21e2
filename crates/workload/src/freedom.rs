//! Which jobs are how free to be placed: by size, by a column of their log, by share, or all.

use std::fmt;
use std::str::FromStr;

use pavior_kernel::{BadName, Stream, unknown_name};
use pavior_mesh::Freedom;

use crate::traces::{Filter, Tags};

/// Clauses in order; the first that a job meets says how free it is, and a job that meets none is placed
/// as the strategy does by itself.
///
/// A clause is a level (`box`, `turned`, `any-box`, `connected`, `any`), or a level with a condition
/// behind a colon: `box:16` for jobs of at most 16 nodes, `box:queue=2` for those of a queue (or
/// `partition`, `status`, `user`, `group`, `app`) of the log, `any:25%` for a share of the jobs, drawn job
/// by job.
///
/// ```
/// use pavior_kernel::Stream;
/// use pavior_mesh::Freedom;
/// use pavior_workload::{FreedomRule, traces::Tags};
/// let rule: FreedomRule = "box:16,connected".parse()?;
/// let mut draw = Stream::new(1, 0, "freedom");
/// assert_eq!(rule.of(16, &Tags::UNKNOWN, &mut draw), Some(Freedom::Box));
/// assert_eq!(rule.of(17, &Tags::UNKNOWN, &mut draw), Some(Freedom::Connected));
/// assert_eq!("box:16,conected".parse::<FreedomRule>().unwrap_err().span, 7..15);
/// # Ok::<(), pavior_kernel::BadName>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FreedomRule {
    clauses: Vec<(Freedom, Condition)>,
}

/// Which jobs a clause is about.
#[derive(Clone, Debug, PartialEq)]
enum Condition {
    All,
    /// At most so many nodes.
    Nodes(u32),
    /// A value of a column.
    Column(Filter),
    /// So many of a hundred.
    Share(f64),
}

impl FreedomRule {
    /// How free a job of so many nodes is. Every share that is met draws once.
    pub fn of(&self, nodes: u32, tags: &Tags, draw: &mut Stream) -> Option<Freedom> {
        let meets = |condition: &Condition, draw: &mut Stream| match condition {
            Condition::All => true,
            Condition::Nodes(most) => nodes <= *most,
            Condition::Column(filter) => filter.passes(tags),
            Condition::Share(percent) => draw.unit() * 100.0 < *percent,
        };
        self.clauses.iter().find(|(_, condition)| meets(condition, draw)).map(|(level, _)| *level)
    }
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
            let level = word.parse().map_err(|_| {
                let known = Freedom::ALL.map(Freedom::word);
                BadName { span: at..at + word.len(), ..unknown_name("freedom", word, &known) }
            })?;
            let condition = condition.map_or(Ok(Condition::All), |condition| {
                let start = at + word.len() + 1;
                condition_of(condition).map_err(|bad| BadName {
                    span: start + bad.span.start..start + bad.span.end,
                    ..bad
                })
            })?;
            clauses.push((level, condition));
            at += part.len() + 1;
        }
        Ok(FreedomRule { clauses })
    }
}

fn condition_of(text: &str) -> Result<Condition, BadName> {
    if text.contains('=') {
        return text.parse().map(Condition::Column);
    }
    let bad = || BadName {
        reason: format!(
            "`{text}` is no condition: a number of nodes, queue=1, or a share such as 25%"
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

impl fmt::Display for FreedomRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (level, condition)) in self.clauses.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match condition {
                Condition::All => write!(f, "{comma}{level}")?,
                Condition::Nodes(most) => write!(f, "{comma}{level}:{most}")?,
                Condition::Column(filter) => write!(f, "{comma}{level}:{filter}")?,
                Condition::Share(percent) => write!(f, "{comma}{level}:{percent}%")?,
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
