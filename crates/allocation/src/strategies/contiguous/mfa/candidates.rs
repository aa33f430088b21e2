//! The candidates of MFA: the bases around each busy submesh, and what each is worth.
//!
//! Invariant: they come in the paper's order: submesh by submesh, up its right side, back along its
//! top, down its left side, along its bottom. No base is scored twice.
//!
//! Cost: O(nodes covered) for the marks, and O(surface) for each candidate that is scored.

use std::fmt;
use std::ops::ControlFlow;

use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy, Sides};

use crate::Work;
use crate::strategies::shared::contact::{contact, most_contact};
use crate::strategies::shared::coverage::CoverageList;

/// The side of a busy submesh on which a candidate of MFA lies.
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
    /// In the paper's order, with the third axis, which is the project's own, after each pair.
    const ALL: [MfaSide; 6] = [
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

    fn is_beyond(self) -> bool {
        matches!(self, MfaSide::Right | MfaSide::Top | MfaSide::Back)
    }

    /// The paper walks round the submesh: up its right side, back along its top, down its left.
    fn is_backward(self) -> bool {
        matches!(self, MfaSide::Top | MfaSide::Left)
    }
}

impl fmt::Display for MfaSide {
    /// The letter of the paper's tables.
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

/// A base that MFA looks at: a row of the paper's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MfaCandidate {
    /// The busy submesh, by its number in the busy list, and its side; `None` for a corner of the
    /// machine.
    pub around: Option<(usize, MfaSide)>,
    /// The base.
    pub base: Coordinates,
    /// What it is worth.
    pub verdict: MfaVerdict,
}

/// What a candidate of MFA is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MfaVerdict {
    /// Its optimality index, 0 or more.
    Index(i64),
    /// The placement would hit a busy node or leave the machine: the tables' -1.
    Inadmissible,
    /// It was scored before, around another side or submesh.
    ComputedEarlier,
}

/// Every candidate of MFA for a task, in the order in which they are looked at, and <0,0> after
/// them (with all other corners if `all_corners`). The search itself stops at the first perfect
/// index.
///
/// `busy` is the busy list in order of grant, and must hold exactly the nodes that are not `free`.
/// Nothing if the task does not fit the empty machine unturned.
///
/// ```
/// use pavior_allocation::{MfaVerdict, mfa_candidates};
/// use pavior_mesh::{Cuboid, Grid, Occupancy};
/// let mut free = Occupancy::all_free(Grid::mesh(&[6, 7])?);
/// let busy = Cuboid::node([1, 1, 0]);
/// free.take(&busy);
/// let rows = mfa_candidates(&free, &[busy], [4, 4, 1], false);
/// let best = rows.iter().filter_map(|row| match row.verdict {
///     MfaVerdict::Index(index) => Some((index, row.base)),
///     _ => None,
/// });
/// assert_eq!(best.max_by_key(|(index, _)| *index), Some((9, [2, 0, 0])));
/// # Ok::<(), pavior_mesh::GridError>(())
/// ```
pub fn mfa_candidates(
    free: &Occupancy,
    busy: &[Cuboid],
    task: Sides,
    all_corners: bool,
) -> Vec<MfaCandidate> {
    let mut rows = Vec::new();
    if free.grid().fits(task) {
        let mut candidates = CandidateWalk::default();
        let mut see = |candidate| {
            rows.push(candidate);
            ControlFlow::Continue(())
        };
        let _ = candidates.around(free, busy, task, &mut see);
        let _ = candidates.corners(free, task, all_corners, &mut see);
    }
    rows
}

/// A walk along the candidates, with its scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct CandidateWalk {
    coverages: CoverageList,
    /// By node: twice the number of the last walk that found it covered, or one more if the walk
    /// scored it. So no walk needs to reset the status of every node.
    status: Vec<u64>,
    walk: u64,
    work: Work,
}

/// Sees one candidate, and says whether to go on.
type See<'a> = &'a mut dyn FnMut(MfaCandidate) -> ControlFlow<()>;

