//! Every claim of the registry on every occupancy of all grids of up to 12 nodes: sides in ascending
//! order, every combination of wraps that matters. Prints a Markdown table; exits with 1 at the first
//! broken claim. Run by `cargo xtask exhaustive`; an argument sets another number of nodes.

use std::process::ExitCode;

use pavior_allocation::{Registry, SelectedStrategy, Selection, conformance};
use pavior_mesh::Grid;

/// All grids of up to `most` nodes with sides of at least 2 in ascending order, and single rows.
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
                    // On a ring of 2 a wrap makes no new boxes.
                    let matters = sides.iter().zip(&wraps).all(|(&side, &wrap)| side > 2 || !wrap);
                    grids.extend(matters.then(|| Grid::new(&sides, &wraps).expect("small")));
                }
            }
        }
    }
    grids
}

fn main() -> ExitCode {
    let most = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(12);
    let grids = grids(most);
    println!("| strategy | grids | answers judged |\n|---|---:|---:|");
    for selection in Registry::new().entries().flat_map(Selection::variants) {
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
