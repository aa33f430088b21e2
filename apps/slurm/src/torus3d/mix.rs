//! The sizes and shapes that jobs ask for, with their weights.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::ops::Range;

use pavior_kernel::shown;
use pavior_workload::traces::Trace;

use super::{shape_text, volume};
use crate::names::number;

/// What a job asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// A number of nodes.
    Nodes(u32),
    /// A box, turned or not.
    Shape([u16; 3]),
}

impl Demand {
    /// Its number of nodes.
    pub fn nodes(self) -> u64 {
        match self {
            Demand::Nodes(nodes) => u64::from(nodes),
            Demand::Shape(sides) => volume(sides),
        }
    }
}

impl Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Demand::Nodes(nodes) => write!(f, "{nodes}"),
            Demand::Shape(sides) => f.write_str(&shape_text(*sides)),
        }
    }
}

/// What jobs ask for, each with the weight of those that do; weights are above 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mix(BTreeMap<Demand, f64>);

/// A part of a text that is no entry of a mix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadMix {
    /// Why. Harmless.
    pub reason: String,
    /// The bytes at fault.
    pub span: Range<usize>,
}

/// The most different entries of a mix.
const MOST: usize = 10_000;

impl Mix {
    /// Reads entries, with commas or white space between: a number of nodes or a box of two or
    /// three sides, each with a weight behind a colon if it is not 1. Equal entries add up. `#`
    /// begins a comment that ends with the line.
    ///
    /// ```
    /// use pavior_slurm::torus3d::{Demand, Mix};
    /// let mix = Mix::read("8, 4x4:2 # two thirds\n8:3").unwrap();
    /// let all: Vec<_> = mix.iter().collect();
    /// assert_eq!(all, [(Demand::Nodes(8), 4.0), (Demand::Shape([4, 4, 1]), 2.0)]);
    /// assert_eq!(Mix::read("8,4y4").unwrap_err().span, 2..5);
    /// ```
    ///
    /// # Errors
    /// At the first entry that is none, and if there is none at all.
    pub fn read(text: &str) -> Result<Mix, BadMix> {
        let mut mix = Mix::default();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let entries = line.split('#').next().unwrap_or_default();
            for entry in entries.split([',', ' ', '\t', '\r', '\n']).filter(|one| !one.is_empty()) {
                let at = start + (entry.as_ptr() as usize - line.as_ptr() as usize);
                let bad = |reason: String| BadMix { reason, span: at..at + entry.len() };
                let (demand, weight) = read_entry(entry).map_err(bad)?;
                mix.add(demand, weight).map_err(bad)?;
            }
            start += line.len();
        }
        if mix.0.is_empty() {
            let reason = "no sizes: numbers of nodes or boxes, such as 8,16:2,4x4x1".to_string();
            return Err(BadMix { reason, span: 0..text.len().min(1) });
        }
        Ok(mix)
    }

    /// The jobs of a log: their shapes where it has shapes, else their numbers of nodes.
    ///
    /// # Errors
    /// If it has no job.
    pub fn of_log(log: &Trace) -> Result<Mix, BadMix> {
        let mut mix = Mix::default();
        for job in &log.records {
            let demand = job.shape.map_or(Demand::Nodes(job.nodes), Demand::Shape);
            mix.add(demand, 1.0).map_err(|reason| BadMix { reason, span: 0..0 })?;
        }
        if mix.0.is_empty() {
            return Err(BadMix { reason: "the log has no job".to_string(), span: 0..0 });
        }
        Ok(mix)
    }

    fn add(&mut self, demand: Demand, weight: f64) -> Result<(), String> {
        *self.0.entry(demand).or_default() += weight;
        if self.0.len() <= MOST {
            return Ok(());
        }
        Err(format!("more than {MOST} different sizes"))
    }

    /// Each with its weight: numbers first, then boxes.
    pub fn iter(&self) -> impl Iterator<Item = (Demand, f64)> + '_ {
        self.0.iter().map(|(demand, weight)| (*demand, *weight))
    }

    /// The sum of all weights.
    pub fn weight(&self) -> f64 {
        self.0.values().sum()
    }
}

fn read_entry(entry: &str) -> Result<(Demand, f64), String> {
    let (size, weight) = entry.split_once(':').unwrap_or((entry, "1"));
    let plain = weight.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let weight = weight.parse().ok().filter(|weight| plain && (1e-9..=1e12).contains(weight));
    let weight = weight.ok_or_else(|| {
        format!("`{}`: the weight is a number from 0.000000001 to 1000000000000", shown(entry))
    })?;
    let no_size =
        || format!("`{}` is neither a number of nodes nor a box like 4x4x2", shown(entry));
    let demand = match size.split('x').collect::<Vec<_>>()[..] {
        [nodes] => number(nodes).filter(|&nodes| nodes > 0).map(Demand::Nodes),
        [a, b] => sides([a, b, "1"]),
        [a, b, c] => sides([a, b, c]),
        _ => None,
    };
    Ok((demand.ok_or_else(no_size)?, weight))
}

/// A box of sides from 1 on that has no more nodes than a number of 32 bits.
fn sides(typed: [&str; 3]) -> Option<Demand> {
    let mut sides = [0; 3];
    for (side, typed) in sides.iter_mut().zip(typed) {
        *side = number(typed).filter(|&side: &u16| side > 0)?;
    }
    u32::try_from(volume(sides)).is_ok().then_some(Demand::Shape(sides))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_texts_are_refused_with_their_place() {
        for (text, span) in [
            ("", 0..0),
            ("# 8\n", 0..1),
            ("4,,8,0", 5..6),
            ("4 8:0", 2..5),
            ("4\n8 # no\n 4x", 10..12),
            ("4,1x2x3x4", 2..9),
            ("8:-1", 0..4),
            ("8:1e9", 0..5),
            ("8:nan", 0..5),
            ("+8", 0..2),
            ("65536x1", 0..7),
            ("65535x65535x65535", 0..17),
            ("4294967296", 0..10),
        ] {
            assert_eq!(Mix::read(text).unwrap_err().span, span, "{text}");
        }
        let many: Vec<String> = (1..=MOST + 1).map(|size| size.to_string()).collect();
        assert!(Mix::read(&many.join(",")).unwrap_err().reason.contains("more than"));
        assert!(!Mix::read("\u{1b}[31m").unwrap_err().reason.contains('\u{1b}'));
    }
}
