//! How many nodes are free when: the timeline of `conservative:count`.
//!
//! Invariant: a running job has taken the nodes that it was granted and that have not failed. A
//! booking has taken the nodes that the job needs.
//!
//! Cost: that of [`Steps`], O(log T) a question and a change.

use pavior_allocation::{Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{JobId, Occupancy, Request};
use pavior_workload::Job;

use super::by_nodes::healthy_part;
use super::fast::{Timeline, Wanted};
use super::slot::{Interval, Need, Slot};
use super::steps::Steps;
use crate::MachineView;
use crate::shared::refused::Refused;

/// A timeline of numbers of nodes. Where they are is the strategy's to say when a job starts, and
/// it may refuse.
pub(super) struct ByCount {
    free: Steps,
    /// The nodes that have not failed.
    healthy: Occupancy,
    refused: Refused,
}

impl Timeline for ByCount {
    type Held = u32;

    fn new(now: Time, machine: &Machine) -> ByCount {
        let healthy = machine.fork_empty().free().clone();
        let free = Steps::new(now, healthy.count());
        ByCount { free, healthy, refused: Refused::default() }
    }

    fn is_monotone(_: &Request, _: &Machine) -> bool {
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

    fn take(&mut self, slot: &Slot<u32>) {
        self.free.add(-i64::from(slot.held), slot.interval);
    }

    fn give(&mut self, slot: &Slot<u32>) {
        self.free.add(i64::from(slot.held), slot.interval);
    }

    fn most_free(&self, limit: Time) -> u64 {
        self.free.most(limit).try_into().unwrap_or(0)
    }

    fn find(&mut self, wanted: &Wanted<'_, u32>, view: &mut MachineView<'_>) -> Option<Slot<u32>> {
        let needed = view.machine().needed(&wanted.job.request);
        let held = u32::try_from(needed).ok()?;
        let need = Need { nodes: needed, estimate: wanted.job.estimate };
        if let Some(own) = wanted.own {
            self.give(own);
        }
        let found = self.free.earliest(need, wanted.begins);
        if let Some(own) = wanted.own {
            self.take(own);
        }
        Some(Slot { interval: Interval::new(found?, need.estimate), held })
    }

    fn start(
        &mut self,
        slot: &Slot<u32>,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<(u32, Option<Placement>)> {
        self.refused.in_state(view.machine().state());
        let placed = self.refused.ask(&job.request, |request| view.place(request).ok())?;
        // Some strategies grant more nodes than they need.
        self.free.add(i64::from(slot.held) - i64::from(placed.nodes()), slot.interval);
        Some((placed.nodes(), None))
    }
}
