//! Which nodes were freed when, and which requests were refused before: what tells where a question
//! can have a new answer.

use std::collections::{BTreeMap, HashMap};

use pavior_allocation::{Placement, Sides};
use pavior_kernel::Time;
use pavior_mesh::{BaseSet, Cuboid, Occupancy, Request};

use super::fast::first_begin_reaching;
use super::slot::{Interval, Slot};

/// The slots that were given back.
pub(super) struct FreedNodes<H> {
    /// When anything was freed: stretches that are in order and apart.
    stretches: Vec<Interval>,
    slots: Vec<Slot<H>>,
}

impl<H> Default for FreedNodes<H> {
    fn default() -> FreedNodes<H> {
        FreedNodes { stretches: Vec::new(), slots: Vec::new() }
    }
}

impl<H> FreedNodes<H> {
    pub(super) fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// When the last of the slots ends.
    pub(super) fn end(&self) -> Time {
        self.stretches.last().map_or(Time::ZERO, |last| last.to)
    }

    pub(super) fn add(&mut self, slot: Slot<H>) {
        self.add_stretch(slot.interval);
        self.slots.push(slot);
    }

    /// O(s) for s stretches.
    fn add_stretch(&mut self, mut added: Interval) {
        let first = self.stretches.partition_point(|other| other.to < added.from);
        let last = self.stretches.partition_point(|other| other.from <= added.to);
        if first < last {
            added.from = added.from.min(self.stretches[first].from);
            added.to = added.to.max(self.stretches[last - 1].to);
        }
        self.stretches.splice(first..last, [added]);
    }

    /// The times at which a job can begin so that it runs while something is freed: stretches that
    /// are in order and apart.
    pub(super) fn begins(&self, estimate: Time) -> impl Iterator<Item = Interval> + '_ {
        let mut seen = Time::ZERO;
        self.stretches.iter().filter_map(move |freed| {
            let from = first_begin_reaching(freed.from, estimate).max(seen);
            seen = seen.max(freed.to);
            (from < freed.to).then_some(Interval { from, to: freed.to })
        })
    }
}

impl FreedNodes<Placement> {
    /// Whether any of the nodes that are free throughout a stretch was freed for a part of it. If
    /// not, what was refused before is refused now. O(rows of the freed nodes).
    pub(super) fn reach(&self, throughout: Interval, free: &Occupancy) -> bool {
        self.boxes(throughout, free).next().is_some()
    }

    /// Whether a box of one of these sides is free throughout a stretch now, if none was before.
    /// Such a box shares a node with what was freed.
    ///
    /// Either the rows around the freed nodes are searched, or all rows of the machine, by `bases`:
    /// whichever are fewer. Each row costs O(log of the sides) words.
    pub(super) fn opens_box(
        &self,
        throughout: Interval,
        free: &Occupancy,
        sides: &[Sides],
        bases: &mut BaseSet,
    ) -> bool {
        let grid = *free.grid();
        let freed: Vec<&Cuboid> = self.boxes(throughout, free).collect();
        let mut loaded = false;
        sides.iter().filter(|sides| grid.fits(**sides)).any(|&sides| {
            let mut around = freed.iter().map(|freed| freed.around(&grid, sides));
            if around.clone().map(|around| rows(&around)).sum::<u32>() < rows(&Cuboid::whole(&grid))
            {
                return around
                    .any(|around| BaseSet::within(free, &around).find_loaded(sides).is_some());
            }
            if !loaded {
                bases.load(free);
                loaded = true;
            }
            bases.find_loaded(sides).is_some()
        })
    }

    /// The boxes that were freed for a part of a stretch, and have a node that is free throughout.
    fn boxes(&self, throughout: Interval, free: &Occupancy) -> impl Iterator<Item = &Cuboid> {
        let overlaps = move |when: Interval| when.from < throughout.to && throughout.from < when.to;
        let slots = self.slots.iter().filter(move |slot| overlaps(slot.interval));
        slots.flat_map(|slot| slot.held.parts()).filter(|freed| !free.is_taken(freed))
    }
}

fn rows(cuboid: &Cuboid) -> u32 {
    u32::from(cuboid.sides[1]) * u32::from(cuboid.sides[2])
}

