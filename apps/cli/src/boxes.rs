//! Boxes of nodes in JSON.

use pavior::{Cuboid, Grid};
use serde_json::{Value, json};

/// Returns boxes as lists with one number per axis of the machine.
pub(crate) fn parts(grid: &Grid, parts: &[Cuboid]) -> Vec<Value> {
    let axes = grid.axes();
    let part = |part: &Cuboid| json!({ "base": &part.base[..axes], "sides": &part.sides[..axes] });
    parts.iter().map(part).collect()
}
