//! Sides that are more often small than large, as in the GABL and NAS papers.
//!
//! L is the axis length. A side is in [1, L/8] with probability 0.4, and in [L/8+1, L/4], [L/4+1,
//! L/2] or [L/2+1, L] with probability 0.2 each. Within each interval, the side is uniform.
//! Breakpoints are rounded down. A machine that has an axis shorter than 8 is rejected, because the
//! first interval would be empty. Each side uses two draws: one for the interval and one for the
//! side.
//!
//! ```text
//!   L = 16:  1 2 | 3 4 | 5 .. 8 | 9 .. 16
//!            0.4   0.2    0.2       0.2
//! ```

use pavior_kernel::{Entry, Options, Stream};
use pavior_mesh::Grid;

use super::{SideDistribution, per_axis};

pub(super) const ENTRY: Entry<SideDistribution> = Entry {
    name: "uniform-decreasing",
    title: "[1,L/8] 0.4, (L/8,L/4] 0.2, (L/4,L/2] 0.2, (L/2,L] 0.2",
    source: "",
    options: &[],
    variants: &[""],
    does: SideDistribution { supports, build: |_, grid| per_axis(grid, side) },
};

fn supports(_: &Options, grid: &Grid) -> Result<(), String> {
    match (0..grid.axes()).find(|&axis| grid.side(axis) < 8) {
        Some(axis) => Err(format!(
            "every axis must have at least 8 nodes, but the {} axis has {}",
            ["x", "y", "z"][axis],
            grid.side(axis)
        )),
        None => Ok(()),
    }
}

fn side(length: u16, draw: &mut Stream) -> u16 {
    let length = u64::from(length);
    let (low, high) = match draw.below(5) {
        0 | 1 => (1, length / 8),
        2 => (length / 8 + 1, length / 4),
        3 => (length / 4 + 1, length / 2),
        _ => (length / 2 + 1, length),
    };
    draw.between(low, high) as u16
}
