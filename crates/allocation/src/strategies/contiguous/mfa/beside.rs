//! MFA's candidates: the bases next to each busy submesh, in the order of a walk around it, and the
//! bases at the machine's corners.
//!
//! ```text
//!   task 2x2, busy S:    . 5 4 3 .     The walk goes up the right side, back along the top, down
//!                        6 . S S 2     the left side, and forward along the bottom (here off the
//!                        7 . . . 1     machine). Left and below, the task's side is the distance.
//! ```
//!
//! Invariant: every base next to a submesh appears once per side in the walk around that submesh.
//!
//! Cost: O(1) per base.

use std::fmt;

use pavior_mesh::{Coordinates, Cuboid, Grid, Sides};

/// The side of a busy submesh that an MFA candidate is adjacent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MfaSide {
    /// Beyond its highest x.
    Right,
    /// Beyond its highest y.
    Top,
    /// Beyond its highest z.
    Back,
    /// Before its lowest x.
    Left,
    /// Before its lowest y.
    Bottom,
    /// Before its lowest z.
    Front,
}

impl MfaSide {
    /// All sides, in the paper's order. The sides on the third axis are our addition.
    pub(super) const ALL: [MfaSide; 6] = [
        MfaSide::Right,
        MfaSide::Top,
        MfaSide::Back,
        MfaSide::Left,
        MfaSide::Bottom,
        MfaSide::Front,
    ];

    fn axis(self) -> usize {
        match self {
            MfaSide::Right | MfaSide::Left => 0,
            MfaSide::Top | MfaSide::Bottom => 1,
            MfaSide::Back | MfaSide::Front => 2,
        }
    }

    /// Returns the two axes that span the side, in the order in which the walk follows them.
    fn along(self) -> [usize; 2] {
        [[1, 2], [0, 2], [0, 1]][self.axis()]
    }

    /// Returns true if the side has higher coordinates than the submesh.
    fn is_beyond(self) -> bool {
        matches!(self, MfaSide::Right | MfaSide::Top | MfaSide::Back)
    }

    /// Returns true if the walk runs backward along this side. In the paper, the walk goes up the
    /// right side of the submesh, back along the top, and down the left side.
    fn is_backward(self) -> bool {
        matches!(self, MfaSide::Top | MfaSide::Left)
    }
}

impl fmt::Display for MfaSide {
    /// Writes the letter that the paper's tables use.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MfaSide::Right => "R",
            MfaSide::Top => "T",
            MfaSide::Back => "K",
            MfaSide::Left => "L",
            MfaSide::Bottom => "B",
            MfaSide::Front => "F",
        })
    }
}

/// Returns the bases on the machine that put a task against a side of a busy submesh.
pub(super) fn bases_beside(
    grid: &Grid,
    held: &Cuboid,
    side: MfaSide,
    task: Sides,
) -> impl Iterator<Item = Coordinates> + use<> {
    let axis = side.axis();
    let [fast, slow] = side.along();
    let (grid, held) = (*grid, *held);
    let at = coordinate_beside(&grid, &held, side, task);
    at.into_iter().flat_map(move |at| {
        let along = Along::of(&grid, &held, fast, task);
        let across = Along::of(&grid, &held, slow, task);
        (0..across.count).flat_map(move |row| {
            (0..along.count).map(move |step| {
                let step = if side.is_backward() { along.count - 1 - step } else { step };
                let mut base = [0; 3];
                (base[axis], base[fast], base[slow]) = (at, along.at(step), across.at(row));
                base
            })
        })
    })
}

/// Returns <0,0> or, if `all` is true, every corner of the machine in row-major order.
pub(super) fn corner_bases(
    grid: &Grid,
    task: Sides,
    all: bool,
) -> impl Iterator<Item = Coordinates> + use<> {
    let last: Coordinates = std::array::from_fn(|axis| {
        if grid.wraps(axis) || !all { 0 } else { grid.side(axis) - task[axis] }
    });
    (0..8usize).filter_map(move |code| {
        let beyond = |axis: usize| code >> axis & 1 == 1;
        // If the last base on an axis is 0, the two corners on that axis coincide.
        let is_new = (0..3).all(|axis| !beyond(axis) || last[axis] > 0);
        is_new.then(|| std::array::from_fn(|axis| if beyond(axis) { last[axis] } else { 0 }))
    })
}

/// Returns a base's position in the walk around a busy submesh, as a sort key: the index of the
/// side, the row on that side, and the step within the row. Returns `None` if the base is not
/// adjacent to the submesh.
pub(super) fn place_around(
    grid: &Grid,
    held: &Cuboid,
    task: Sides,
    base: Coordinates,
) -> Option<[u32; 3]> {
    (0u32..).zip(MfaSide::ALL).find_map(|(order, side)| {
        let axis = side.axis();
        let [fast, slow] = side.along();
        if coordinate_beside(grid, held, side, task)? != base[axis] {
            return None;
        }
        let along = Along::of(grid, held, fast, task);
        let step = along.step(base[fast])?;
        let row = Along::of(grid, held, slow, task).step(base[slow])?;
        Some([order, row, if side.is_backward() { along.count - 1 - step } else { step }])
    })
}

/// Returns the coordinate, on a side's axis, of the bases adjacent to that side of a busy submesh.
fn coordinate_beside(grid: &Grid, held: &Cuboid, side: MfaSide, task: Sides) -> Option<u16> {
    let axis = side.axis();
    let n = u32::from(grid.side(axis));
    let (start, length) = (u32::from(held.base[axis]), u32::from(held.sides[axis]));
    let task = u32::from(task[axis]);
    if !grid.wraps(axis) {
        let at = if side.is_beyond() { Some(start + length) } else { start.checked_sub(task) };
        return at.filter(|&at| at < n).map(|at| at as u16);
    }
    // A task that fills the ring is not adjacent to anything along this axis.
    let at = if side.is_beyond() { start + length } else { start + n - task };
    (task < n).then_some((at % n) as u16)
}

/// The base coordinates along a side at which the task's range overlaps the submesh's range.
#[derive(Clone, Copy)]
struct Along {
    /// The axis length.
    n: u32,
    first: u32,
    count: u32,
}

impl Along {
    fn of(grid: &Grid, held: &Cuboid, axis: usize, task: Sides) -> Along {
        let n = u32::from(grid.side(axis));
        let (start, length) = (u32::from(held.base[axis]), u32::from(held.sides[axis]));
        let task = u32::from(task[axis]);
        if !grid.wraps(axis) {
            let first = (start + 1).saturating_sub(task);
            Along { n, first, count: start + length - first }
        } else if task == n {
            Along { n, first: 0, count: 1 }
        } else {
            Along { n, first: (start + n + 1 - task) % n, count: n.min(length + task - 1) }
        }
    }

    fn at(self, step: u32) -> u16 {
        ((self.first + step) % self.n) as u16
    }

    /// Returns the step at which the walk reaches the given coordinate.
    fn step(self, coordinate: u16) -> Option<u32> {
        let step = (u32::from(coordinate) + self.n - self.first) % self.n;
        (step < self.count).then_some(step)
    }
}
