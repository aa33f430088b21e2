//! Defines how changes to a dispatcher's tables affect the scheduler's promises
//! ([`Change::effect`]).
//!
//! ```text
//!   change                                           effect     how a scheduler notices it
//!   submission, withdrawal, start, end, estimate     Seen       queue, running jobs, free nodes
//!   a job outside the queue is granted nodes         Granted    MachineView::granted
//!   relocation, failure, repair, reservation         Voids      another MachineView::health
//! ```

use pavior_mesh::JobId;

/// A change to a dispatcher's tables.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Submission,
    Withdrawal,
    Start,
    End,
    Estimate,
    /// A job outside the queue is granted nodes.
    Grant(JobId),
    Relocation,
    /// Nodes or switches fail or are repaired.
    Failure,
    /// An advance reservation is added or removed.
    Reservation,
}

/// The effect of a change on the scheduler's promises.
enum Effect {
    /// The scheduler sees the change in the queue, the running jobs or the free nodes, and adapts
    /// its plan.
    Seen,
    /// Promises remain valid unless they need nodes that this job will still hold.
    Granted(JobId),
    /// All earlier promises are void.
    Voids,
}

impl Change {
    fn effect(self) -> Effect {
        match self {
            Change::Grant(job) => Effect::Granted(job),
            Change::Relocation | Change::Failure | Change::Reservation => Effect::Voids,
            Change::Submission
            | Change::Withdrawal
            | Change::Start
            | Change::End
            | Change::Estimate => Effect::Seen,
        }
    }
}

/// The maximum number of grants to record. Any further grant voids the plan. The limit bounds
/// memory use if the scheduler is never called.
const MOST_GRANTS: usize = 1 << 16;

/// The state of a scheduler's plan.
#[derive(Default)]
pub(super) struct PlanStatus {
    /// The number of changes that voided a plan.
    pub(super) voided: u64,
    /// The jobs outside the queue that were granted nodes since the scheduler was last called.
    pub(super) granted: Vec<JobId>,
    /// True if the machine refuses every waiting job, false if it accepts at least one, and `None`
    /// if unknown. Grants do not change this value.
    pub(super) refuses_all: Option<bool>,
    /// True if the scheduler has chosen no job since the last change, so that its plan is complete.
    pub(super) is_settled: bool,
}

impl PlanStatus {
    pub(super) fn note(&mut self, change: Change) {
        self.is_settled = false;
        if !matches!(change, Change::Grant(_)) {
            self.refuses_all = None;
        }
        match change.effect() {
            Effect::Seen => return,
            Effect::Granted(job) if self.granted.len() < MOST_GRANTS => {
                return self.granted.push(job);
            }
            Effect::Granted(_) | Effect::Voids => {}
        }
        self.voided += 1;
        self.granted.clear();
    }
}
