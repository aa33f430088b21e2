//! The nodes that a center takes: all free nodes in the shells before the last one, followed by the
//! first free nodes (in row-major order) in the last shell, up to the requested number.
//!
//! Invariant: exactly the requested number of nodes is taken. The plain search takes the same nodes
//! one by one.
//!
//! Cost: O(words in the rows of the last shell's box).

use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy};

use super::shells::{Core, Offer};
use crate::Placement;

/// Returns the nodes that a center takes, row by row.
pub(super) fn taken(core: &Core, free: &Occupancy, offer: Offer, nodes: u32) -> Placement {
    let grid = &core.grid;
    // The box of all shells, and the box of all but the last shell (`None` if shell 0 is the last).
    let outer = core.grown(offer.last);
    let inner = offer.last.checked_sub(1).map(|shells| core.grown(shells));
    let holds = |around: &Cuboid, axis: usize, at: u16| {
        around.runs(grid, axis).iter().any(|&(from, length)| {
            u32::from(from) <= u32::from(at) && u32::from(at) < u32::from(from) + u32::from(length)
        })
    };
    let in_outer = |axis| (0..grid.side(axis)).filter(move |&at| holds(&outer, axis, at));
    let [outer_x, inner_x] = [Some(outer), inner].map(|around| columns(grid, around.as_ref()));
    let mut left = nodes - offer.free_inside;
    let mut parts: Vec<Cuboid> = Vec::new();
    for z in in_outer(2) {
        for y in in_outer(1) {
            let row_inside =
                inner.as_ref().is_some_and(|inner| holds(inner, 1, y) && holds(inner, 2, z));
            for (index, &columns) in outer_x.iter().enumerate() {
                let first = grid.id([64 * index as u16, y, z]);
                let length = (grid.side(0) - 64 * index as u16).min(64);
                let here = free.window(first, length) & columns;
                let inside = if row_inside { here & inner_x[index] } else { 0 };
                let in_last = lowest(here & !inside, left);
                left -= in_last.count_ones();
                push_runs(&mut parts, inside | in_last, [64 * index as u16, y, z]);
            }
        }
    }
    Placement::Parts(parts)
}

/// Returns the columns that a box covers. Column x is bit x % 64 of word x / 64.
fn columns(grid: &Grid, around: Option<&Cuboid>) -> Vec<u64> {
    let mut columns = vec![0; usize::from(grid.side(0)).div_ceil(64)];
    for (from, length) in around.iter().flat_map(|around| around.runs(grid, 0)) {
        for x in from..from + length {
            columns[usize::from(x) / 64] |= 1 << (x % 64);
        }
    }
    columns
}

/// Returns the lowest `count` set bits of a word, or all of its set bits if there are fewer.
fn lowest(word: u64, count: u32) -> u64 {
    let mut rest = word;
    if word.count_ones() <= count {
        return word;
    }
    (0..count).for_each(|_| rest &= rest - 1);
    word ^ rest
}

/// Adds each run of set bits in a word as a box. A run that starts where the last box ends extends
/// that box instead.
fn push_runs(parts: &mut Vec<Cuboid>, mut word: u64, [first, y, z]: Coordinates) {
    while word != 0 {
        let gap = word.trailing_zeros();
        let length = (word >> gap).trailing_ones();
        let base = [first + gap as u16, y, z];
        match parts.last_mut() {
            Some(run)
                if base[0] > 0
                    && run.base[1..] == base[1..]
                    && run.base[0] + run.sides[0] == base[0] =>
            {
                run.sides[0] += length as u16;
            }
            _ => parts.push(Cuboid::new(base, [length as u16, 1, 1])),
        }
        word &= !((u64::MAX >> (64 - length)) << gap);
    }
}
