//! A plan by numbers of nodes.

use pavior_allocation::{Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{JobId, Occupancy, Request};
use pavior_workload::Job;

use super::by_nodes::healthy_part;
use super::{Ledger, Wish};
use crate::MachineView;
use crate::shared::refused::Refused;
use crate::shared::slot::{Interval, Room, Slot};
use crate::shared::steps::Steps;

/// How many nodes are free when. Where they are is left to the strategy when a job starts, so that
/// it may be refused.
pub(crate) struct ByCount {
    free: Steps,
    /// The nodes of the empty machine.
    healthy: Occupancy,
    /// What was refused at a start.
    refused: Refused,
}

impl Ledger for ByCount {
    type Held = u32;

    fn nodes(held: &u32) -> u64 {
        u64::from(*held)
    }

    fn placement(_held: &u32) -> Option<Placement> {
        None
    }

    fn new(now: Time, machine: &Machine) -> ByCount {
        let healthy = machine.fork_empty().free().clone();
        let free = Steps::new(now, healthy.count());
        ByCount { free, healthy, refused: Refused::default() }
    }

    fn is_monotone(_request: &Request, _machine: &Machine) -> bool {
        true
    }

    fn held_by(&self, job: JobId, machine: &Machine) -> u32 {
        let placement = machine.placement(job).expect("a running job holds nodes");
        healthy_part(&self.healthy, placement).nodes()
    }

    fn clear(&mut self, now: Time) {
        self.free = Steps::new(now, self.healthy.count());
    }

    fn advance(&mut self, now: Time) {
        self.free.advance(now);
    }

    fn take(&mut self, held: &u32, interval: Interval) {
        self.free.add(-i64::from(*held), interval);
    }

    fn give(&mut self, held: &u32, interval: Interval) {
        self.free.add(i64::from(*held), interval);
    }

    fn most_free(&self, limit: Time) -> u64 {
        self.free.most(limit).try_into().unwrap_or(0)
    }

    fn find(&mut self, wish: &Wish<'_, u32>, view: &mut MachineView<'_>) -> Option<Slot<u32>> {
        let needed = view.machine().needed(&wish.job.request);
        let held = u32::try_from(needed).ok()?;
        let room = Room { nodes: needed, estimate: wish.job.estimate };
        if let Some(own) = wish.own {
            self.give(&own.held, own.interval);
        }
        let found = self.free.earliest(room, wish.begins);
        if let Some(own) = wish.own {
            self.take(&own.held, own.interval);
        }
        Some(Slot { interval: Interval::new(found?, room.estimate), held })
    }

    fn start(
        &mut self,
        slot: &Slot<u32>,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<(u32, Option<Placement>)> {
        self.refused.in_state(view.machine().state());
        let placed = self.refused.ask(&job.request, |request| view.place(request).ok())?;
        // Some strategies grant more than they need.
        self.free.add(i64::from(slot.held) - i64::from(placed.nodes()), slot.interval);
        Some((placed.nodes(), None))
    }
}
