//! What a plan is kept in: which nodes are free when, or how many.

use pavior_allocation::{Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{JobId, Request};
use pavior_workload::Job;

use crate::MachineView;
use crate::shared::growth::Growth;
use crate::shared::slot::{Interval, Slot};

/// What is taken when. Of a machine whose nodes neither fail nor are repaired.
pub(crate) trait Ledger: Send + Sync {
    /// What a job takes: nodes, or a number of them.
    type Held: Clone + Send + Sync;

    /// The number of nodes that are taken.
    fn nodes(held: &Self::Held) -> u64;

    /// The nodes, if they are chosen.
    fn placement(held: &Self::Held) -> Option<Placement>;

    /// Nothing is taken from now on.
    fn new(now: Time, machine: &Machine) -> Self;

    /// Whether a request is refused where more is taken if it is refused where less is.
    fn is_monotone(request: &Request, machine: &Machine) -> bool;

    /// What a running job takes. Nodes that failed can be taken by none.
    fn held_by(&self, job: JobId, machine: &Machine) -> Self::Held;

    /// Forgets all that was taken.
    fn clear(&mut self, now: Time);

    /// Forgets what was before now.
    fn advance(&mut self, now: Time);

    /// Takes something for a stretch of time, as far as it is not past.
    fn take(&mut self, held: &Self::Held, interval: Interval);

    /// Gives it back.
    fn give(&mut self, held: &Self::Held, interval: Interval);

    /// The most nodes that are free at any time before `limit`.
    fn most_free(&self, limit: Time) -> u64;

    /// The earliest slot that a job may have. It is not taken.
    fn find(
        &mut self,
        wish: &Wish<'_, Self::Held>,
        view: &mut MachineView<'_>,
    ) -> Option<Slot<Self::Held>>;

    /// What a job holds that starts now, and where, unless that is the strategy's to say; none if
    /// it cannot start.
    fn start(
        &mut self,
        slot: &Slot<Self::Held>,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<(Self::Held, Option<Placement>)>;
}

/// A job that looks for a slot.
pub(crate) struct Wish<'a, Held> {
    pub(crate) now: Time,
    pub(crate) job: &'a Job,
    /// When it may begin.
    pub(crate) begins: Interval,
    /// Its own slot, which is free to it, and before which it may begin.
    pub(crate) own: Option<&'a Slot<Held>>,
    /// Without it the job was refused all these times.
    pub(crate) growth: Option<&'a Growth<Held>>,
}