/// The refused requests: before which time a job cannot begin, for each request and length.
///
/// What a job is refused, a longer job with the same request is refused too. All this holds until
/// nodes are freed.
#[derive(Default)]
pub(super) struct Refusals {
    /// Read by request alone: its order does not matter.
    earliest: HashMap<Request, BTreeMap<Time, Time>>,
}

impl Refusals {
    /// The earliest time at which a job may be able to begin.
    pub(super) fn earliest(&self, request: &Request, estimate: Time) -> Time {
        let known = self.earliest.get(request);
        let shorter = known.and_then(|known| known.range(..=estimate).next_back());
        shorter.map_or(Time::ZERO, |(_, at)| *at)
    }

    /// Notes that a job cannot begin before `at`.
    pub(super) fn learn(&mut self, request: &Request, estimate: Time, at: Time) {
        if at <= self.earliest(request, estimate) {
            return;
        }
        let known = self.earliest.entry(*request).or_default();
        // Entries of longer jobs that say no more are dropped.
        while let Some((&longer, &then)) = known.range(estimate..).next()
            && then <= at
        {
            known.remove(&longer);
        }
        known.insert(estimate, at);
    }

    /// Forgets everything: nodes were freed.
    pub(super) fn forget(&mut self) {
        self.earliest.clear();
    }
}

#[cfg(test)]
mod tests {
    use pavior_mesh::Cuboid;

    use super::*;

    fn stretch(from: u64, to: u64) -> Interval {
        Interval { from: Time(from), to: Time(to) }
    }

    #[test]
    fn stretches_stay_in_order_and_apart() {
        let mut freed = FreedNodes::<()>::default();
        for added in [stretch(10, 12), stretch(20, 30), stretch(12, 15), stretch(1, 2)] {
            freed.add_stretch(added);
        }
        assert_eq!(freed.stretches, [stretch(1, 2), stretch(10, 15), stretch(20, 30)]);
        // A job of 3 that begins at 8 runs at 10; one of 7 that begins at 14 runs at 20.
        let begins = |estimate| freed.begins(Time(estimate)).collect::<Vec<_>>();
        assert_eq!(begins(3), [stretch(0, 2), stretch(8, 15), stretch(18, 30)]);
        assert_eq!(begins(7), [stretch(0, 2), stretch(4, 15), stretch(15, 30)]);
        assert_eq!(begins(0), [stretch(1, 2), stretch(10, 15), stretch(20, 30)]);
        freed.add_stretch(stretch(2, 20));
        assert_eq!(freed.stretches, [stretch(1, 30)]);
    }

    #[test]
    fn freed_nodes_reach_a_job_that_runs_then_on_one_of_them() {
        let part = |x: u16| Cuboid::new([x, 0], [2, 1]);
        let mut freed = FreedNodes::default();
        freed.add(Slot { interval: stretch(5, 9), held: Placement::Whole(part(0)) });
        let mut free = Occupancy::all_free("mesh:6x1".parse().unwrap());
        assert!(freed.reach(stretch(8, 20), &free) && freed.reach(stretch(0, 6), &free));
        assert!(!freed.reach(stretch(9, 20), &free) && !freed.reach(stretch(0, 5), &free));
        free.take(&part(0)).unwrap();
        assert!(!freed.reach(stretch(8, 20), &free));
        let held = Placement::Parts(vec![part(0), part(4)]);
        freed.add(Slot { interval: stretch(9, 10), held });
        assert!(freed.reach(stretch(8, 20), &free) && !freed.reach(stretch(8, 9), &free));
    }

    #[test]
    fn what_a_shorter_job_is_refused_a_longer_one_is_refused_too() {
        let mut refusals = Refusals::default();
        let (a, b) = (Request::nodes(2), Request::nodes(3));
        refusals.learn(&a, Time(5), Time(100));
        refusals.learn(&a, Time(9), Time(50));
        refusals.learn(&a, Time(3), Time(20));
        let known = |estimate| refusals.earliest(&a, Time(estimate)).0;
        assert_eq!([1, 3, 4, 5, 9].map(known), [0, 20, 20, 100, 100]);
        assert_eq!(refusals.earliest(&b, Time(9)), Time::ZERO);
    }
}
