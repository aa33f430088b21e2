//! A timeline of free nodes, used by `conservative`, that queries the strategy for placements.
//!
//! Invariant: no node is taken twice at any time, and failed nodes are never taken.
//!
//! Cost: O(N/64) words for each segment changed or read, as for [`NodeTimeline`].

use std::collections::BTreeMap;

use pavior_allocation::{Fork, Machine, Placement, Sides};
use pavior_kernel::Time;
use pavior_mesh::{BaseSet, JobId, Occupancy, Request, tile_rows};
use pavior_workload::Job;

use super::fast::{Timeline, Wanted};
use super::question::{FEW_BOXES, JobQuestion};
use super::refusals::Boxes;
use super::slot::{Interval, Need, OtherNodes, Slot};
use super::timeline::{NodeTimeline, Search};
use crate::{Calendar, MachineView};

/// A timeline of free nodes, and a fork of the empty machine on which to query the strategy.
pub(super) struct ByNodes {
    timeline: NodeTimeline,
    empty: Fork,
    bases: BaseSet,
}

impl Timeline for ByNodes {
    type Held = Placement;
    type Taken = OtherNodes;

    fn new(now: Time, machine: &Machine) -> ByNodes {
        let empty = machine.fork_empty();
        let timeline = NodeTimeline::new(now, empty.free().clone());
        ByNodes { timeline, empty, bases: BaseSet::new(*machine.grid()) }
    }

    fn is_monotone(request: &Request, machine: &Machine) -> bool {
        machine.answers(request).are_monotone()
    }

    fn boxes_for(request: &Request, machine: &Machine) -> Option<Vec<Sides>> {
        machine.boxes_for(request).filter(|boxes| boxes.len() <= FEW_BOXES)
    }

    fn held_by(&self, job: JobId, machine: &Machine) -> Placement {
        let placement = machine.placement(job).expect("a running job holds nodes");
        healthy_part(self.empty.free(), placement)
    }

    fn close(&mut self, calendar: &Calendar, _: &BTreeMap<JobId, Slot<Placement>>, _: &Machine) {
        for reservation in calendar.iter() {
            let interval = Interval { from: reservation.from(), to: reservation.to() };
            self.timeline.close(interval, reservation.others());
        }
    }

    fn clear(&mut self, now: Time) {
        self.timeline = NodeTimeline::new(now, self.empty.free().clone());
    }

    fn advance(&mut self, now: Time) {
        self.timeline.advance(now);
    }

    fn take(&mut self, slot: &Slot<Placement>) {
        self.timeline.take(slot);
    }

    fn give(&mut self, slot: &Slot<Placement>) {
        self.timeline.give(slot);
    }

    fn taken_by(&self, slot: &Slot<Placement>) -> OtherNodes {
        OtherNodes::than(&slot.held, self.empty.free().grid())
    }

    fn needs_any(&self, booked: &Slot<Placement>, nodes: &OtherNodes, _: &Slot<Placement>) -> bool {
        !nodes.include(booked)
    }

    fn still_free(&self, slot: &Slot<Placement>) -> Interval {
        self.timeline.still_free(slot)
    }

    fn may_use_both(&self, boxes: &Boxes, one: &Slot<Placement>, other: &Slot<Placement>) -> bool {
        let Some(boxes) = boxes else { return true };
        let grid = self.empty.free().grid();
        boxes.iter().any(|sides| {
            let mut near = one.held.parts().iter().map(|part| part.around(grid, *sides));
            let parts = other.held.parts();
            near.any(|near| parts.iter().any(|part| part.intersects(grid, &near)))
        })
    }

    fn most_free(&self, limit: Time) -> u64 {
        u64::from(self.timeline.most_free(limit))
    }

    fn find(
        &mut self,
        wanted: &Wanted<'_, Placement>,
        view: &mut MachineView<'_>,
    ) -> Option<Slot<Placement>> {
        let ByNodes { timeline, empty, bases } = self;
        let Wanted { now, job, begins, own, freed } = *wanted;
        let need = Need { nodes: view.machine().needed(&job.request), estimate: job.estimate };
        let monotone = Self::is_monotone(&job.request, view.machine());
        let search = Search { need, begins, own, monotone };
        let mut question = JobQuestion::new(now, job, freed, empty, bases, view);
        if let Some((at, held)) = timeline.earliest(&search, &mut question) {
            return Some(Slot { interval: Interval::new(at, job.estimate), held });
        }
        // A strategy that can miss free nodes might not grant the job its own nodes again.
        let own = own.filter(|_| !monotone)?;
        let interval = self.timeline.earlier_on_same_nodes(own, job.estimate)?;
        Some(Slot { interval, held: own.held.clone() })
    }

    fn start(
        &mut self,
        slot: &Slot<Placement>,
        _: &Job,
        _: &mut MachineView<'_>,
    ) -> Option<(Placement, Option<Placement>)> {
        Some((slot.held.clone(), Some(slot.held.clone())))
    }
}

/// Returns the healthy nodes of a placement.
pub(super) fn healthy_part(healthy: &Occupancy, placement: &Placement) -> Placement {
    let parts = placement.parts();
    if parts.iter().all(|part| healthy.is_free(part)) {
        return placement.clone();
    }
    let of_part =
        |part| tile_rows(healthy.grid(), part, |from, length| healthy.window(from, length));
    Placement::Parts(parts.iter().flat_map(of_part).collect())
}
