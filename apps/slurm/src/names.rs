//! Values sent to Slurm, each with its own grammar. The input to `scontrol` consists only of these
//! values. Whatever its source, a value never contains a line break, a quotation mark, a space or
//! another `key=value`.

use std::fmt::{self, Display};
use std::str::FromStr;

mod jobs;
mod licenses;
pub(crate) mod node_lists;
mod note;
pub(crate) mod patterns;

pub(crate) use jobs::{JobName, array_of, is_compound_identifier};
pub(crate) use licenses::Licenses;
pub(crate) use note::Note;

/// The maximum length of a node name, which is twice Slurm's maximum.
const MAX_NAME: usize = 128;

/// The error returned for an invalid name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidName;

/// A node name. It consists of letters, digits, `-`, `_` and `.`, and begins with a letter or
/// digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeName(String);

impl NodeName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for NodeName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<NodeName, InvalidName> {
        if text.len() <= MAX_NAME && is_safe_name(text) {
            return Ok(NodeName(text.to_string()));
        }
        Err(InvalidName)
    }
}

impl Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Parses a number that consists only of digits. Unlike `parse`, it rejects a leading sign.
pub(crate) fn number<T: FromStr>(text: &str) -> Option<T> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Returns true if the text could be a node or partition name and cannot be mistaken for a
/// command-line option.
pub(crate) fn is_safe_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    text.bytes().all(plain)
        && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn node_names_are_neither_options_nor_lists() {
        for text in ["", "-n", "_n", ".n", "n 1", "n,m", "n[0-1]", "n\n", "n=1", &"n".repeat(200)] {
            assert_eq!(text.parse::<NodeName>(), Err(InvalidName), "{text}");
        }
        assert!("n-0_1.cluster".parse::<NodeName>().is_ok());
    }

    proptest! {
        /// Checks that every value written to `scontrol` is a single word.
        #[test]
        fn each_value_is_a_single_word(
            text in "\\PC{0,40}|[-\\n\\r\\t\"' =,:;0-9a-z_]{0,20}"
        ) {
            let word =
                |text: String| !text.contains(|c: char| c.is_control() || " \"'\\".contains(c));
            prop_assert!(text.parse().map_or(true, |job: JobName| word(job.to_string())));
            prop_assert!(text.parse().map_or(true, |node: NodeName| word(node.to_string())));
            prop_assert!(text.parse().map_or(true, |all: Licenses| word(all.to_string())));
            let note = Note::new(&text);
            prop_assert!(word(note.word()));
            let quoted = |c: char| c.is_control() || "\"'\\".contains(c);
            prop_assert!(!note.as_str().contains(quoted));
        }
    }
}
