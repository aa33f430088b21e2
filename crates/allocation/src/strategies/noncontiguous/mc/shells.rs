//! The box around a centre, the shells of nodes around that box, and the nodes that a centre takes
//! from them. For all of MC's searches.
//!
//! Cost: O(1) for a shell; O(rows of the last box) for the nodes that are taken.

use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy, Sides};

use crate::Placement;

/// What a centre offers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// The sum of the numbers of the shells in which its nodes lie.
    pub(super) cost: u64,
    /// The number of the last shell from which it takes nodes.
    pub(super) last: u32,
    /// How many nodes are free within that shell.
    pub(super) inner: u32,
}

/// The cost of nodes where all nodes around the box are free: no centre is cheaper.
pub(super) fn least_cost(grid: &Grid, shape: Sides, nodes: u32) -> u64 {
    let within = |shells: u64| -> u64 {
        let side = |axis: usize| {
            let n = u64::from(grid.side(axis));
            (u64::from(shape[axis]).min(n) + 2 * shells).min(n)
        };
        (0..3).map(side).product()
    };
    let short = |shells| u64::from(nodes).saturating_sub(within(shells));
    (0..=u64::from(u16::MAX)).map(short).take_while(|&short| short > 0).sum()
}

/// The box around a centre.
#[derive(Clone, Copy, Debug)]
pub(super) struct Core {
    grid: Grid,
    pub(super) centre: Coordinates,
    pub(super) sides: Sides,
}

impl Core {
    /// The box of a shape; a side longer than its axis counts as the axis.
    pub(super) fn new(grid: Grid, centre: Coordinates, shape: Sides) -> Core {
        let sides = std::array::from_fn(|axis| shape[axis].min(grid.side(axis)));
        Core { grid, centre, sides }
    }

    /// The lowest coordinate, which may lie off the grid.
    pub(super) fn low(&self, axis: usize) -> i32 {
        i32::from(self.centre[axis]) - i32::from((self.sides[axis] - 1) / 2)
    }

    /// The box grown by a number of shells, as far as it lies on the grid.
    pub(super) fn grown(&self, shells: u32) -> Cuboid {
        let mut cuboid = Cuboid::whole(&self.grid);
        for axis in 0..3 {
            let n = i32::from(self.grid.side(axis));
            let low = self.low(axis) - shells as i32;
            let end = self.low(axis) + i32::from(self.sides[axis]) + shells as i32;
            if !self.grid.wraps(axis) {
                cuboid.base[axis] = low.max(0) as u16;
                cuboid.sides[axis] = (end.min(n) - low.max(0)) as u16;
            } else if end - low < n {
                cuboid.base[axis] = low.rem_euclid(n) as u16;
                cuboid.sides[axis] = (end - low) as u16;
            }
        }
        cuboid
    }

    /// The shell in which a node lies; 0 is the box.
    pub(super) fn shell(&self, point: Coordinates) -> u32 {
        let distance = |axis: usize| {
            let (n, side) = (i32::from(self.grid.side(axis)), i32::from(self.sides[axis]));
            let offset = i32::from(point[axis]) - self.low(axis);
            if !self.grid.wraps(axis) {
                return (-offset).max(offset - side + 1).max(0);
            }
            let offset = offset.rem_euclid(n);
            if offset < side { 0 } else { (offset - side + 1).min(n - offset) }
        };
        (0..3).map(distance).max().expect("three axes") as u32
    }

    /// The nodes that it takes: all that are free within its last shell, and the first of that
    /// shell in row-major order. O(words of the rows of the last shell's box).
    pub(super) fn taken(&self, free: &Occupancy, offer: Offer, nodes: u32) -> Placement {
        let outer = self.grown(offer.last);
        let inner = offer.last.checked_sub(1).map(|shells| self.grown(shells));
        let holds = |around: &Cuboid, axis: usize, at: u16| {
            around.runs(&self.grid, axis).iter().any(|&(from, length)| {
                u32::from(from) <= u32::from(at)
                    && u32::from(at) < u32::from(from) + u32::from(length)
            })
        };
        let within = |axis| (0..self.grid.side(axis)).filter(move |&at| holds(&outer, axis, at));
        let [outer_x, inner_x] = [Some(outer), inner].map(|around| self.columns(around.as_ref()));
        let mut left = nodes - offer.inner;
        let mut parts: Vec<Cuboid> = Vec::new();
        for z in within(2) {
            for y in within(1) {
                let row_inside =
                    inner.as_ref().is_some_and(|inner| holds(inner, 1, y) && holds(inner, 2, z));
                for (index, &columns) in outer_x.iter().enumerate() {
                    let first = self.grid.id([64 * index as u16, y, z]);
                    let length = (self.grid.side(0) - 64 * index as u16).min(64);
                    let here = free.window(first, length) & columns;
                    let inside = if row_inside { here & inner_x[index] } else { 0 };
                    let shell = lowest(here & !inside, left);
                    left -= shell.count_ones();
                    push_runs(&mut parts, inside | shell, [64 * index as u16, y, z]);
                }
            }
        }
        Placement::Parts(parts)
    }

    /// The columns of a box: bit x % 64 of word x / 64.
    fn columns(&self, around: Option<&Cuboid>) -> Vec<u64> {
        let mut columns = vec![0; usize::from(self.grid.side(0)).div_ceil(64)];
        for (from, length) in around.iter().flat_map(|around| around.runs(&self.grid, 0)) {
            for x in from..from + length {
                columns[usize::from(x) / 64] |= 1 << (x % 64);
            }
        }
        columns
    }
}

/// The lowest ones of a word, so many of them at most.
fn lowest(word: u64, count: u32) -> u64 {
    let mut rest = word;
    if word.count_ones() <= count {
        return word;
    }
    (0..count).for_each(|_| rest &= rest - 1);
    word ^ rest
}

/// Adds the runs of ones of a word as boxes; a run that begins where the last box ends belongs to
/// it.
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
