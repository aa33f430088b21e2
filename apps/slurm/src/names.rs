//! Values written to Slurm, each of which has its own grammar. The input of `scontrol` consists
//! only of these values. Whatever its source, no value contains a line break, a quotation mark, a
//! space or another `key=value`.

use std::fmt::{self, Display};
use std::str::FromStr;

pub(crate) mod hosts;
pub(crate) mod patterns;

/// A job name: `7`, or `7_3` for an array task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct JobName {
    number: u32,
    task: Option<u32>,
}

impl JobName {
    /// Returns the array's number if the job is an array task.
    pub(crate) fn array(self) -> Option<u32> {
        self.task.map(|_| self.number)
    }
}

/// The error for invalid names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoName;

impl FromStr for JobName {
    type Err = NoName;

    fn from_str(text: &str) -> Result<JobName, NoName> {
        let (number_text, task_text) = match text.split_once('_') {
            Some((number, task)) => (number, Some(task)),
            None => (text, None),
        };
        let number_read = number(number_text).filter(|&number| number > 0).ok_or(NoName)?;
        let task = task_text.map(|task| number(task).ok_or(NoName)).transpose()?;
        Ok(JobName { number: number_read, task })
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

/// Parses a number that consists only of digits; `parse` would also accept a sign.
pub(crate) fn number<T: FromStr>(text: &str) -> Option<T> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Returns true if the text is one of Slurm's other identifiers: `7+1`, a component of a
/// heterogeneous job, or `7_[1-5%2]`, several tasks in one record. `scontrol` cannot change jobs
/// by such identifiers.
pub(crate) fn is_several(text: &str) -> bool {
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

/// Returns an array's number if the text names the whole array: `7`, or `7_[3-10%2]` as printed by
/// `squeue`.
pub(crate) fn array_of(text: &str) -> Option<u32> {
    let whole = if is_several(text) { text.split_once('_').map(|(array, _)| array) } else { None };
    number(whole.unwrap_or(text))
}

/// The maximum length of a node name, twice Slurm's maximum.
const MAX_NAME: usize = 128;

/// A node name: letters, digits, `-`, `_` and `.`, not beginning with punctuation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeName(String);

impl NodeName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for NodeName {
    type Err = NoName;

    fn from_str(text: &str) -> Result<NodeName, NoName> {
        if text.len() <= MAX_NAME && is_plain(text) {
            return Ok(NodeName(text.to_string()));
        }
        Err(NoName)
    }
}

impl Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns true if the text is a plausible node or partition name that no command interprets as an
/// option.
pub(crate) fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    text.bytes().all(plain)
        && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
}

/// The licenses that a job requests, each in the form `NAME`, `NAME:COUNT` or `NAME@SERVER:COUNT`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Licences(Vec<String>);

impl FromStr for Licences {
    type Err = NoName;

    fn from_str(text: &str) -> Result<Licences, NoName> {
        if text == "(null)" {
            return Ok(Licences::default());
        }
        let all = text.split([',', ';']).filter(|one| !one.is_empty());
        let all = all.map(|one| if is_licence(one) { Ok(one.to_string()) } else { Err(NoName) });
        all.collect::<Result<_, _>>().map(Licences)
    }
}

/// Returns true if the text is a license name, optionally with a server and a count (`2`, `4k`).
fn is_licence(text: &str) -> bool {
    let (name, count) = match text.split_once([':', '=']) {
        Some((name, count)) => (name, Some(count)),
        None => (text, None),
    };
    let (name, server) = match name.split_once('@') {
        Some((name, server)) => (name, Some(server)),
        None => (name, None),
    };
    let word = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
        !text.is_empty() && text.bytes().all(plain)
    };
    let is_count = |count: &str| number::<u32>(count.trim_end_matches(['k', 'm', 'g'])).is_some();
    word(name) && server.is_none_or(word) && count.is_none_or(is_count)
}

impl Licences {
    /// Returns true if the licenses include the gate's license.
    pub(crate) fn gated(&self, gate: &str) -> bool {
        self.0.iter().any(|one| is_gate(one, gate))
    }

    /// Returns all licenses except the gate's.
    pub(crate) fn others(&self, gate: &str) -> Licences {
        Licences(self.0.iter().filter(|one| !is_gate(one, gate)).cloned().collect())
    }

