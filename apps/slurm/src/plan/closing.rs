//! Closes the gates of jobs that cannot start or have not started in time.

use std::collections::HashSet;

use crate::ledger::{Phase, SlurmJob};
use crate::names::Licenses;
use crate::plan::Cycle;
use crate::plan::change::{Change, Priority};
use crate::plan::limit_reasons::is_limit;
use crate::plan::machine::Role;
use crate::plan::memory::Eviction;
use crate::plan::world::World;

/// The maximum time that preempted jobs may take to end after their grace time, in seconds. This
/// includes Slurm's `KillWait` and an epilogue.
const ENDING_S: u64 = 120;
/// The delay, in seconds, before preemption is retried for a job for which Slurm has preempted no
/// other job.
const NO_EVICTION_S: u64 = 600;

impl Cycle<'_> {
    /// Closes the gates of jobs that cannot start, and adds missing gates.
    pub(super) fn close(&mut self) {
        for index in 0..self.world.ledger.jobs.len() {
            if let Some(wait_s) = self.closing(index) {
                self.close_gate(index, wait_s);
            }
        }
    }

    /// Decides whether a job's gate must close. If so, returns the delay before the job may start
    /// again, in seconds (0 for no delay).
    fn closing(&mut self, index: usize) -> Option<u64> {
        let World { config, ledger, now } = self.world;
        let job = &ledger.jobs[index];
        match self.state.roles[index] {
            Role::Opened | Role::Preempting if is_limit(&job.reason) => {
                self.memory.record_limit(ledger, job, now);
                Some(0)
            }
            Role::Opened => {
                let since = *self.memory.job(job).opened.get_or_insert(now);
                (since + self.patience(job) <= now).then_some(config.cooldown_s)
            }
            Role::Preempting => {
                if self.is_preempting(job) {
                    return None;
                }
                self.memory.job(job).no_eviction_until = now + NO_EVICTION_S;
                Some(config.cooldown_s)
            }
            Role::Ungated | Role::Held => Some(0),
            Role::Obstructed(_) => Some(1),
            Role::Requeued => Some(config.cooldown_s),
            Role::Holds | Role::Waits(_) | Role::Ineligible => None,
        }
    }

    fn close_gate(&mut self, index: usize, wait_s: u64) {
        let World { config, ledger, now } = self.world;
        let job = &ledger.jobs[index];
        let known = self.memory.job(job);
        let priority = match (&self.state.roles[index], known.priority) {
            (Role::Held, _) => Priority::Held,
            (Role::Ungated, _) => Priority::Fixed(job.priority),
            (_, Some(old)) if self.site.is_fifo => Priority::Fixed(old),
            _ => Priority::Computed,
        };
        let licenses = job.licenses.with_gate(&config.license);
        let wait = Some(wait_s).filter(|&wait_s| wait_s > 0);
        self.changes.push(Change::Close { job: job.name, licenses, wait_s: wait, priority });
        // The job keeps its nodes in this cycle; the next cycle checks whether Slurm has released
        // them. The update that closes the gate also overwrites the job's last note.
        (known.opened, known.note, known.eviction) = (None, None, None);
        known.closed_until = now + wait_s;
        self.state.roles[index] = Role::Ineligible;
    }

    /// Returns the time that a job may take to start after its gate opens, in seconds. This time is
    /// longer while the job's reason shows that Slurm has not examined the job since the gate
    /// opened. If there is a magnetic reservation, Slurm's main scheduler may try the job only in
    /// that reservation and report `ReqNodeNotAvail`, but the backfill scheduler can still start
    /// the job.
    fn patience(&self, job: &SlurmJob) -> u64 {
        let World { config, ledger, .. } = self.world;
        let is_magnetic = || ledger.reservations.iter().any(|one| one.is_magnetic);
        let is_unseen = match job.reason.as_str() {
            "None" | "Priority" => true,
            // A job that requests other licenses may actually be waiting for one of those.
            "Licenses" => job.licenses == Licenses::default(),
            reason => reason.starts_with("ReqNodeNotAvail") && is_magnetic(),
        };
        if is_unseen { config.patience_s.max(self.site.examination_s) } else { config.patience_s }
    }

    /// Returns true if Slurm is preempting jobs for this job or still has time to begin doing so.
    fn is_preempting(&mut self, job: &SlurmJob) -> bool {
        let World { ledger, now, .. } = self.world;
        let patience_s = self.patience(job);
        let unknown = || Eviction { since: now, grace_s: 0, victims: HashSet::new() };
        let eviction = self.memory.job(job).eviction.get_or_insert_with(unknown);
        let running = ledger.jobs.iter().filter(|job| job.phase == Phase::Running);
        let running: HashSet<_> = running.map(SlurmJob::key).collect();
        let has_begun = !eviction.victims.is_subset(&running);
        let patience_s = patience_s + if has_begun { ENDING_S } else { 0 };
        now < eviction.since + patience_s + eviction.grace_s
    }
}
