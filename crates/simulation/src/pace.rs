//! Whether the completions that are still to come are within reach, where failures take from jobs
//! what they have done.
//!
//! A run without end and a slow one differ in nothing but their pace, so that two counts must agree
//! before a run is ended. Jobs are interrupted in vain far more often than they complete, which no
//! run does whose jobs are shorter than the times between their failures. And at the pace since
//! that began, the completions still to come would take too much work. Work is counted, not timed.

use crate::Ending;

/// Interruptions in vain that are in keeping with one job that completes or runs. One that leaves
/// a job what it did up to a checkpoint is not in vain.
pub const INTERRUPTIONS_A_JOB: u64 = 100;
/// Interruptions in vain beyond those before a run may be hopeless.
pub const INTERRUPTIONS_BEYOND: u64 = 10_000;
/// Work that a hopeless run would still have to do, at least. An instant is the work of
/// [`WORK_OF_AN_INSTANT`], and of one more for each job that waits: a scheduler may look at all.
pub const WORK_IN_VAIN: u64 = 1_000_000_000;
/// See [`WORK_IN_VAIN`].
pub const WORK_OF_AN_INSTANT: u64 = 100;

/// What has happened since interruptions began to outnumber completions.
pub(crate) struct Pace {
    ending: Ending,
    in_vain: u64,
    completed: u64,
    work: u64,
}

impl Pace {
    pub(crate) fn new(ending: Ending) -> Pace {
        Pace { ending, in_vain: 0, completed: 0, work: 0 }
    }

    /// A job lost all that it had done.
    pub(crate) fn interrupted(&mut self) {
        self.in_vain += 1;
    }

    /// An instant is over: completions in it and in all, jobs that run and that wait. If the run is
    /// hopeless, the interruptions and the completions that say so.
    pub(crate) fn hopeless(
        &mut self,
        new: u64,
        all: u64,
        running: u64,
        waiting: u64,
    ) -> Option<(u64, u64)> {
        if self.in_vain == 0 {
            return None;
        }
        self.completed += new;
        self.work += WORK_OF_AN_INSTANT + waiting;
        if self.in_vain <= self.completed.saturating_mul(INTERRUPTIONS_A_JOB) {
            *self = Pace::new(self.ending);
            return None;
        }
        // A job that runs may be about to complete.
        let jobs = self.completed + running;
        let allowed = jobs.saturating_mul(INTERRUPTIONS_A_JOB).saturating_add(INTERRUPTIONS_BEYOND);
        if self.in_vain <= allowed {
            return None;
        }
        let left = match self.ending {
            Ending::Completions(wanted) => wanted.saturating_sub(all),
            Ending::Drained => running + waiting,
        };
        let work = u128::from(self.work) * u128::from(left);
        let most = u128::from(WORK_IN_VAIN) * u128::from(jobs + 1);
        (work > most).then_some((self.in_vain, self.completed))
    }
}
