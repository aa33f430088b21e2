//! Boxes of nodes, as JSON has them.

use pavior::{Cuboid, Grid};
use serde_json::{Value, json};

/// Boxes as lists of as many numbers as the machine has axes.
pub(crate) fn parts(grid: &Grid, parts: &[Cuboid]) -> Vec<Value> {
    let axes = grid.axes();
    let part = |part: &Cuboid| json!({ "base": &part.base[..axes], "sides": &part.sides[..axes] });
    parts.iter().map(part).collect()
}
