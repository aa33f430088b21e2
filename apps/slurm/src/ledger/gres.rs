//! Generic resources (GRES) that jobs request and nodes offer.

use crate::names::{is_safe_name, number};

/// The maximum length of a GRES list, in bytes.
const MAX_TEXT: usize = 4096;

/// An amount of a generic resource (GRES), either of one type or of any type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Gres {
    name: String,
    kind: Option<String>,
    count: u64,
}

impl Gres {
    pub(super) fn satisfied_by(&self, available: &[Gres]) -> bool {
        let counts = available.iter().filter(|gres| {
            gres.name == self.name && (self.kind.is_none() || gres.kind == self.kind)
        });
        counts.map(|gres| gres.count).fold(0, u64::saturating_add) >= self.count
    }
}

/// Parses GRES in the format of `squeue` for jobs (`gres:gpu:a100:2`) or of `sinfo` for nodes
/// (`gpu:a100:4(S:0-1)`).
pub(super) fn parse(text: &str) -> Option<Vec<Gres>> {
    if text.len() > MAX_TEXT {
        return None;
    }
    if matches!(text, "(null)" | "N/A" | "") {
        return Some(Vec::new());
    }
    members(text).into_iter().map(parse_member).collect()
}

/// Splits a list at the commas outside parentheses.
fn members(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    text.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

fn parse_member(text: &str) -> Option<Gres> {
    let text = ["gres:", "gres/"].iter().find_map(|head| text.strip_prefix(head)).unwrap_or(text);
    // Remove the sockets, such as `(S:0-1)`.
    let text = match text.split_once('(') {
        Some((head, tail)) if tail.ends_with(')') => head,
        Some(_) => return None,
        None => text,
    };
    let mut parts: Vec<&str> =
        text.split([':', '=']).filter(|part| *part != "no_consume").collect();
    let count = match parts.last() {
        Some(last) if is_count(last) => {
            let count = count(last)?;
            parts.pop();
            count
        }
        _ => 1,
    };
    let (name, kind) = match parts[..] {
        [name] => (name, None),
        [name, kind] => (name, Some(kind)),
        _ => return None,
    };
    let plain = is_safe_name(name) && kind.is_none_or(is_safe_name);
    plain.then(|| Gres { name: name.into(), kind: kind.map(Into::into), count })
}

/// Returns true if the text consists of digits, optionally followed by a unit.
fn is_count(text: &str) -> bool {
    let digits = text.strip_suffix(|c: char| "KMGTPkmgtp".contains(c)).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses a count with an optional unit, such as `4`, `4K` or `2G`.
pub(super) fn count(text: &str) -> Option<u64> {
    let powers = ['K', 'M', 'G', 'T', 'P'];
    let power = text
        .chars()
        .next_back()
        .and_then(|last| powers.iter().position(|power| power.eq_ignore_ascii_case(&last)));
    match power {
        Some(power) => number::<u64>(&text[..text.len() - 1])?.checked_mul(1 << (10 * (power + 1))),
        None => number(text),
    }
}
