//! State kept between cycles. Losing it is harmless: timeouts restart, and notes are rewritten.

use std::collections::{HashMap, HashSet};

use crate::ledger::{JobKey, Ledger, Phase, SlurmJob};
use crate::names::Note;
use crate::plan::limit_reasons::LimitScope;

/// The time, in seconds, for which we assume that a reported limit applies if no job ends.
const LIMIT_DURATION_S: u64 = 60;

/// State that is kept between cycles.
#[derive(Default)]
pub(crate) struct Memory {
    jobs: HashMap<JobKey, JobMemory>,
    /// Limits that Slurm has reported.
    limits: Vec<ReachedLimit>,
}

/// The state that is kept for a job.
#[derive(Default)]
pub(super) struct JobMemory {
    /// The time at which the gate was first seen open.
    pub(super) opened: Option<u64>,
    /// The earliest time at which the gate may be opened again.
    pub(super) closed_until: u64,
    /// The job's priority before its gate was opened.
    pub(super) priority: Option<u64>,
    /// The time and text of the last note.
    pub(super) note: Option<(u64, Note)>,
    pub(super) is_requeued: bool,
    pub(super) eviction: Option<Eviction>,
    /// The time until which preemption for this job is suspended, because Slurm preempted no job.
    pub(super) no_eviction_until: u64,
}

/// A preemption in progress that makes room for a job with an open gate.
pub(super) struct Eviction {
    pub(super) since: u64,
    /// The longest grace time of the preempted jobs, in seconds.
    pub(super) grace_s: u64,
    pub(super) victims: HashSet<JobKey>,
}

/// A limit that prevented Slurm from starting a job with an open gate.
struct ReachedLimit {
    scope: LimitScope,
    job: JobKey,
    /// The job's QOS, account and partition. If an operator changes them, the job is retried.
    class: [String; 3],
    reason: String,
    /// The jobs that hold nodes and count toward the limit. If one of these jobs ends, the limit is
    /// dropped.
    holders: HashSet<JobKey>,
    until: u64,
}

impl Memory {
    /// Forgets jobs that no longer exist and limits that may have changed.
    pub(super) fn prune(&mut self, ledger: &Ledger, now: u64) {
        let keys: HashSet<JobKey> = ledger.jobs.iter().map(SlurmJob::key).collect();
        self.jobs.retain(|key, _| keys.contains(key));
        let holders = holders(ledger, |_| true);
        self.limits.retain(|limit| limit.until > now && limit.holders.is_subset(&holders));
    }

    pub(super) fn job(&mut self, job: &SlurmJob) -> &mut JobMemory {
        self.jobs.entry(job.key()).or_default()
    }

    pub(super) fn get(&self, job: &SlurmJob) -> Option<&JobMemory> {
        self.jobs.get(&job.key())
    }

    /// Returns the time of a job's last note.
    pub(super) fn noted_at(&self, job: &SlurmJob) -> Option<u64> {
        self.get(job)?.note.as_ref().map(|(at, _)| *at)
    }

    /// Returns the jobs for which other jobs are being preempted.
    pub(super) fn evicting(&self) -> HashSet<JobKey> {
        let evicting = self.jobs.iter().filter(|(_, job)| job.eviction.is_some());
        evicting.map(|(key, _)| *key).collect()
    }

    /// Records a limit that Slurm reported.
    pub(super) fn record_limit(&mut self, ledger: &Ledger, job: &SlurmJob, now: u64) {
        let scope = LimitScope::of(job, &job.reason);
        let holders = holders(ledger, |other| scope.has(other));
        let (reason, until) = (job.reason.clone(), now + LIMIT_DURATION_S);
        let (job, class) = (job.key(), class(job));
        self.limits.push(ReachedLimit { scope, job, class, reason, holders, until });
    }

    /// Returns Slurm's name for the limit that keeps a job from starting, if any.
    pub(super) fn limit_of(&self, job: &SlurmJob) -> Option<&str> {
        let applies = |limit: &&ReachedLimit| {
            limit.scope.has(job) || limit.job == job.key() && limit.class == class(job)
        };
        self.limits.iter().find(applies).map(|limit| limit.reason.as_str())
    }
}

fn holders(ledger: &Ledger, has: impl Fn(&SlurmJob) -> bool) -> HashSet<JobKey> {
    let holds = |job: &&SlurmJob| job.phase != Phase::Pending && has(job);
    ledger.jobs.iter().filter(holds).map(SlurmJob::key).collect()
}

/// Returns a job's QOS, account and partition, which determine its limits.
fn class(job: &SlurmJob) -> [String; 3] {
    [&job.qos, &job.account, &job.partition].map(String::clone)
}
