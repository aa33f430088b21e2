//! MFA's candidates and their scores.
//!
//! Invariant: candidates are visited one submesh after another, in grant order, and around each
//! submesh in the paper's order. No base is scored twice.
//!
//! Cost: O(covered nodes) to set the marks, and O(surface) for each candidate that is scored.

use std::ops::ControlFlow;

use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy, Sides};

use super::beside::{MfaSide, bases_beside, corner_bases};
use crate::Work;
use crate::strategies::shared::contact::{contact, most_contact};
use crate::strategies::shared::coverage::CoverageList;

/// A base that MFA considers: a row in the paper's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MfaCandidate {
    /// The busy submesh's index in the busy list and the adjacent side, or `None` if the base is at
    /// a corner of the machine.
    pub around: Option<(usize, MfaSide)>,
    /// The base.
    pub base: Coordinates,
    /// The score, or the reason why there is none.
    pub verdict: MfaVerdict,
}

/// The verdict on an MFA candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MfaVerdict {
    /// The optimality index, which is non-negative.
    Index(i64),
    /// The placement would overlap a busy node or leave the machine. The paper's tables show -1.
    Inadmissible,
    /// The base was scored earlier, around another side or submesh.
    ComputedEarlier,
}

/// Returns all MFA candidates for a task in the order in which the search visits them, ending with
/// <0,0> (or, if `all_corners` is true, with all corners of the machine). Unlike this function, the
/// search stops at the first perfect index.
///
/// `busy` is the busy list in grant order. It must contain exactly the nodes that are not free in
/// `free`. The result is empty if the task does not fit the empty machine unrotated.
///
/// ```
/// # mod pavior { pub use pavior_allocation as strategies;
/// #     pub use {pavior_allocation::*, pavior_mesh::*}; }
/// use pavior::strategies::{MfaVerdict, mfa_candidates};
/// use pavior::{Cuboid, Grid, Occupancy};
/// let mut free = Occupancy::all_free(Grid::mesh(&[6, 7])?);
/// let busy = Cuboid::node([1, 1, 0]);
/// free.take(&busy);
/// let rows = mfa_candidates(&free, &[busy], [4, 4, 1], false);
/// let best = rows.iter().filter_map(|row| match row.verdict {
///     MfaVerdict::Index(index) => Some((index, row.base)),
///     _ => None,
/// });
/// assert_eq!(best.max_by_key(|(index, _)| *index), Some((9, [2, 0, 0])));
/// # Ok::<(), pavior::GridError>(())
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

/// A walk over the candidates, including its scratch buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct CandidateWalk {
    coverages: CoverageList,
    /// For each node, twice the number of the last walk in which the node was covered, plus one if
    /// that walk scored it. With this numbering, the statuses need not be reset before each walk.
    status: Vec<u64>,
    walk: u64,
    work: Work,
}

/// A function that handles one candidate and decides whether to continue.
type See<'a> = &'a mut dyn FnMut(MfaCandidate) -> ControlFlow<()>;

impl CandidateWalk {
    /// Walks around each busy submesh: right, top, left, bottom. The task must fit on the grid.
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

    /// Visits <0,0> or every corner of the machine, in row-major order. Must be called after a walk
    /// around the submeshes.
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

    /// Returns the work done: the number of candidates and coverages visited, status cells filled,
    /// and nodes adjacent to scored candidates.
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
