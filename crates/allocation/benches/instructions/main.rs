//! Measures instructions and time per attempt for engines and plain searches that answer the same
//! questions in the same states.
//!
//! ```sh
//! cargo bench -p pavior-allocation --bench instructions                    # all
//! cargo bench -p pavior-allocation --bench instructions -- gabl mesh:64x64 # some
//! cargo bench -p pavior-allocation --bench instructions -- engines         # no plain searches
//! cargo bench -p pavior-allocation --bench instructions -- roofline        # words read
//! cargo bench -p pavior-allocation --bench instructions -- check           # the fixed set
//! cargo bench -p pavior-allocation --bench instructions -- write           # writes the fixed set
//! ```
//!
//! A churn (grants and releases near saturation) is recorded once with the engine. All requests
//! come from one random number stream. After a refusal, the oldest job departs, and the request is
//! retried. The record is then replayed on the plain search of the same strategy, an older
//! implementation that returns the same answers. Only `Strategy::find` is measured. Attempts that
//! fail because too few nodes are free never reach this method and are not counted.
//!
//! - Callgrind counts instructions in a separate process (`valgrind` must be installed). The counts
//!   depend on the compiler and on whether the processor has AVX2, but not on other programs.
//! - `ratio` is relative to the `ff` engine, measured on the `ff` churn on the same machine.
//! - `check` compares a small fixed set with `counts.tsv` in this directory, and fails if a count
//!   has grown by more than 5%. It is skipped with a note if counts cannot be compared: without
//!   valgrind, with another compiler or processor, or in an incremental build.

#[path = "../common/churn.rs"]
mod churn;
mod fixed;
mod roofline;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use pavior_allocation::{Registry, Selection, conformance};
use pavior_mesh::Grid;

use churn::{Record, Sides, Step, World};

/// A machine, the longest side of its jobs, and the number of questions.
struct Case {
    machine: &'static str,
    longest: u16,
    questions: usize,
}

const CASES: &[Case] = &[
    Case { machine: "mesh:16x16", longest: 16, questions: 400 },
    Case { machine: "mesh:64x64", longest: 16, questions: 200 },
    Case { machine: "torus:16x16x16", longest: 4, questions: 200 },
    Case { machine: "mesh:256x256", longest: 32, questions: 60 },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let wanted: Vec<String> = arguments.by_ref().collect();
    if let Some(code) = fixed::FIXED.done(wanted.first().map(String::as_str)) {
        return code;
    }
    match wanted.first().map(String::as_str) {
        Some(churn::CHILD) => churn::replay_from_input(&wanted[1]),
        Some("roofline") => roofline::table(),
        _ => table(&wanted),
    }
    ExitCode::SUCCESS
}

/// Prints the table for the given strategies and machines.
fn table(wanted: &[String]) {
    let counted = pavior_trials::instructions::can_count();
    println!("| machine | strategy | search | ns | ratio | instructions | ratio |");
    println!("|---|---|---|---:|---:|---:|---:|");
    for case in CASES {
        let grid: Grid = case.machine.parse().expect("a valid name");
        let machines = wanted.iter().any(|word| word.contains(':') && word.contains('x'));
        if machines && !wanted.iter().any(|word| word == case.machine) {
            continue;
        }
        let first: Selection = "ff".parse().expect("a valid name");
        let base = measured(case, &grid, &first, &first, counted).expect("it runs anywhere");
        for selection in Registry::new().entries().map(Selection::defaults) {
            let is_name = |word: &&String| !word.contains(':') && *word != "engines";
            let names: Vec<&String> = wanted.iter().filter(is_name).collect();
            let named = names.is_empty() || names.iter().any(|name| *name == selection.entry.name);
            if !named || selection.supports(&grid).is_err() || selection.entry.name == "gen-alg" {
                continue;
            }
            let plain = conformance::plain_of(&selection);
            let compared = plain.as_ref().filter(|_| !wanted.iter().any(|word| word == "engines"));
            let searches = [Some((&selection, "engine")), compared.map(|plain| (plain, "plain"))];
            for (search, word) in searches.into_iter().flatten() {
                let word = if plain.is_some() { word } else { "" };
                if let Some((ns, instructions)) = measured(case, &grid, &selection, search, counted)
                {
                    let share = |own: f64, first: f64| format!("{:.1}", own / first);
                    let name = &selection.entry.name;
                    println!(
                        "| {} | `{name}` | {word} | {ns:.0} | {} | {instructions:.0} | {} |",
                        case.machine,
                        share(ns, base.0),
                        share(instructions, base.1)
                    );
                }
            }
        }
    }
}

/// Returns the mean nanoseconds and instructions that `search` takes per question, for the
/// questions recorded with `recorder`.
fn measured(
    case: &Case,
    grid: &Grid,
    recorder: &Selection,
    search: &Selection,
    counted: bool,
) -> Option<(f64, f64)> {
    let sides = Sides::Uniform(case.longest);
    let record = Record::new(grid, recorder, sides, "instructions", case.questions)?;
    let instructions = counted.then(|| record.instructions(search, usize::MAX)).flatten();
    Some((nanoseconds(&record, search), instructions.unwrap_or(f64::NAN)))
}

/// Returns the mean time per question in the fastest of three replays.
fn nanoseconds(record: &Record, selection: &Selection) -> f64 {
    let replays = (0..3).map(|_| {
        let mut world = World::new(record.grid, selection);
        let mut spent = Duration::ZERO;
        for step in &record.steps {
            match step {
                Step::Ask(request, _) => {
                    let begin = Instant::now();
                    std::hint::black_box(world.counted_find(request));
                    spent += begin.elapsed();
                }
                Step::Take(placement) => world.take(placement),
                Step::Give(placement) => world.give(placement),
            }
        }
        spent.as_nanos() as f64
    });
    replays.fold(f64::INFINITY, f64::min) / record.questions as f64
}