impl CandidateWalk {
    /// Walks around each busy submesh: right, top, left, bottom. The task must fit the grid.
    pub(crate) fn around(
        &mut self,
        free: &Occupancy,
        busy: &[Cuboid],
        task: Sides,
        see: See<'_>,
    ) -> ControlFlow<()> {
        let grid = *free.grid();
        self.mark_covered(&grid, busy, task);
        for (index, held) in busy.iter().enumerate() {
            for side in MfaSide::ALL {
                for base in bases_beside(&grid, held, side, task) {
                    let verdict = self.judge(free, base, task);
                    see(MfaCandidate { around: Some((index, side)), base, verdict })?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// After a walk around: <0,0>, or every corner of the machine in row-major order.
    pub(crate) fn corners(
        &mut self,
        free: &Occupancy,
        task: Sides,
        all: bool,
        see: See<'_>,
    ) -> ControlFlow<()> {
        for base in corner_bases(free.grid(), task, all) {
            let verdict = self.judge(free, base, task);
            see(MfaCandidate { around: None, base, verdict })?;
        }
        ControlFlow::Continue(())
    }

    /// The candidates and coverages seen, the status cells filled, and the nodes beside the
    /// candidates that were scored.
    pub(crate) fn work(&self) -> Work {
        self.work + self.coverages.work()
    }

    fn mark_covered(&mut self, grid: &Grid, busy: &[Cuboid], task: Sides) {
        self.status.resize(grid.nodes() as usize, 0);
        self.walk += 1;
        self.coverages.load(grid, busy, task);
        for [x, y, z] in self.coverages.pieces() {
            for (y, z) in (z.low..=z.high).flat_map(|z| (y.low..=y.high).map(move |y| (y, z))) {
                let row = grid.id([0, y, z]).index();
                let bases = row + usize::from(x.low)..row + usize::from(x.high) + 1;
                self.work.words += bases.len() as u64;
                self.status[bases].fill(2 * self.walk);
            }
        }
    }

    fn judge(&mut self, free: &Occupancy, base: Coordinates, task: Sides) -> MfaVerdict {
        let grid = free.grid();
        self.work.boxes += 1;
        let rejected = (0..3).any(|axis| base[axis] >= grid.starts(axis, task[axis]));
        let status = &mut self.status[grid.id(base).index()];
        if rejected || *status == 2 * self.walk {
            MfaVerdict::Inadmissible
        } else if *status == 2 * self.walk + 1 {
            MfaVerdict::ComputedEarlier
        } else {
            *status = 2 * self.walk + 1;
            self.work.words += most_contact(grid, task) as u64;
            MfaVerdict::Index(contact(free, &Cuboid::new(base, task)))
        }
    }
}

/// The nodes at which a task's base touches one side of a busy submesh, clipped to the machine.
fn bases_beside(
    grid: &Grid,
    held: &Cuboid,
    side: MfaSide,
    task: Sides,
) -> impl Iterator<Item = Coordinates> + use<> {
    let axis = side.axis();
    let (fast, slow) = [(1, 2), (0, 2), (0, 1)][axis];
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

/// <0,0>, or every corner of the machine in row-major order.
pub(crate) fn corner_bases(
    grid: &Grid,
    task: Sides,
    all: bool,
) -> impl Iterator<Item = Coordinates> + use<> {
    let last: Coordinates = std::array::from_fn(|axis| {
        if grid.wraps(axis) || !all { 0 } else { grid.side(axis) - task[axis] }
    });
    (0..8usize).filter_map(move |code| {
        let beyond = |axis: usize| code >> axis & 1 == 1;
        let is_own = (0..3).all(|axis| !beyond(axis) || last[axis] > 0);
        is_own.then(|| std::array::from_fn(|axis| if beyond(axis) { last[axis] } else { 0 }))
    })
}

/// Where a base stands in the walk around a busy submesh: its side, and its place along it; none if
/// it is not beside it.
pub(crate) fn place_around(
    grid: &Grid,
    held: &Cuboid,
    task: Sides,
    base: Coordinates,
) -> Option<[u32; 3]> {
    (0u32..).zip(MfaSide::ALL).find_map(|(order, side)| {
        let axis = side.axis();
        let (fast, slow) = [(1, 2), (0, 2), (0, 1)][axis];
        if coordinate_beside(grid, held, side, task)? != base[axis] {
            return None;
        }
        let along = Along::of(grid, held, fast, task);
        let step = along.step(base[fast])?;
        let row = Along::of(grid, held, slow, task).step(base[slow])?;
        Some([order, row, if side.is_backward() { along.count - 1 - step } else { step }])
    })
}

/// The coordinate of a base beside a busy submesh on the side's own axis.
fn coordinate_beside(grid: &Grid, held: &Cuboid, side: MfaSide, task: Sides) -> Option<u16> {
    let axis = side.axis();
    let n = u32::from(grid.side(axis));
    let (start, length) = (u32::from(held.base[axis]), u32::from(held.sides[axis]));
    let task = u32::from(task[axis]);
    if !grid.wraps(axis) {
        let at = if side.is_beyond() { Some(start + length) } else { start.checked_sub(task) };
        return at.filter(|&at| at < n).map(|at| at as u16);
    }
    // A task that closes the ring lies beside nothing on it.
    let at = if side.is_beyond() { start + length } else { start + n - task };
    (task < n).then_some((at % n) as u16)
}

/// The coordinates at which the task's extent on an axis meets the submesh's.
#[derive(Clone, Copy)]
struct Along {
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

    /// The step at which a coordinate is met.
    fn step(self, coordinate: u16) -> Option<u32> {
        let step = (u32::from(coordinate) + self.n - self.first) % self.n;
        (step < self.count).then_some(step)
    }
}
