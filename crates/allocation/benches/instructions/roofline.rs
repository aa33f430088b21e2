//! Compares the number of words that `ff` reads per answer with the minimum for an exact answer.
//!
//! If a search knows only the free nodes, which are stored 64 per word in row-major order, it must
//! read:
//!
//! - All words of the granted box, since all its nodes must be free.
//! - One word of each position that precedes the granted one in scan order, because each of these
//!   positions contains a node that is not free. If nothing is granted, this applies to every
//!   position.
//!
//! Positions that have no word in common need one word each. These positions are chosen greedily
//! in scan order.
//!
//! The sum is a lower bound on the number of words. The bound does not apply to an engine that
//! stores more than the free nodes between answers.

use pavior_allocation::Selection;
use pavior_mesh::{Coordinates, Cuboid, Grid, Scan, Sides};

use crate::churn::{Record, Sides as Drawn, Step};
use crate::nanoseconds;

/// A machine, the longest side of its jobs, and the number of questions.
const CASES: [(&str, u16, usize); 3] =
    [("mesh:8x8x8", 4, 400), ("mesh:16x16x16", 8, 200), ("mesh:64x64x64", 32, 60)];
const WORD: u32 = 64;

/// Prints one row per machine. All numbers are means per question.
pub(crate) fn table() {
    println!("| machine | words | granted % | fewest | reads | L1 misses | instructions | ns |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for (machine, longest, questions) in CASES {
        let grid: Grid = machine.parse().expect("a valid name");
        let selection: Selection = "ff".parse().expect("a valid name");
        let sides = Drawn::Uniform(longest);
        let record = Record::new(&grid, &selection, sides, "instructions", questions);
        let record = record.expect("it runs anywhere");
        let counts = record.with_memory(&selection).unwrap_or_default();
        let count = |name: &str| {
            let found = counts.iter().find(|(event, _)| event == name);
            found.map_or("not counted".to_string(), |(_, count)| format!("{count:.0}"))
        };
        let (fewest, granted) = fewest(&record);
        println!(
            "| `{machine}` | {} | {granted:.0} | {fewest:.0} | {} | {} | {} | {:.0} |",
            grid.nodes().div_ceil(WORD),
            count("Dr"),
            count("D1mr"),
            count("Ir"),
            nanoseconds(&record, &selection)
        );
    }
}

/// Returns the mean minimum number of words per question and the percentage of requests granted.
fn fewest(record: &Record) -> (f64, f64) {
    let (grid, mut words, mut granted) = (&record.grid, 0, 0);
    let mut asked = None;
    for step in &record.steps {
        match step {
            Step::Ask(request, false) => {
                words += least(grid, request.shape.unwrap_or([1; 3]), None);
            }
            // The granted nodes are in the next step.
            Step::Ask(request, true) => asked = request.shape,
            Step::Take(placement) => {
                if let Some(sides) = asked.take() {
                    words += least(grid, sides, Some(placement.parts()[0].base));
                    granted += 1;
                }
            }
            Step::Give(_) => {}
        }
    }
    let questions = record.questions as f64;
    (words as f64 / questions, 100.0 * f64::from(granted) / questions)
}

/// Returns a lower bound on the number of words that a search must read for one answer.
fn least(grid: &Grid, sides: Sides, granted: Option<Coordinates>) -> u64 {
    let mut read = vec![false; grid.nodes().div_ceil(WORD) as usize];
    let mut fewest = 0;
    if let Some(base) = granted {
        for word in words(grid, base, sides) {
            fewest += u64::from(!std::mem::replace(&mut read[word], true));
        }
    }
    for base in Scan::default().bases(*grid, sides) {
        if Some(base) == granted {
            break;
        }
        let place = words(grid, base, sides);
        if place.iter().all(|&word| !read[word]) {
            fewest += 1;
            for word in place {
                read[word] = true;
            }
        }
    }
    fewest
}

/// Returns the indexes of the words that contain a box's nodes, without duplicates.
fn words(grid: &Grid, base: Coordinates, sides: Sides) -> Vec<usize> {
    let nodes = Cuboid::new(base, sides).nodes(grid);
    let mut words: Vec<usize> = nodes.map(|node| (node.0 / WORD) as usize).collect();
    words.sort_unstable();
    words.dedup();
    words
}
