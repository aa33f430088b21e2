//! Jobs' demands on each of their nodes, and the resources that nodes offer. This module parses the
//! constraints and GRES that users write. A demand that it does not support is never ignored: the
//! job is not placed, and its user gets a note.

use std::collections::BTreeSet;

use crate::names::{NodeName, is_plain, number};

/// The maximum length of a constraint or GRES list, in bytes.
const MAX_TEXT: usize = 4096;
/// The maximum nesting depth of parentheses in a constraint.
const MAX_DEPTH: usize = 16;

/// A job's demands on each of its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Demands {
    pub(crate) features: Option<Features>,
    pub(crate) gres: Vec<Gres>,
    /// Memory in MiB.
    pub(crate) memory: u64,
    pub(crate) cpus: u64,
    /// Sockets, cores per socket and threads per core; 0 if unspecified.
    pub(crate) layout: [u32; 3],
    /// Temporary disk space in MiB.
    pub(crate) disk: u64,
    /// The excluded nodes, as a set because a user may exclude all nodes in many jobs.
    pub(crate) excluded: BTreeSet<NodeName>,
}

/// The resources of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Offer {
    pub(crate) features: Vec<String>,
    pub(crate) gres: Vec<Gres>,
    /// Memory in MiB.
    pub(crate) memory: u64,
    pub(crate) cpus: u64,
    /// Sockets, cores per socket and threads per core.
    pub(crate) layout: [u32; 3],
    /// Temporary disk space in MiB.
    pub(crate) disk: u64,
}

/// The `squeue` fields that contain a job's demands.
pub(crate) struct DemandFields<'a> {
    pub(crate) features: &'a str,
    pub(crate) gres: &'a str,
    pub(crate) memory: &'a str,
    /// The minimum number of processors per node.
    pub(crate) least_cpus: &'a str,
    /// The number of processors on all nodes together.
    pub(crate) cpus: &'a str,
    pub(crate) nodes: u32,
    pub(crate) layout: &'a str,
    pub(crate) disk: &'a str,
    pub(crate) excluded: Vec<NodeName>,
}

impl DemandFields<'_> {
    /// Parses the fields. An error names the invalid field, but never contains its text.
    pub(crate) fn read(self) -> Result<Demands, &'static str> {
        let features = match self.features {
            "(null)" | "" => None,
            text => Some(Features::read(text).ok_or("its constraint cannot be parsed")?),
        };
        let least =
            number::<u64>(self.least_cpus).ok_or("its number of processors cannot be parsed")?;
        let all = number::<u64>(self.cpus).ok_or("its number of processors cannot be parsed")?;
        let cpus = least.max(all.div_ceil(u64::from(self.nodes.max(1))));
        Ok(Demands {
            features,
            gres: gres(self.gres).ok_or("its GRES cannot be parsed")?,
            memory: mebibytes(self.memory).ok_or("its memory cannot be parsed")?,
            cpus,
            layout: layout(self.layout).ok_or("its processor layout cannot be parsed")?,
            disk: mebibytes(self.disk).ok_or("its temporary disk cannot be parsed")?,
            excluded: self.excluded.into_iter().collect(),
        })
    }
}

impl Demands {
    /// Returns true if a node satisfies the demands.
    pub(crate) fn met_by(&self, name: &NodeName, offer: &Offer) -> bool {
        let [sockets, cores, threads] = offer.layout;
        let [wants_sockets, wants_cores, wants_threads] = self.layout;
        // If a job requests fewer threads per core, the other threads remain unused.
        let usable = match (wants_threads, threads) {
            (1.., 1..) if wants_threads < threads => {
                offer.cpus * u64::from(wants_threads) / u64::from(threads)
            }
            _ => offer.cpus,
        };
        self.features.as_ref().is_none_or(|features| features.met_by(&offer.features))
            && self.gres.iter().all(|wanted| wanted.met_by(&offer.gres))
            && self.memory <= offer.memory
            && self.cpus <= usable
            && wants_sockets <= sockets
            && wants_cores <= cores
            && wants_threads <= threads
            && self.disk <= offer.disk
            && !self.excluded.contains(name)
    }
}

