//! Changes, and which of them void what a scheduler has promised: [`Change::voids_plan`] alone says
//! it. Schedulers see it as another [`MachineView::health`](crate::MachineView::health).

/// A change to the tables of a dispatcher.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Submission,
    Withdrawal,
    Start,
    End,
    Estimate,
    /// A job is given nodes without having waited.
    Grant,
    Relocation,
    /// Nodes or switches fail or are repaired.
    Failure,
    /// Nodes are reserved ahead, or a reservation is given up.
    Reservation,
}

impl Change {
    /// Returns true if no earlier promise holds. Schedulers adapt their plan to the other changes,
    /// which they see in queue, running jobs and free nodes.
    fn voids_plan(self) -> bool {
        use Change::{Failure, Grant, Relocation, Reservation};
        matches!(self, Grant | Relocation | Failure | Reservation)
    }
}

/// The state of a scheduler's plan.
#[derive(Default)]
pub(super) struct PlanStatus {
    /// The number of changes that voided a plan.
    pub(super) voided: u64,
    /// True if the scheduler has named no job since the last change: its plan is complete.
    pub(super) is_settled: bool,
}

impl PlanStatus {
    pub(super) fn note(&mut self, change: Change) {
        self.is_settled = false;
        self.voided += u64::from(change.voids_plan());
    }
}
