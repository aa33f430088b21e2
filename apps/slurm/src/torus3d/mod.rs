//! `topology/torus3d` of Slurm 26.05: what a topology.yaml says, and one made for a machine.
//!
//! - [`lint`] reads a topology.yaml as slurmctld does, and finds what slurmctld refuses, what it
//!   ignores without a word, and what can never be placed.
//! - [`generate`] writes one in which every size of a [`Mix`] can be placed.
//!
//! How Slurm reads was tried on 26.05.5, rule by rule; docs/slurm-torus3d.md has the table. Nothing
//! here opens files or asks a Slurm.

mod generate;
mod lint;
mod mix;
mod numbers;
mod reach;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod yaml;

pub use generate::{Anchors, Choice, Generated, generate};
pub use lint::{Fate, Report, Sizes, lint};
pub use mix::{BadMix, Demand, Mix};
pub use yaml::Place;

/// What becomes of something that a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// slurmctld does not start with it.
    Refused,
    /// slurmctld starts without a word, and does not do what stands there.
    Ignored,
    /// Nodes never hold a job, or jobs are never placed.
    Unplaced,
    /// It is no mistake, but not all would expect it.
    Note,
}

impl Effect {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Effect::Refused => "refused",
            Effect::Ignored => "ignored",
            Effect::Unplaced => "unplaced",
            Effect::Note => "note",
        }
    }
}

/// Something found in a topology.yaml.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Where it stands.
    pub place: Place,
    /// What becomes of it.
    pub effect: Effect,
    /// The name of the rule, such as `unknown-key`.
    pub rule: &'static str,
    /// A harmless sentence.
    pub message: String,
}

/// A text that is no topology.yaml at all: where, and why. The reason is harmless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Where reading ended.
    pub place: Place,
    /// Why.
    pub reason: String,
}

/// The axes, as Slurm names them.
const AXES: [&str; 3] = ["x", "y", "z"];

/// `4x4x2`.
fn shape_text(sides: [u16; 3]) -> String {
    sides.map(|side| side.to_string()).join("x")
}

fn volume(sides: [u16; 3]) -> u64 {
    sides.iter().map(|&side| u64::from(side)).product()
}

/// The same box, turned so that its longest side comes first.
fn turned(mut sides: [u16; 3]) -> [u16; 3] {
    sides.sort_unstable_by(|a, b| b.cmp(a));
    sides
}

/// The greatest common divisor; of 0 and `b`, it is `b`.
fn gcd(a: u16, b: u16) -> u16 {
    if a == 0 { b } else { gcd(b % a, a) }
}

/// `1 node`, `2 nodes`.
fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}