/// A constraint made of features, `&`, `|` and parentheses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Features {
    One(String),
    /// The first operand, and the others with the operators before them.
    Joined(Box<Features>, Vec<(Connective, Features)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Connective {
    And,
    Or,
}

impl Features {
    /// Parses a constraint. Returns `None` for other syntax that Slurm accepts: counts, brackets,
    /// braces, `!`.
    pub(crate) fn read(text: &str) -> Option<Features> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let (features, rest) = Features::joined(text, 0)?;
        rest.is_empty().then_some(features)
    }

    fn joined(text: &str, depth: usize) -> Option<(Features, &str)> {
        let (first, mut rest) = Features::member(text, depth)?;
        let mut others = Vec::new();
        loop {
            let operator = match rest.as_bytes().first() {
                Some(b'&') => Connective::And,
                Some(b'|') => Connective::Or,
                _ => break,
            };
            let (next, behind) = Features::member(&rest[1..], depth)?;
            others.push((operator, next));
            rest = behind;
        }
        let whole =
            if others.is_empty() { first } else { Features::Joined(Box::new(first), others) };
        Some((whole, rest))
    }

    fn member(text: &str, depth: usize) -> Option<(Features, &str)> {
        if let Some(inside) = text.strip_prefix('(') {
            let (features, rest) =
                if depth < MAX_DEPTH { Features::joined(inside, depth + 1)? } else { return None };
            return Some((features, rest.strip_prefix(')')?));
        }
        let end = text.find(|c: char| !is_of_a_feature(c)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        (!name.is_empty()).then(|| (Features::One(name.to_string()), rest))
    }

    /// Returns true if a node with these features satisfies the constraint whichever of `&` and `|`
    /// binds more tightly, because this differs between Slurm releases.
    fn met_by(&self, had: &[String]) -> bool {
        match self {
            Features::One(name) => had.iter().any(|feature| feature == name),
            Features::Joined(first, others) => {
                let first = first.met_by(had);
                let others: Vec<(Connective, bool)> =
                    others.iter().map(|(operator, next)| (*operator, next.met_by(had))).collect();
                let in_order = others.iter().fold(first, |so_far, &(operator, next)| {
                    if operator == Connective::And { so_far && next } else { so_far || next }
                });
                let mut alternatives = vec![first];
                for &(operator, next) in &others {
                    match alternatives.last_mut() {
                        Some(last) if operator == Connective::And => *last &= next,
                        _ => alternatives.push(next),
                    }
                }
                in_order && alternatives.contains(&true)
            }
        }
    }
}

fn is_of_a_feature(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.=:+%@/".contains(c)
}

/// Parses a node's features, as printed by `sinfo`.
pub(crate) fn features(text: &str) -> Option<Vec<String>> {
    if text == "(null)" || text.is_empty() {
        return Some(Vec::new());
    }
    let named = |name: &str| !name.is_empty() && name.chars().all(is_of_a_feature);
    let names = text.split(',').map(|name| named(name).then(|| name.to_string()));
    names.collect()
}

/// An amount of a generic resource (GRES), of one type or of any type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Gres {
    name: String,
    kind: Option<String>,
    count: u64,
}

impl Gres {
    fn met_by(&self, had: &[Gres]) -> bool {
        let counts = had.iter().filter(|gres| {
            gres.name == self.name && (self.kind.is_none() || gres.kind == self.kind)
        });
        counts.map(|gres| gres.count).fold(0, u64::saturating_add) >= self.count
    }
}

/// Parses GRES, as printed by `squeue` for jobs (`gres:gpu:a100:2`) or by `sinfo` for nodes
/// (`gpu:a100:4(S:0-1)`).
pub(crate) fn gres(text: &str) -> Option<Vec<Gres>> {
    if text.len() > MAX_TEXT {
        return None;
    }
    if matches!(text, "(null)" | "N/A" | "") {
        return Some(Vec::new());
    }
    members(text).into_iter().map(one_gres).collect()
}

/// Splits a list at commas outside parentheses.
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

fn one_gres(text: &str) -> Option<Gres> {
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
    let plain = is_plain(name) && kind.is_none_or(is_plain);
    plain.then(|| Gres { name: name.into(), kind: kind.map(Into::into), count })
}

/// Returns true if the text consists of digits, optionally followed by a unit.
fn is_count(text: &str) -> bool {
    let digits = text.strip_suffix(|c: char| "KMGTPkmgtp".contains(c)).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses a count with an optional unit: `4`, `4K`, `2G`.
fn count(text: &str) -> Option<u64> {
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

/// Parses `3000`, `3000M` or `2G` as MiB, and `0` or `N/A` as zero.
pub(crate) fn mebibytes(text: &str) -> Option<u64> {
    let last = text.chars().next_back()?;
    let (digits, factor, divisor) = match last.to_ascii_uppercase() {
        'K' => (&text[..text.len() - 1], 1, 1024),
        'M' => (&text[..text.len() - 1], 1, 1),
        'G' => (&text[..text.len() - 1], 1024, 1),
        'T' => (&text[..text.len() - 1], 1 << 20, 1),
        'P' => (&text[..text.len() - 1], 1 << 30, 1),
        _ if text == "N/A" => return Some(0),
        _ => (text, 1, 1),
    };
    Some(number::<u64>(digits)?.checked_mul(factor)?.div_ceil(divisor))
}

/// Parses sockets, cores and threads, such as `2:*:1` for a job or `2:8:2` for a node.
pub(crate) fn layout(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.split(':');
    let mut part = || match parts.next()? {
        "*" => Some(0),
        text => number(text),
    };
    let layout = [part()?, part()?, part()?];
    parts.next().is_none().then_some(layout)
}

#[cfg(test)]
mod tests;
