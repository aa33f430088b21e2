//! Tests whether a strategy grants every job a single box of the requested shape.

use pavior::boxes::orientations;
use pavior::strategies::Selection;
use pavior::strategies::claim::{Claim, Grants, Recognition};
use pavior::{Grid, Request, Sides};

/// The maximum side length of the shapes to test.
const MAX_SIDE: u16 = 5;

/// Returns true if a strategy grants every small shape as a single box of the requested size,
/// possibly rotated. Ranks can be mapped to nodes only in such a box.
pub fn grants_exact_boxes(strategy: &Selection, grid: &Grid) -> bool {
    let claim = Claim::of(strategy);
    let exact = strategy.entry.does.contiguous && matches!(claim.grants, Grants::Exact);
    // Strategies with their own recognition rules model partitioned hardware, which neither Slurm
    // nor Kubernetes can configure.
    if !exact || matches!(claim.recognition, Recognition::Own { .. }) {
        return false;
    }
    let [a, b, c] = grid.sides().map(|side| side.min(MAX_SIDE));
    let shapes = (1..=a).flat_map(|x| (1..=b).flat_map(move |y| (1..=c).map(move |z| [x, y, z])));
    let boxes = |shape: Sides| {
        let family = (claim.family)(&Request::shape(shape), grid, &strategy.options);
        let is_rotated = |sides: Sides| orientations(shape).any(|turned| turned == sides);
        !family.is_empty()
            && family.iter().all(|group| group.parts.len() == 1 && is_rotated(group.parts[0].sides))
    };
    shapes.into_iter().all(boxes)
}
