//! Concurrent replicas with lagging watches and different clocks. A killed replica loses its state
//! and its pending writes.

use super::draw::Draw;
use super::model::Model;
use super::view::{KINDS, View};
use crate::plan::{Action, Detail, Memory, plan};
use crate::world::Index;

/// The maximum age of pending changes, in rounds. Older changes are discarded and planned again.
const OLDEST: usize = 5;

#[derive(Default)]
pub(super) struct Replica {
    pub(super) view: View,
    memory: Memory,
    /// Actions that have not been written yet.
    pub(super) pending: Vec<Action>,
    age: usize,
    /// The number of rounds until updates of each kind arrive.
    behind: [usize; KINDS],
    /// True for each kind that has been listed since its watch began.
    listed: [bool; KINDS],
    /// True once every kind has been read.
    whole: bool,
    /// The replica's clock error in seconds.
    pub(super) clock_error: i64,
    /// The number of rounds until the replica runs again.
    away: usize,
}

impl Replica {
    /// Creates a replica that has read the cluster.
    pub(super) fn caught_up(model: &Model, clock_error: i64) -> Replica {
        let mut replica = Replica { clock_error, ..Replica::default() };
        replica.view.catch_up(model);
        replica
    }

    /// Receives updates, independently for each kind.
    fn look(&mut self, model: &Model, draw: &mut Draw) {
        for kind in 0..KINDS {
            if self.behind[kind] > 0 {
                self.behind[kind] -= 1;
                continue;
            }
            if self.listed[kind] {
                self.view.advance(model, kind, usize::MAX);
            } else {
                self.view.list(model, kind);
                self.listed[kind] = true;
            }
            self.behind[kind] = [0, 0, 0, 1, 1, 2, 3, 6][draw.below(8)];
        }
        self.whole |= self.listed.iter().all(|&listed| listed);
    }

    /// Ends all watches; each restarts after a while.
    fn lose_watches(&mut self, draw: &mut Draw) {
        self.listed = [false; KINDS];
        self.behind = [(); KINDS].map(|()| draw.below(6));
    }

    pub(super) fn plan(&mut self, now: i64) {
        let now = now + self.clock_error;
        let index = Index::of(&self.view.world);
        let plan = plan(&index, "m", &mut self.memory, now, Detail::DAEMON).unwrap();
        (self.pending, self.age) = (plan.actions, 0);
    }
}

pub(super) struct Replicas {
    all: Vec<Replica>,
    pub(super) plans: usize,
}

impl Replicas {
    /// Creates three replicas, two of them with wrong clocks.
    pub(super) fn three() -> Replicas {
        let all = [0, 90, -90].map(|clock_error| Replica { clock_error, ..Replica::default() });
        Replicas { all: all.into(), plans: 0 }
    }

    /// Delivers updates to the running replicas.
    pub(super) fn look(&mut self, model: &Model, draw: &mut Draw) {
        for replica in self.all.iter_mut().filter(|replica| replica.away == 0) {
            replica.look(model, draw);
        }
    }

    /// Runs a new plan on most replicas whose pending actions, if any, are all outdated.
    pub(super) fn plan(&mut self, now: i64, draw: &mut Draw) {
        for replica in &mut self.all {
            if replica.away > 0 {
                replica.away -= 1;
                continue;
            }
            replica.age += 1;
            let free = replica.pending.is_empty() || replica.age > OLDEST;
            if replica.whole && free && draw.below(3) > 0 {
                self.plans += 1;
                replica.plan(now);
            }
        }
    }

    /// Writes some of the pending actions in random order, and keeps the others for later.
    pub(super) fn write(&mut self, draw: &mut Draw) -> Vec<Action> {
        let (mut left, mut written) = (Vec::new(), Vec::new());
        for replica in &self.all {
            let all = replica.pending.len();
            left.push(if draw.below(4) == 0 { draw.below(all + 1) } else { all });
        }
        loop {
            let able: Vec<usize> = (0..left.len()).filter(|&at| left[at] > 0).collect();
            let Some(&at) = able.get(draw.below(able.len())) else { return written };
            left[at] -= 1;
            let pending = &mut self.all[at].pending;
            written.push(pending.swap_remove(draw.below(pending.len())));
        }
    }

    /// Kills one replica and starts another after a while.
    pub(super) fn kill(&mut self, draw: &mut Draw) {
        let at = draw.below(self.all.len());
        let (clock_error, away) = (self.all[at].clock_error, 1 + draw.below(8));
        self.all[at] = Replica { clock_error, away, ..Replica::default() };
        self.all[at].lose_watches(draw);
    }

    /// Restarts every watch, as after an outage of the API server.
    pub(super) fn lose_watches(&mut self, draw: &mut Draw) {
        self.all.iter_mut().for_each(|replica| replica.lose_watches(draw));
    }

    /// Returns the number of the latest change that all running replicas have read.
    pub(super) fn latest_read(&self) -> usize {
        let running = self.all.iter().filter(|replica| replica.away == 0);
        running.map(|replica| replica.view.latest_read()).min().unwrap_or(0)
    }
}
