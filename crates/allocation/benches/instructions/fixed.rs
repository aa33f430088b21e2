//! Instruction counts for a fixed set of cases, which `check` compares with stored counts.

use pavior_allocation::Selection;
use pavior_mesh::Grid;
use pavior_trials::instructions::FixedSet;

use crate::churn::{Record, Sides};

pub(crate) const FIXED: FixedSet = FixedSet {
    what: "a question",
    file: concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions/counts.tsv"),
    counts,
};
const QUESTIONS: usize = 40;
/// The machines, each with the longest side of its jobs and the strategies to measure.
const SET: &[(&str, u16, &[&str])] = &[
    (
        "mesh:64x64",
        16,
        &[
            "ff",
            "bf",
            "wf",
            "gradient",
            "tbl",
            "adj",
            "mfa",
            "lssa",
            "gabl",
            "nas",
            "connected",
            "mc",
            "hilbert",
            "mbs",
        ],
    ),
    ("torus:8x8x8", 4, &["tff", "bf", "gradient", "tbl", "mfa", "gabl", "mc1x1"]),
];

/// Measures the instructions per question in this build, by machine and strategy.
fn counts() -> Vec<(String, f64)> {
    let mut counts = Vec::new();
    for &(machine, longest, strategies) in SET {
        let grid: Grid = machine.parse().expect("a valid name");
        for name in strategies {
            let selection: Selection = name.parse().expect("a valid name");
            let sides = Sides::Uniform(longest);
            let record = Record::new(&grid, &selection, sides, "instructions", QUESTIONS);
            let count = record.and_then(|record| record.instructions(&selection, usize::MAX));
            counts.push((format!("{machine}\t{name}"), count.unwrap_or(f64::NAN)));
        }
    }
    counts
}
