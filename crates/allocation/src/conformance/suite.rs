//! All checks for one selection. The tests run these checks for every strategy in the registry.

use pavior_kernel::Options;
use pavior_mesh::Grid;

use super::{Flaw, every_occupancy, history, lock_step, random_boxes};
use crate::Selection;

const SMALL: &[&str] = &[
    "mesh:7",
    "mesh:2x2",
    "torus:7",
    "mesh:3x3",
    "torus:3x3",
    "mesh:2x4",
    "grid:2x4w",
    "grid:3wx3",
    "mesh:2x2x2",
    "torus:2x2x2",
    "grid:1x3wx3",
];
const LARGER: &[&str] = &[
    "mesh:8x8",
    "torus:6x5",
    "grid:7wx4",
    "mesh:4x4x4",
    "torus:5x4x3",
    "grid:4wx3x4w",
    "mesh:4x4",
];
const LONG: &[&str] =
    &["mesh:16x16", "torus:13x7", "grid:64x3w", "mesh:65x2", "mesh:5x4x6", "torus:8x8x8"];
/// The test machines, each with the longest side of a typical request.
const WALKS: &[(&str, u16)] = &[
    ("mesh:16x16", 5),
    ("mesh:16x16", 2),
    ("mesh:20x9", 9),
    ("torus:11x8", 4),
    ("grid:9wx10", 4),
    ("grid:9x10w", 3),
    ("mesh:67x5", 12),
    ("grid:130wx3", 30),
    ("mesh:7x6x5", 3),
    ("torus:6x5x6", 3),
    ("grid:4wx7x5w", 3),
    ("mesh:4x4x8", 2),
    ("torus:8x8x4", 2),
];

/// Returns the same selection with the plain search, provided that the selection uses an engine.
pub fn plain_of(selection: &Selection) -> Option<Selection> {
    let entry = &selection.entry;
    let has_engine = entry.options.iter().any(|option| option.key == "search");
    if !has_engine || selection.options.get("search") != "engine" {
        return None;
    }
    let text = format!("{selection}:search=plain");
    let options = Options::parse(entry.name, &text, entry.options).ok()?;
    Some(Selection { entry: entry.clone(), options })
}

/// Returns the machines on which a selection can be compared with another, each with the longest
/// side of a typical request.
pub fn walks(selection: &Selection) -> impl Iterator<Item = (Grid, u16)> + '_ {
    let of = |&(name, longest): &(&str, u16)| (grid(name), longest);
    WALKS.iter().map(of).filter(|(grid, _)| selection.supports(grid).is_ok())
}

fn grid(name: &str) -> Grid {
    name.parse().expect("a valid grid name")
}

/// Tests a selection's claim in every occupancy of small machines, with random boxes and in long
/// histories. If the selection uses an engine, also compares the engine with its plain search.
/// Returns the number of answers.
///
/// # Errors
/// Returns the first broken claim or difference, or any other failure.
pub fn suite(selection: &Selection) -> Result<u64, Flaw> {
    let mut answers = 0;
    let mut machines = 0;
    let supported = |names: &'static [&'static str]| {
        names.iter().map(|name| grid(name)).filter(|grid| selection.supports(grid).is_ok())
    };
    for grid in supported(SMALL) {
        answers += every_occupancy(selection, &grid)?;
        machines += 1;
    }
    for grid in supported(LARGER) {
        answers += random_boxes(selection, &grid, 1, 30)?;
        machines += 1;
    }
    for grid in supported(LONG) {
        answers += history(selection, &grid, 7, 400)?;
        machines += 1;
    }
    if let Some(plain) = plain_of(selection) {
        for (grid, longest) in walks(selection) {
            answers += lock_step([selection, &plain], &grid, longest, 3, 500)?;
        }
    }
    if machines == 0 {
        let words = format!("{selection} supports none of the test machines");
        return Err(words.into());
    }
    Ok(answers)
}
