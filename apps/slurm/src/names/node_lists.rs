//! Lists of node names in Slurm's format, such as `n[00-03,07],m1`.

use crate::names::{NodeName, number};

/// Expands a list of names. Returns `None` if the list is malformed or implausibly long.
///
/// Multiple brackets expand to all combinations: `x[0-1]y[0-1]` contains four names.
pub(crate) fn expand(list: &str) -> Option<Vec<NodeName>> {
    pavior::workload::hosts::expand(list)?.iter().map(|name| name.parse().ok()).collect()
}

/// Converts names to Slurm's format, such as `n[00-03,07],m1`, without reordering them. Consecutive
/// numbers become ranges, and ranges with the same prefix share brackets.
pub(crate) fn compress(names: &[NodeName]) -> String {
    let mut parts = names.iter().map(|name| split_number(name.as_str())).peekable();
    let mut members = Vec::new();
    while let Some((head, first)) = parts.next() {
        let mut ranges = vec![(first, first)];
        while let Some((_, next)) =
            parts.next_if(|(other, next)| *other == head && !first.is_empty() && !next.is_empty())
        {
            match ranges.last_mut() {
                Some((first, last)) if follows(first, last, next) => *last = next,
                _ => ranges.push((next, next)),
            }
        }
        let range = |(first, last): &(&str, &str)| {
            if first == last { (*first).to_string() } else { format!("{first}-{last}") }
        };
        let inside: Vec<String> = ranges.iter().map(range).collect();
        members.push(match &ranges[..] {
            [(first, last)] if first == last => format!("{head}{first}"),
            _ => format!("{head}[{}]", inside.join(",")),
        });
    }
    members.join(",")
}

/// Splits a name into a prefix and a trailing number. The prefix is empty if the name consists only
/// of digits.
fn split_number(name: &str) -> (&str, &str) {
    let head = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    // The number is limited to nine digits so that it fits in a `u32`.
    let at = head.len().max(name.len().saturating_sub(9));
    if head.is_empty() { (name, "") } else { name.split_at(at) }
}

/// Returns true if `next` is `last` plus one, zero-padded to the width of `first`.
fn follows(first: &str, last: &str, next: &str) -> bool {
    let width = first.len();
    let after = number::<u32>(last).map(|last| format!("{:0width$}", last + 1));
    after.as_deref() == Some(next)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_are_compressed_in_order() {
        for (list, written) in [
            ("n00,n01,n08,n09", "n[00-01,08-09]"),
            ("n8,n9,n10,n11,n7,m1,m", "n[8-11,7],m1,m"),
            ("n099,n100,n0101", "n[099-100,0101]"),
            ("rack-1-07,rack-1-08,rack-2-09,12,13", "rack-1-[07-08],rack-2-09,12,13"),
            ("n1234567890123,n1234567890124", "n1234[567890123-567890124]"),
            ("", ""),
        ] {
            let names = expand(list).unwrap();
            assert_eq!(compress(&names), written);
            assert_eq!(expand(written).unwrap(), names, "{written}");
        }
        assert_eq!((expand("-n1"), expand("n[1")), (None, None));
    }

    proptest! {
        #[test]
        fn compressed_lists_expand_to_the_same_names(
            numbers in prop::collection::vec(("n|m0|x1y", 0u32..120, 0usize..4), 0..40)
        ) {
            let name = |(head, number, width): &(String, u32, usize)| {
                format!("{head}{number:0width$}").parse().unwrap()
            };
            let names: Vec<NodeName> = numbers.iter().map(name).collect();
            prop_assert_eq!(expand(&compress(&names)), Some(names));
        }
    }
}
