//! Tests every claim in the registry on every occupancy of all grids with at most 12 nodes. Sides
//! are in ascending order, and every combination of wraparound axes that matters is tested. Prints
//! a Markdown table, and exits with status 1 at the first broken claim. `cargo xtask exhaustive
//! [NAME] [NODES]` runs this program for all variants of a strategy (`NAME`) or for a single
//! variant (`NAME:OPTION`). `NODES` replaces the limit of 12 nodes.

use std::process::ExitCode;

use pavior_allocation::{Selection, StrategyKind, conformance};
use pavior_kernel::Family;
use pavior_mesh::Grid;

/// Returns all single rows, and all grids whose sides are at least 2 and in ascending order. No
/// grid has more than `most` nodes.
fn grids(most: u32) -> Vec<Grid> {
    let mut grids = Vec::new();
    for a in 1..=most as u16 {
        for b in a..=most as u16 {
            for c in b..=most as u16 {
                if u32::from(a) * u32::from(b) * u32::from(c) > most {
                    break;
                }
                let sides: Vec<u16> = [a, b, c].into_iter().filter(|&side| side > 1).collect();
                if sides.is_empty() {
                    continue;
                }
                for code in 0..1 << sides.len() {
                    let wraps: Vec<bool> = (0..sides.len()).map(|i| code >> i & 1 == 1).collect();
                    // On a ring of two nodes, wrapping adds no new boxes.
                    let matters = sides.iter().zip(&wraps).all(|(&side, &wrap)| side > 2 || !wrap);
                    grids.extend(matters.then(|| Grid::new(&sides, &wraps).expect("small")));
                }
            }
        }
    }
    grids
}

/// Parses the selections and the maximum number of nodes from the command line.
fn arguments() -> Result<(Vec<Selection>, u32), String> {
    let (mut selections, mut most) = (Vec::new(), 12);
    for text in std::env::args().skip(1) {
        if let Ok(nodes) = text.parse() {
            most = nodes;
            continue;
        }
        let selection: Selection =
            text.parse().map_err(|bad| format!("strategy `{text}`: {bad}"))?;
        if text.contains(':') {
            selections.push(selection);
        } else {
            selections.extend(Selection::variants(&selection.entry));
        }
    }
    if selections.is_empty() {
        selections = StrategyKind::builtin().iter().flat_map(Selection::variants).collect();
    }
    Ok((selections, most))
}

fn main() -> ExitCode {
    let (selections, most) = match arguments() {
        Ok(arguments) => arguments,
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::from(2);
        }
    };
    let grids = grids(most);
    println!("| strategy | grids | answers checked |\n|---|---:|---:|");
    for selection in selections {
        let (mut count, mut answers) = (0, 0);
        for grid in grids.iter().filter(|grid| selection.supports(grid).is_ok()) {
            match conformance::every_occupancy(&selection, grid) {
                Ok(more) => (count, answers) = (count + 1, answers + more),
                Err(failure) => {
                    eprintln!("{failure}");
                    return ExitCode::FAILURE;
                }
            }
        }
        println!("| `{selection}` | {count} | {answers} |");
    }
    ExitCode::SUCCESS
}
