//! Waiting Jobs and the reasons why they are waiting.

use pavior::Request;

use crate::objects::{Job, MACHINE, Object as _, ObjectRef};
use crate::time::unsigned;
use crate::world::Index;

/// A waiting Job's prospect of starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prospect {
    /// The Job starts once nodes become free.
    Waits,
    /// The Job cannot start until the Job, its machine or the cluster changes.
    Blocked,
    /// The Job itself must be changed, because its machine can never place it in its current form.
    Invalid,
}

/// A waiting Job and the reason why it is waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) job: ObjectRef,
    pub(crate) why: String,
    pub(crate) prospect: Prospect,
    /// The start time if every job runs to its time limit, in seconds since 1970.
    pub(crate) starts_at: Option<u64>,
    /// The request in nodes, if it is valid.
    pub(crate) request: Option<Request>,
    /// The creation time in seconds since 1970.
    pub(crate) created_at: u64,
}

impl Waiting {
    pub(crate) fn new(job: &Job, why: String) -> Waiting {
        Waiting {
            job: ObjectRef::of(job),
            why,
            prospect: Prospect::Waits,
            starts_at: None,
            request: None,
            created_at: unsigned(job.created()),
        }
    }

    /// Returns true if the Job cannot start unless something changes.
    pub(crate) fn is_blocked(&self) -> bool {
        self.prospect != Prospect::Waits
    }

    /// Returns the kind of reason that the page shows.
    pub(crate) fn kind(&self) -> &'static str {
        if self.is_blocked() { "never" } else { "place" }
    }
}

/// Returns the Jobs with a shape that belong to no machine, that is, those for which
/// [`Index::is_on`] is false for every machine.
pub(crate) fn unassigned(index: &Index<'_>) -> Vec<Waiting> {
    index.world.jobs.values().filter_map(|job| unassigned_job(index, job)).collect()
}

/// Returns the reason why a Job with a shape belongs to no machine, unless it belongs to one.
pub(super) fn unassigned_job(index: &Index<'_>, job: &Job) -> Option<Waiting> {
    if job.shape().is_none() || job.is_finished() || job.is_terminating() {
        return None;
    }
    let machines = &index.world.machines;
    let why = match job.annotation(MACHINE) {
        Some(name) if machines.contains_key(name) => return None,
        Some(_) => "pavior.dev/machine does not name a Machine in the cluster",
        None if machines.len() == 1 => return None,
        None if machines.is_empty() => "the cluster has no Machine",
        None => "the cluster has several Machines, so pavior.dev/machine must name one",
    };
    Some(Waiting { prospect: Prospect::Blocked, ..Waiting::new(job, why.to_string()) })
}
