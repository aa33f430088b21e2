//! Detects runs that cannot finish because failures keep destroying jobs' work.
//!
//! Endless runs and slow runs differ only in their pace, so a run is ended only if two conditions
//! hold. First, interruptions that cost a job all its work must far outnumber completions. This
//! does not happen if jobs are shorter than the time between failures. Second, at the pace observed
//! since interruptions began to outnumber completions, the remaining completions would require too
//! much work. Work is counted, not timed.

use crate::Ending;

/// The number of interruptions considered normal for each completed or running job. An interruption
/// counts only if all work since the job's last start is lost.
pub const INTERRUPTIONS_A_JOB: u64 = 100;
/// The number of excess interruptions at which a run may be considered hopeless.
pub const INTERRUPTIONS_BEYOND: u64 = 10_000;
/// The amount of remaining work at which a run may be considered hopeless. Each instant counts as
/// [`WORK_OF_AN_INSTANT`], plus one for each waiting job, because a scheduler may examine all of
/// them.
pub const WORK_IN_VAIN: u64 = 1_000_000_000;
/// The work counted for a time step without waiting jobs (see [`WORK_IN_VAIN`]).
pub const WORK_OF_AN_INSTANT: u64 = 100;

/// Counters that start when interruptions begin to outnumber completions.
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

    pub(crate) fn interrupted(&mut self) {
        self.in_vain += 1;
    }

    /// Records the end of a time step, given the number of new completions, the total number of
    /// completions, and the numbers of running and waiting jobs. If the run is hopeless, returns
    /// the numbers of interruptions and completions.
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
        // Any of the running jobs could be about to complete.
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
