//! MFA's plain search, which walks around every busy submesh as in the paper.
//!
//! Invariant: the best candidate is the first one with the highest index above a threshold. A
//! perfect index ends the walk.
//!
//! Cost: see the [`mfa`](super) documentation.

use std::ops::ControlFlow;

use pavior_mesh::{Coordinates, Cuboid, Occupancy, Sides};

use super::candidates::CandidateWalk;
use crate::Work;
use crate::contiguous::{BoxRule, Scored, View};
use crate::strategies::contiguous::mfa::candidates::{MfaCandidate, MfaVerdict};
use crate::strategies::shared::contact::most_contact;

/// The walk around every busy submesh.
#[derive(Clone)]
pub(super) struct Walk {
    candidates: CandidateWalk,
    all_corners: bool,
}

/// The best candidate so far.
#[derive(Clone, Copy)]
pub(super) struct Best {
    pub(super) index: i64,
    pub(super) base: Option<Coordinates>,
}

impl Walk {
    pub(super) fn new(all_corners: bool) -> Walk {
        Walk { candidates: CandidateWalk::default(), all_corners }
    }

    /// Finds the best candidate in one orientation among those with an index above `threshold`. If
    /// `corners` is true, the machine's corners are also candidates.
    pub(super) fn best_above(
        &mut self,
        free: &Occupancy,
        busy: &[Cuboid],
        shape: Sides,
        threshold: i64,
        corners: bool,
    ) -> Best {
        let perfect = most_contact(free.grid(), shape);
        let mut best = Best { index: threshold, base: None };
        let mut see = |candidate: MfaCandidate| {
            if let MfaVerdict::Index(index) = candidate.verdict
                && index > best.index
            {
                best = Best { index, base: Some(candidate.base) };
            }
            if best.index == perfect { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let walked = self.candidates.around(free, busy, shape, &mut see);
        if walked.is_continue() && corners {
            let _ = self.candidates.corners(free, shape, self.all_corners, &mut see);
        }
        best
    }
}

impl BoxRule for Walk {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        let best = self.best_above(view.occupancy(), view.busy(), shape, -1, true);
        best.base.map(|base| Scored { score: best.index, at: Cuboid::new(base, shape) })
    }

    fn work(&self) -> Work {
        self.candidates.work()
    }
}
