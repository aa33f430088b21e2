//! The number of free nodes over time: the timeline used by `conservative:count`.
//!
//! Invariant: a running job occupies the nodes that it was granted, except those that have failed.
//! A booking occupies as many nodes as its job needs. Reserved nodes count as taken unless a
//! running job holds them.
//!
//! Cost: O(log T) per query and change, as for [`Steps`]. Closing the reserved nodes takes O((r +
//! R)^2 N/64) time for r running jobs and R reservations.

use std::collections::BTreeMap;

use pavior_allocation::{Machine, Placement, Sides};
use pavior_kernel::Time;
use pavior_mesh::{JobId, Occupancy, Request};
use pavior_workload::Job;

use super::by_nodes::healthy_part;
use super::fast::{Timeline, Wanted};
use super::refusals::Boxes;
use super::slot::{Interval, Need, Slot};
use super::steps::Steps;
use crate::shared::refused::Refused;
use crate::{Calendar, MachineView};

/// A timeline of node counts. The strategy chooses a job's nodes when the job starts, and may then
/// refuse the job.
pub(super) struct ByCount {
    free: Steps,
    /// The nodes that have not failed.
    healthy: Occupancy,
    refused: Refused,
    /// The intervals in which reserved nodes are closed, each with the number of closed nodes.
    closed: Vec<(Interval, i64)>,
}

impl Timeline for ByCount {
    type Held = u32;
    type Taken = ();

    fn new(now: Time, machine: &Machine) -> ByCount {
        let healthy = machine.fork_empty().free().clone();
        let free = Steps::new(now, healthy.count());
        ByCount { free, healthy, refused: Refused::default(), closed: Vec::new() }
    }

    fn is_monotone(_: &Request, _: &Machine) -> bool {
        true
    }

    fn boxes_for(_: &Request, _: &Machine) -> Option<Vec<Sides>> {
        None
    }

    fn held_by(&self, job: JobId, machine: &Machine) -> u32 {
        let placement = machine.placement(job).expect("a running job holds nodes");
        healthy_part(&self.healthy, placement).nodes()
    }

    fn close(
        &mut self,
        calendar: &Calendar,
        running: &BTreeMap<JobId, Slot<u32>>,
        machine: &Machine,
    ) {
        for (interval, nodes) in std::mem::take(&mut self.closed) {
            self.free.add(nodes, interval);
        }
        let reserved = calendar.iter().flat_map(|one| [one.from(), one.to()]);
        let mut times: Vec<Time> =
            reserved.chain(running.values().map(|slot| slot.interval.to)).collect();
        times.sort_unstable();
        times.dedup();
        for pair in times.windows(2) {
            let interval = Interval { from: pair[0], to: pair[1] };
            let nodes = self.closed_during(interval, calendar, running, machine);
            self.free.add(-nodes, interval);
            self.closed.push((interval, nodes));
        }
    }

    fn clear(&mut self, now: Time) {
        self.free = Steps::new(now, self.healthy.count());
        self.closed.clear();
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

    fn taken_by(&self, _: &Slot<u32>) {}

    fn needs_any(&self, booked: &Slot<u32>, (): &(), taken: &Slot<u32>) -> bool {
        let from = booked.interval.from.max(taken.interval.from);
        let to = booked.interval.to.min(taken.interval.to);
        self.free.are_fewer(i64::from(taken.held), Interval { from, to })
    }

    fn still_free(&self, slot: &Slot<u32>) -> Interval {
        slot.interval
    }

    fn may_use_both(&self, _: &Boxes, _: &Slot<u32>, _: &Slot<u32>) -> bool {
        true
    }

    fn most_free(&self, limit: Time) -> u64 {
        self.free.most(limit).try_into().unwrap_or(0)
    }

    fn find(&mut self, wanted: &Wanted<'_, u32>, view: &mut MachineView<'_>) -> Option<Slot<u32>> {
        let needed = view.machine().needed(&wanted.job.request);
        let held = u32::try_from(needed).ok()?;
        let need = Need { nodes: needed, estimate: wanted.job.estimate };
        if let Some(freed) = wanted.freed {
            freed.skip(Interval { from: Time::ZERO, to: Time::MAX });
        }
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
        self.refused.in_state(view.state());
        let placed = self.refused.ask(job, view.reach(job), || view.place(job).ok())?;
        // Some strategies grant more nodes than a job needs.
        self.free.add(i64::from(slot.held) - i64::from(placed.nodes()), slot.interval);
        Some((placed.nodes(), None))
    }
}

impl ByCount {
    /// Returns the number of reserved nodes that no running job holds during an interval. Within
    /// the interval, no reservation may begin or end, and no job may end.
    fn closed_during(
        &self,
        interval: Interval,
        calendar: &Calendar,
        running: &BTreeMap<JobId, Slot<u32>>,
        machine: &Machine,
    ) -> i64 {
        let mut met = calendar.met(interval.from, Time(1)).peekable();
        if met.peek().is_none() {
            return 0;
        }
        let mut free = self.healthy.clone();
        for (job, _) in running.iter().filter(|(_, slot)| slot.interval.to > interval.from) {
            let held = machine.placement(*job).expect("a running job holds nodes");
            for node in held.parts().iter().flat_map(|part| part.nodes(machine.grid())) {
                free.take_node(node);
            }
        }
        let before = free.count();
        met.for_each(|one| free.keep(one.others()).expect("a calendar belongs to one machine"));
        i64::from(before - free.count())
    }
}
