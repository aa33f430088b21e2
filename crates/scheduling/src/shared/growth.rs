//! What a plan remembers of its questions, and what makes it ask again.

use std::collections::{BTreeMap, HashMap};

use pavior_allocation::{Placement, Sides};
use pavior_kernel::Time;
use pavior_mesh::{BaseSet, Cuboid, Occupancy, Request};

use super::slot::Interval;

/// When nodes became free, and which, or how many.
pub(crate) struct Growth<Held> {
    /// When, in order and apart.
    stretches: Vec<Interval>,
    given: Vec<(Interval, Held)>,
}

impl<Held> Default for Growth<Held> {
    fn default() -> Growth<Held> {
        Growth { stretches: Vec::new(), given: Vec::new() }
    }
}

impl<Held> Growth<Held> {
    pub(crate) fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// When the last of them ends.
    pub(crate) fn end(&self) -> Time {
        self.stretches.last().map_or(Time::ZERO, |last| last.to)
    }

    /// Adds nodes that became free for a stretch.
    pub(crate) fn add(&mut self, held: Held, added: Interval) {
        self.given.push((added, held));
        self.add_stretch(added);
    }

    /// O(g).
    fn add_stretch(&mut self, mut added: Interval) {
        let first = self.stretches.partition_point(|other| other.to < added.from);
        let last = self.stretches.partition_point(|other| other.from <= added.to);
        if first < last {
            added.from = added.from.min(self.stretches[first].from);
            added.to = added.to.max(self.stretches[last - 1].to);
        }
        self.stretches.splice(first..last, [added]);
    }

    /// The times at which a job estimated to run so long would begin if it ran while something
    /// grew, in order and apart.
    pub(crate) fn begins(&self, estimate: Time) -> impl Iterator<Item = Interval> + '_ {
        let mut seen = Time::ZERO;
        self.stretches.iter().filter_map(move |grown| {
            let length = estimate.max(Time(1));
            let from = grown.from.since(length).saturating_add(Time(1)).max(seen);
            let from = if grown.from < length { seen } else { from };
            seen = seen.max(grown.to);
            (from < grown.to).then_some(Interval { from, to: grown.to })
        })
    }
}

impl Growth<Placement> {
    /// Whether any of these nodes, which are free throughout a stretch, became free for a part of
    /// it: else a request that was refused before is refused now. O(rows of the nodes that became
    /// free).
    pub(crate) fn reaches(&self, throughout: Interval, free: &Occupancy) -> bool {
        self.parts(throughout, free).next().is_some()
    }

    /// Whether a box of one of these sides, none of which was free throughout a stretch before, is
    /// free throughout it now: one that shares a node with what became free. O(log of the sides)
    /// words for each row around that, or for each row of the machine, which `bases` is for,
    /// whichever are fewer.
    pub(crate) fn lets_in(
        &self,
        throughout: Interval,
        free: &Occupancy,
        boxes: &[Sides],
        bases: &mut BaseSet,
    ) -> bool {
        let grid = *free.grid();
        let parts: Vec<&Cuboid> = self.parts(throughout, free).collect();
        let mut loaded = false;
        boxes.iter().filter(|sides| grid.fits(**sides)).any(|&sides| {
            let mut around = parts.iter().map(|part| part.around(&grid, sides));
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

    /// The parts with a node that became free for a part of a stretch, and is free throughout it.
    fn parts(&self, throughout: Interval, free: &Occupancy) -> impl Iterator<Item = &Cuboid> {
        let then = move |when: &Interval| when.from < throughout.to && throughout.from < when.to;
        let given = self.given.iter().filter(move |(when, _)| then(when));
        given.flat_map(|(_, placement)| placement.parts()).filter(|part| !free.is_taken(part))
    }
}

fn rows(cuboid: &Cuboid) -> u32 {
    u32::from(cuboid.sides[1]) * u32::from(cuboid.sides[2])
}

/// For requests, how early a job of an estimated length cannot begin, as long as nothing becomes
/// free: what a job was refused, a longer one with the same request is refused too.
#[derive(Default)]
pub(crate) struct Refusals {
    /// Only ever asked for one request: its order does not matter.
    earliest: HashMap<Request, BTreeMap<Time, Time>>,
}

impl Refusals {
    /// The earliest time at which a job may be able to begin.
    pub(crate) fn earliest(&self, request: &Request, estimate: Time) -> Time {
        let known = self.earliest.get(request);
        let shorter = known.and_then(|known| known.range(..=estimate).next_back());
        shorter.map_or(Time::ZERO, |(_, at)| *at)
    }

    /// A job cannot begin before `at`.
    pub(crate) fn learn(&mut self, request: &Request, estimate: Time, at: Time) {
        if at <= self.earliest(request, estimate) {
            return;
        }
        let known = self.earliest.entry(*request).or_default();
        // Longer jobs of which less is known.
        while let Some((&longer, &then)) = known.range(estimate..).next()
            && then <= at
        {
            known.remove(&longer);
        }
        known.insert(estimate, at);
    }

    /// Nodes became free.
    pub(crate) fn forget(&mut self) {
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
        let mut growth = Growth::<()>::default();
        for added in [stretch(10, 12), stretch(20, 30), stretch(12, 15), stretch(1, 2)] {
            growth.add_stretch(added);
        }
        assert_eq!(growth.stretches, [stretch(1, 2), stretch(10, 15), stretch(20, 30)]);
        // A job of 3 that begins at 8 runs at 10; one of 7 that begins at 14 runs at 20.
        let begins = |estimate| growth.begins(Time(estimate)).collect::<Vec<_>>();
        assert_eq!(begins(3), [stretch(0, 2), stretch(8, 15), stretch(18, 30)]);
        assert_eq!(begins(7), [stretch(0, 2), stretch(4, 15), stretch(15, 30)]);
        assert_eq!(begins(0), [stretch(1, 2), stretch(10, 15), stretch(20, 30)]);
        growth.add_stretch(stretch(2, 20));
        assert_eq!(growth.stretches, [stretch(1, 30)]);
    }

    #[test]
    fn growth_reaches_who_runs_then_on_a_node_of_it() {
        let part = |x: u16| Cuboid::new([x, 0], [2, 1]);
        let mut growth = Growth::default();
        growth.add(Placement::Whole(part(0)), stretch(5, 9));
        let mut free = Occupancy::all_free("mesh:6x1".parse().unwrap());
        assert!(growth.reaches(stretch(8, 20), &free) && growth.reaches(stretch(0, 6), &free));
        assert!(!growth.reaches(stretch(9, 20), &free) && !growth.reaches(stretch(0, 5), &free));
        free.take(&part(0)).unwrap();
        assert!(!growth.reaches(stretch(8, 20), &free));
        growth.add(Placement::Parts(vec![part(0), part(4)]), stretch(9, 10));
        assert!(growth.reaches(stretch(8, 20), &free) && !growth.reaches(stretch(8, 9), &free));
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
