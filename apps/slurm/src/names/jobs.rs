//! Job names and other identifiers in Slurm's output.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{InvalidName, number};

/// A job name, such as `7`, or `7_3` for an array task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct JobName {
    number: u32,
    task: Option<u32>,
}

impl JobName {
    /// Returns the array's job ID if the job is an array task.
    pub(crate) fn array(self) -> Option<u32> {
        self.task.map(|_| self.number)
    }
}

impl FromStr for JobName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<JobName, InvalidName> {
        let (job, task) = match text.split_once('_') {
            Some((job, task)) => (job, Some(number(task).ok_or(InvalidName)?)),
            None => (text, None),
        };
        let number = number(job).filter(|&number| number > 0).ok_or(InvalidName)?;
        Ok(JobName { number, task })
    }
}

impl Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task {
            Some(task) => write!(f, "{}_{task}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

/// Returns true if the text is a compound identifier, such as `7+1` for a component of a
/// heterogeneous job or `7_[1-5%2]` for several tasks in one record. `scontrol` cannot change a job
/// that is named by a compound identifier.
pub(crate) fn is_compound_identifier(text: &str) -> bool {
    let is_number = |text: &str| number::<u32>(text).is_some();
    let in_brackets = |text: &str| {
        let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        inside.is_some_and(|inside| {
            let plain = |byte: u8| byte.is_ascii_digit() || b"-,:%.x".contains(&byte);
            !inside.is_empty() && inside.bytes().all(plain)
        })
    };
    let component = text.split_once('+').is_some_and(|(job, at)| is_number(job) && is_number(at));
    component || text.split_once('_').is_some_and(|(job, at)| is_number(job) && in_brackets(at))
}

/// Returns an array's job ID if the text names the whole array, either as `7` or in the form that
/// `squeue` prints, such as `7_[3-10%2]`.
pub(crate) fn array_of(text: &str) -> Option<u32> {
    let whole = if is_compound_identifier(text) {
        text.split_once('_').map(|(array, _)| array)
    } else {
        None
    };
    number(whole.unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_names_are_numbers_with_optional_tasks() {
        for (text, shown) in
            [("7", "7"), ("7_0", "7_0"), ("007_03", "7_3"), ("4294967295", "4294967295")]
        {
            assert_eq!(text.parse::<JobName>().unwrap().to_string(), shown);
        }
        let words =
            "0 7_ _3 +7 -7 7_3_1 7.1 7_[1-5%2] 7+1 4294967296 \u{667} 7,8 ALL 7_*".split(' ');
        for text in words.chain(["", " 7", "7 ", "7\n", "7 StartTime=now"]) {
            assert_eq!(text.parse::<JobName>(), Err(InvalidName), "{text}");
        }
        for (text, several) in [
            ("7+1", true),
            ("7_[1-5%2]", true),
            ("7_[1,3,5-9:2]", true),
            ("7", false),
            ("7_3", false),
        ] {
            assert_eq!(is_compound_identifier(text), several, "{text}");
        }
        assert_eq!(["7", "7_[3-10%2]", "7_3", "7+1"].map(array_of), [Some(7), Some(7), None, None]);
        assert!(!["7_[1]\n", "7_[]", "7+1 8"].into_iter().any(is_compound_identifier));
    }
}
