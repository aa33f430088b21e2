//! A plan by nodes.

use pavior_allocation::{Fork, Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{BaseSet, JobId, Occupancy, Request, tile_rows};
use pavior_workload::Job;

use super::question::JobQuestion;
use super::{Ledger, Wish};
use crate::MachineView;
use crate::shared::profile::{Profile, Search};
use crate::shared::slot::{Interval, Room, Slot};

/// Which nodes are free when.
pub(crate) struct ByNodes {
    profile: Profile,
    /// The strategy on an empty machine.
    blank: Fork,
    bases: BaseSet,
}

impl Ledger for ByNodes {
    type Held = Placement;

    fn nodes(held: &Placement) -> u64 {
        u64::from(held.nodes())
    }

    fn placement(held: &Placement) -> Option<Placement> {
        Some(held.clone())
    }

    fn new(now: Time, machine: &Machine) -> ByNodes {
        let blank = machine.fork_empty();
        let profile = Profile::new(now, blank.free().clone());
        ByNodes { profile, blank, bases: BaseSet::new(*machine.grid()) }
    }

    fn is_monotone(request: &Request, machine: &Machine) -> bool {
        machine.answers(request).are_monotone()
    }

    fn held_by(&self, job: JobId, machine: &Machine) -> Placement {
        let placement = machine.placement(job).expect("a running job holds nodes");
        healthy_part(self.blank.free(), placement)
    }

    fn clear(&mut self, now: Time) {
        self.profile = Profile::new(now, self.blank.free().clone());
    }

    fn advance(&mut self, now: Time) {
        self.profile.advance(now);
    }

    fn take(&mut self, held: &Placement, interval: Interval) {
        self.profile.take(held, interval);
    }

    fn give(&mut self, held: &Placement, interval: Interval) {
        self.profile.give(held, interval);
    }

    fn most_free(&self, limit: Time) -> u64 {
        u64::from(self.profile.most_free(limit))
    }

    fn find(
        &mut self,
        wish: &Wish<'_, Placement>,
        view: &mut MachineView<'_>,
    ) -> Option<Slot<Placement>> {
        let ByNodes { profile, blank, bases } = self;
        let Wish { now, job, begins, own, growth } = *wish;
        let room = Room { nodes: view.machine().needed(&job.request), estimate: job.estimate };
        let monotone = Self::is_monotone(&job.request, view.machine());
        let search = Search { room, begins, own, monotone };
        let mut question = JobQuestion::new(now, job, growth, blank, bases, view);
        if let Some((at, held)) = profile.earliest(&search, &mut question) {
            return Some(Slot { interval: Interval::new(at, job.estimate), held });
        }
        // A strategy that misses some might not find the same nodes.
        let own = own.filter(|_| !monotone)?;
        let interval = self.profile.earlier_on_same(own, job.estimate)?;
        Some(Slot { interval, held: own.held.clone() })
    }

    fn start(
        &mut self,
        slot: &Slot<Placement>,
        _job: &Job,
        _view: &mut MachineView<'_>,
    ) -> Option<(Placement, Option<Placement>)> {
        Some((slot.held.clone(), Some(slot.held.clone())))
    }
}

/// The nodes of a placement that the empty machine has.
pub(super) fn healthy_part(free: &Occupancy, placement: &Placement) -> Placement {
    let parts = placement.parts();
    if parts.iter().all(|part| free.is_free(part)) {
        return placement.clone();
    }
    let healthy = |part| tile_rows(free.grid(), part, |from, length| free.window(from, length));
    Placement::Parts(parts.iter().flat_map(healthy).collect())
}
