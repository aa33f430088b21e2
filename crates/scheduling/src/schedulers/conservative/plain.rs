//! A list-based profile that queries the strategy at every time. Tests compare the fast profile
//! with this one.
//!
//! Cost for s slots: O(s) times are tried, each against O(s) slots, with one search by the strategy
//! for each time at which enough nodes are free.

use std::collections::BTreeMap;

use pavior_allocation::{Fork, Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{JobId, Occupancy};
use pavior_workload::Job;

use super::rule::Profile;
use super::slot::{Interval, OtherNodes, Slot};
use crate::{Calendar, MachineView};

pub(super) struct Plain {
    taken: Vec<Slot<Placement>>,
    /// The interval of each advance reservation, and the nodes that stay open during it.
    closed: Vec<(Interval, Occupancy)>,
    /// True if any slot has been released since the previous round of moving jobs up began.
    given: bool,
    /// The strategy on an empty machine.
    empty: Fork,
}

impl Profile for Plain {
    type Held = Placement;
    type Taken = OtherNodes;

    fn new(_: Time, machine: &Machine) -> Plain {
        Plain { taken: Vec::new(), closed: Vec::new(), given: false, empty: machine.fork_empty() }
    }

    fn held_by(&self, job: JobId, machine: &Machine) -> Placement {
        machine.placement(job).expect("a running job holds nodes").clone()
    }

    fn close(&mut self, calendar: &Calendar, _: &BTreeMap<JobId, Slot<Placement>>, _: &Machine) {
        let closed = calendar.iter().map(|reservation| {
            let interval = Interval { from: reservation.from(), to: reservation.to() };
            (interval, reservation.others().clone())
        });
        self.closed = closed.collect();
    }

    fn clear(&mut self, _: Time) {
        self.taken.clear();
        self.closed.clear();
    }

    fn advance(&mut self, now: Time) {
        self.taken.retain(|slot| slot.interval.to > now);
        self.closed.retain(|(interval, _)| interval.to > now);
    }

    fn take(&mut self, slot: &Slot<Placement>) {
        self.taken.push(slot.clone());
    }

    fn give(&mut self, slot: Slot<Placement>) {
        self.remove(&slot);
        self.given = true;
    }

    fn earliest(
        &mut self,
        now: Time,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<Slot<Placement>> {
        self.first_before(Time::MAX, now, job, view)
    }

    fn taken_by(&self, slot: &Slot<Placement>) -> OtherNodes {
        OtherNodes::than(&slot.held, self.empty.free().grid())
    }

    fn needs_any(&self, booked: &Slot<Placement>, nodes: &OtherNodes, _: &Slot<Placement>) -> bool {
        !nodes.include(booked)
    }

    fn next_round(&mut self) -> bool {
        std::mem::take(&mut self.given)
    }

    fn given(&self) -> u64 {
        0
    }

    fn earlier(
        &mut self,
        now: Time,
        job: &Job,
        (own, _): (&Slot<Placement>, u64),
        view: &mut MachineView<'_>,
    ) -> Option<Slot<Placement>> {
        self.remove(own);
        let found = self.first_before(own.interval.from, now, job, view);
        let found = found.or_else(|| self.earlier_on_same_nodes(own, now, job));
        self.take(own);
        found
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

impl Plain {
    /// Removes a slot, or what remains of it, from the list. Does nothing if the slot is in the
    /// past. A slot is identified by its nodes and its end, because no two slots share both.
    fn remove(&mut self, slot: &Slot<Placement>) {
        let is_it = |other: &Slot<Placement>| {
            other.interval.to == slot.interval.to && other.held == slot.held
        };
        if let Some(place) = self.taken.iter().position(is_it) {
            self.taken.swap_remove(place);
        }
    }

    /// Returns the earliest slot before `limit` in which the strategy can place a job. Only queries
    /// for the current time count as attempts.
    fn first_before(
        &mut self,
        limit: Time,
        now: Time,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<Slot<Placement>> {
        for from in self.times(now).into_iter().take_while(|from| *from < limit) {
            let interval = Interval::new(from, job.estimate);
            let free = self.free_throughout(interval);
            if u64::from(free.count()) < view.machine().needed(&job.request) {
                continue;
            }
            let place = |fork: &mut Fork| fork.find_within(&free, &job.request);
            let placed = if from == now {
                view.can_start_by(&mut self.empty, place)
            } else {
                place(&mut self.empty)
            };
            if let Ok(held) = placed {
                return Some(Slot { interval, held });
            }
        }
        None
    }

    fn earlier_on_same_nodes(
        &self,
        own: &Slot<Placement>,
        now: Time,
        job: &Job,
    ) -> Option<Slot<Placement>> {
        let times = self.times(now).into_iter().take_while(|from| *from < own.interval.from);
        let mut intervals = times.map(|from| Interval::new(from, job.estimate));
        let interval = intervals.find(|interval| {
            let free = self.free_throughout(*interval);
            own.held.parts().iter().all(|part| free.is_free(part))
        })?;
        Some(Slot { interval, held: own.held.clone() })
    }

    /// Returns the current time and all later times at which the free nodes change.
    fn times(&self, now: Time) -> Vec<Time> {
        let taken = self.taken.iter().map(|slot| slot.interval);
        let closed = self.closed.iter().map(|(interval, _)| *interval);
        let ends = taken.chain(closed).flat_map(|interval| [interval.from, interval.to]);
        let mut times: Vec<Time> = ends.filter(|at| *at > now && *at < Time::MAX).collect();
        times.sort_unstable();
        times.dedup();
        let free_at = |at: Time| self.free_throughout(Interval::new(at, Time(1)));
        times.retain(|at| free_at(at.since(Time(1))) != free_at(*at));
        times.insert(0, now);
        times
    }

    /// Returns the nodes that are free throughout an interval.
    fn free_throughout(&self, stretch: Interval) -> Occupancy {
        let mut free = self.empty.free().clone();
        let grid = *free.grid();
        for slot in &self.taken {
            if slot.interval.overlaps(stretch) {
                for node in slot.held.parts().iter().flat_map(|part| part.nodes(&grid)) {
                    free.take_node(node);
                }
            }
        }
        for (interval, open) in &self.closed {
            if interval.overlaps(stretch) {
                free.keep(open).expect("a calendar belongs to one machine");
            }
        }
        free
    }
}
