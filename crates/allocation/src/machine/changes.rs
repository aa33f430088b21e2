//! A machine's most recent grants and releases, used to update plans.
//!
//! Invariant: applying the recorded changes to the state numbered `since` yields the machine's
//! current state. Each change increments the state number by one.
//!
//! Cost: O(boxes) per change once a plan has requested changes, and nothing before that. At most
//! [`BOXES`] boxes are recorded.

use std::collections::VecDeque;

use pavior_mesh::JobId;

use super::Machine;
use crate::Placement;

/// A grant or release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The job that holds or held the nodes.
    pub job: JobId,
    /// The nodes.
    pub placement: Placement,
    /// True if the nodes were granted; false if they were released.
    pub granted: bool,
}

/// The maximum number of boxes to record. Replaying more would take longer than a new fork.
const BOXES: usize = 1024;

/// The changes since the state numbered `since`.
pub(super) struct Changes {
    since: u64,
    boxes: usize,
    recent: VecDeque<Change>,
}

impl Changes {
    fn new(since: u64) -> Changes {
        Changes { since, boxes: 0, recent: VecDeque::new() }
    }

    /// Records a change, which increments the state number.
    pub(super) fn note(&mut self, change: Change) {
        self.boxes += change.placement.parts().len();
        self.recent.push_back(change);
        while self.boxes > BOXES
            && let Some(oldest) = self.recent.pop_front()
        {
            self.boxes -= oldest.placement.parts().len();
            self.since += 1;
        }
    }
}

impl Machine {
    /// Starts recording grants and releases for [`Machine::changes_since`].
    pub fn remember_changes(&mut self) {
        let state = self.state;
        self.changes.get_or_insert_with(|| Changes::new(state));
    }

    /// Returns, in order, the grants and releases since the machine was in a given state. Returns
    /// `None` if they were not recorded, or if nodes have failed or been repaired since then. A
    /// machine's clone has no recorded changes.
    ///
    /// ```
    /// # use pavior_allocation as pavior;
    /// use pavior::{JobId, Machine, Request};
    /// let mut machine = Machine::new("mesh:4x4".parse()?, "tff")?;
    /// machine.remember_changes();
    /// let state = machine.state();
    /// machine.allocate(JobId(1), &Request::shape([2, 2]))?;
    /// machine.release(JobId(1))?;
    /// let changes: Vec<bool> =
    ///     machine.changes_since(state).unwrap().map(|change| change.granted).collect();
    /// assert_eq!(changes, [true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn changes_since(&self, state: u64) -> Option<impl Iterator<Item = &Change>> {
        let changes = self.changes.as_ref()?;
        let known = usize::try_from(state.checked_sub(changes.since)?).ok()?;
        let is_whole = changes.since + changes.recent.len() as u64 == self.state;
        (is_whole && known <= changes.recent.len()).then(|| changes.recent.range(known..))
    }

    /// Records a change that has just incremented the state number. Discards all earlier changes if
    /// the change just before this one was not recorded.
    pub(super) fn note_change(&mut self, job: JobId, placement: &Placement, granted: bool) {
        if let Some(changes) = &mut self.changes {
            if changes.since + changes.recent.len() as u64 + 1 != self.state {
                *changes = Changes::new(self.state - 1);
            }
            changes.note(Change { job, placement: placement.clone(), granted });
        }
    }
}