    /// Adds the gate's license.
    pub(crate) fn with_gate(&self, gate: &str) -> Licences {
        let mut all = self.others(gate);
        all.0.push(format!("{gate}:1"));
        all
    }
}

fn is_gate(licence: &str, gate: &str) -> bool {
    licence.split([':', '=']).next() == Some(gate)
}

impl Display for Licences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

/// A note to a user, in printable ASCII without quotation marks or backslashes. Other characters
/// are replaced by question marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note(String);

impl Note {
    pub(crate) fn new(text: &str) -> Note {
        let harmless = |c: char| (c == ' ' || c.is_ascii_graphic()) && !"\"'`\\".contains(c);
        Note(text.chars().map(|c| if harmless(c) { c } else { '?' }).collect())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the note as one word, with underscores in place of spaces.
    pub(crate) fn word(&self) -> String {
        self.0.replace(' ', "_")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn jobs_are_numbers_and_tasks_of_numbers() {
        for (text, shown) in
            [("7", "7"), ("7_0", "7_0"), ("007_03", "7_3"), ("4294967295", "4294967295")]
        {
            assert_eq!(text.parse::<JobName>().unwrap().to_string(), shown);
        }
        for text in [
            "",
            "0",
            "7_",
            "_3",
            "+7",
            "-7",
            " 7",
            "7 ",
            "7\n",
            "7 StartTime=now",
            "7_3_1",
            "7.1",
            "7_[1-5%2]",
            "7+1",
            "4294967296",
            "٧",
            "7,8",
            "ALL",
            "7_*",
        ] {
            assert_eq!(text.parse::<JobName>(), Err(NoName), "{text}");
        }
        for (text, several) in [
            ("7+1", true),
            ("7_[1-5%2]", true),
            ("7_[1,3,5-9:2]", true),
            ("7", false),
            ("7_3", false),
        ] {
            assert_eq!(is_several(text), several, "{text}");
        }
        assert_eq!(["7", "7_[3-10%2]", "7_3", "7+1"].map(array_of), [Some(7), Some(7), None, None]);
        assert!(!is_several("7_[1]\n") && !is_several("7_[]") && !is_several("7+1 8"));
    }

    #[test]
    fn licences_are_read_and_written() {
        let licences: Licences = "matlab@server:2,k:4k,pavior:1,a/b".parse().unwrap();
        let others = licences.others("pavior");
        assert!(licences.gated("pavior") && !licences.gated("k2") && !others.gated("pavior"));
        assert_eq!(others.to_string(), "matlab@server:2,k:4k,a/b");
        let gated = others.with_gate("pavior").to_string();
        assert_eq!(gated, "matlab@server:2,k:4k,a/b,pavior:1");
        assert_eq!("(null)".parse::<Licences>().unwrap().with_gate("p").to_string(), "p:1");
        for text in ["a b", "a\nb", "a:1 Priority=9", "a|b", "a:-1", "a:", "\"a\"", "a:1:2", "a@:1"]
        {
            assert_eq!(text.parse::<Licences>(), Err(NoName), "{text}");
        }
    }

    #[test]
    fn names_of_nodes_are_no_options_and_no_lists() {
        for text in ["", "-n", "_n", ".n", "n 1", "n,m", "n[0-1]", "n\n", "n=1", &"n".repeat(200)] {
            assert_eq!(text.parse::<NodeName>(), Err(NoName), "{text}");
        }
        assert!("n-0_1.cluster".parse::<NodeName>().is_ok());
    }

    proptest! {
        /// Checks that every value written to `scontrol` is a single word.
        #[test]
        fn nothing_that_is_written_leaves_its_place(
            text in "\\PC{0,40}|[-\\n\\r\\t\"' =,:;0-9a-z_]{0,20}"
        ) {
            let word =
                |text: String| !text.contains(|c: char| c.is_control() || " \"'\\".contains(c));
            prop_assert!(text.parse().map_or(true, |job: JobName| word(job.to_string())));
            prop_assert!(text.parse().map_or(true, |node: NodeName| word(node.to_string())));
            prop_assert!(text.parse().map_or(true, |all: Licences| word(all.to_string())));
            let note = Note::new(&text);
            prop_assert!(word(note.word()));
            let quoted = |c: char| c.is_control() || "\"'\\".contains(c);
            prop_assert!(!note.as_str().contains(quoted));
        }
    }
}
