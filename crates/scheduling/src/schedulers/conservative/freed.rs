//! Freed nodes, and the intervals for which they were freed. A previously refused job with monotone
//! answers can fit now only if it uses one of these nodes for part of its run.
//!
//! Until a freed slot is dropped, it records the jobs that were refused near it. Any job at least
//! as large and as long as one of them is refused there too: if it could use a node in the slot, so
//! could the smaller job. Tests determine how many other jobs a refusal rules out ([`MayFit`]):
//!
//! ```text
//!   no node in the slot is free for that long          every job that is at least as long
//!   the box common to all allowed boxes is not free    every job that contains this box
//!   no box with half the sides of that box is free     every job that contains this smaller box
//!   otherwise                                          every job at least as large and as long
//! ```
//!
//! Taking more nodes later cannot turn a refusal into a grant. Nodes freed later belong to a
//! separate slot, and every job is tried near that slot.
//!
//! Cost: with k slots, adding or taking a slot takes O(k), plus O(rows) for each slot that is
//! shortened. A query takes O(rows of the freed nodes).

use std::cell::Cell;

use pavior_allocation::{Placement, Sides};
use pavior_kernel::Time;
use pavior_mesh::{BaseSet, Cuboid, Occupancy};

use super::refusals::{RefusalsNearby, common, half};
use super::slot::{Interval, Slot};

/// A released slot, and the jobs that have been refused near it.
pub(super) struct Freed<H> {
    /// The number of slots released before this one.
    number: u64,
    pub(super) slot: Slot<H>,
    pub(super) refused: RefusalsNearby,
}

/// The slots released since the beginning of the previous round of moving jobs up, in order of
/// release. A slot is kept as long as any of its nodes is free.
pub(super) struct FreedNodes<H> {
    slots: Vec<Freed<H>>,
    /// The number of slots released so far.
    given: u64,
    /// The number of slots released before the current round began.
    before_round: u64,
    end: Time,
}

impl<H> Default for FreedNodes<H> {
    fn default() -> FreedNodes<H> {
        FreedNodes { slots: Vec::new(), given: 0, before_round: 0, end: Time::ZERO }
    }
}

impl<H> FreedNodes<H> {
    /// Begins a new round. Returns false if no slots were released since the last one began.
    pub(super) fn next_round(&mut self) -> bool {
        let past = self.slots.partition_point(|one| one.number < self.before_round);
        self.slots.drain(..past);
        self.end = self.slots.iter().map(|one| one.slot.interval.to).max().unwrap_or(Time::ZERO);
        std::mem::replace(&mut self.before_round, self.given) < self.given
    }

    /// Returns the number of slots released so far.
    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// Returns the latest time at which any of the slots ends.
    pub(super) fn end(&self) -> Time {
        self.end
    }

    pub(super) fn add(&mut self, slot: Slot<H>) {
        self.end = self.end.max(slot.interval.to);
        self.slots.push(Freed { number: self.given, slot, refused: RefusalsNearby::default() });
        self.given += 1;
    }

    /// Shortens or drops freed slots after another slot has been taken for the interval `taken`.
    pub(super) fn trim(&mut self, taken: Interval, still_free: impl Fn(&Slot<H>) -> Interval) {
        for Freed { slot, refused, .. } in &mut self.slots {
            let Interval { from, to } = slot.interval;
            let covers_an_end = taken.from <= from || to <= taken.to;
            if taken.overlaps(slot.interval) && covers_an_end {
                slot.interval = still_free(slot);
                if slot.interval.from > from {
                    refused.begin_at(slot.interval.from);
                }
            }
        }
        self.slots.retain(|one| !one.slot.interval.is_empty());
    }

    /// Returns the slots numbered `number` and higher.
    pub(super) fn since(&mut self, number: u64) -> &mut [Freed<H>] {
        let first = self.slots.partition_point(|one| one.number < number);
        &mut self.slots[first..]
    }
}

/// Sorts intervals and trims them so that they are disjoint. Takes O(k log k) time for k intervals.
pub(super) fn disjoint(mut periods: Vec<Interval>) -> impl Iterator<Item = Interval> {
    periods.sort_unstable_by_key(|one| one.from);
    let mut seen = Time::ZERO;
    periods.into_iter().filter_map(move |one| {
        let unseen = one.after(seen);
        seen = seen.max(one.to);
        (!unseen.is_empty()).then_some(unseen)
    })
}

/// The largest part of a job that may fit near a freed slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MayFit {
    /// No node in the slot is free for long enough.
    Nothing,
    /// A node in the slot is free, but the largest box contained in all allowed boxes would not fit
    /// even with its sides halved.
    Node,
    /// The common box would fit with its sides halved, but not in full.
    Half,
    Job,
}

/// Released slots. To fit, a job must use a node in one of them.
pub(super) struct FreedSlots<'a, H> {
    slots: &'a [(&'a Slot<H>, Cell<MayFit>)],
}

impl<H> Clone for FreedSlots<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for FreedSlots<'_, H> {}

impl<'a, H> FreedSlots<'a, H> {
    pub(super) fn new(slots: &'a [(&'a Slot<H>, Cell<MayFit>)]) -> FreedSlots<'a, H> {
        FreedSlots { slots }
    }

    /// Records that the job was not tested near any slot that overlaps `period`.
    pub(super) fn skip(self, period: Interval) {
        let slots = self.slots.iter().filter(|(slot, _)| slot.interval.overlaps(period));
        slots.for_each(|(_, fits)| fits.set(MayFit::Job));
    }
}

/// A freed box with a node that is free for a job's whole run.
type Live<'a> = (&'a Cuboid, &'a Cell<MayFit>);

impl<'a> FreedSlots<'a, Placement> {
    /// Returns true if some node that is free throughout an interval was freed for part of it. If
    /// there is no such node, any request refused earlier would be refused again. Takes O(rows of
    /// the freed nodes) time.
    pub(super) fn reach(self, throughout: Interval, free: &Occupancy) -> bool {
        let live = self.live(throughout, free);
        for (_, fits) in &live {
            fits.set(MayFit::Job);
        }
        !live.is_empty()
    }

    /// Returns true if a box of one of these sizes is free throughout an interval. Assumes that no
    /// such box was free before the slots were freed, so any box found must contain a freed node.
    ///
    /// Searches first for the boxes' intersection with its sides halved, and then for the full
    /// intersection. Usually neither is free. The smaller the box that is not found, the more other
    /// jobs are ruled out.
    pub(super) fn opens_box(
        self,
        throughout: Interval,
        free: &Occupancy,
        sides: &[Sides],
        bases: &mut BaseSet,
    ) -> bool {
        let live = self.live(throughout, free);
        if live.is_empty() {
            return false;
        }
        let mut loaded = false;
        let mut opens = |sides: Sides| opens(free, &live, sides, (bases, &mut loaded));
        let core = common(sides);
        let learns = live.iter().any(|(_, fits)| fits.get() < MayFit::Half);
        if core.is_some_and(|core| learns && !opens(half(core))) {
            return false;
        }
        for (_, fits) in &live {
            fits.set(fits.get().max(MayFit::Half));
        }
        if core.is_some_and(|core| sides.len() > 1 && !opens(core)) {
            return false;
        }
        for (_, fits) in &live {
            fits.set(MayFit::Job);
        }
        sides.iter().any(|sides| opens(*sides))
    }

    /// Returns the boxes that were freed for part of an interval and contain a node that is free
    /// for the whole interval.
    fn live(self, throughout: Interval, free: &Occupancy) -> Vec<Live<'a>> {
        let slots = self.slots.iter().filter(|(slot, _)| slot.interval.overlaps(throughout));
        let parts = slots.flat_map(|(slot, fits)| slot.held.parts().iter().map(move |p| (p, fits)));
        let live: Vec<Live<'a>> = parts.filter(|(part, _)| !free.is_taken(part)).collect();
        for (_, fits) in &live {
            fits.set(fits.get().max(MayFit::Node));
        }
        live
    }
}

/// Returns true if a free box contains a freed node. False positives are possible.
///
/// Searches the rows around the freed nodes or all rows of the machine (`bases`), whichever are
/// fewer. Reads O(log s) words per row for sides of length s.
fn opens(
    free: &Occupancy,
    live: &[Live<'_>],
    sides: Sides,
    (bases, loaded): (&mut BaseSet, &mut bool),
) -> bool {
    let grid = free.grid();
    if !grid.fits(sides) {
        return false;
    }
    let around = || live.iter().map(|(freed, _)| freed.around(grid, sides));
    if around().map(|near| rows(&near)).sum::<u32>() < rows(&Cuboid::whole(grid)) {
        return around().any(|near| BaseSet::within(free, &near).find_loaded(sides).is_some());
    }
    if !*loaded {
        bases.load(free);
        *loaded = true;
    }
    bases.find_loaded(sides).is_some()
}

fn rows(cuboid: &Cuboid) -> u32 {
    u32::from(cuboid.sides[1]) * u32::from(cuboid.sides[2])
}

#[cfg(test)]
mod tests {
    use super::super::slot::begins_near;
    use super::*;

    fn stretch(from: u64, to: u64) -> Interval {
        Interval { from: Time(from), to: Time(to) }
    }

    #[test]
    fn a_job_can_begin_where_it_runs_while_something_is_freed() {
        let slots = [stretch(20, 30), stretch(10, 15), stretch(1, 2), stretch(12, 14)];
        // A job from 8 to 11 overlaps the slot at 10; one from 14 to 21 overlaps the slot at 20.
        let begins = |first: usize, estimate| {
            let near = slots[first..].iter().map(|slot| begins_near(*slot, Time(estimate)));
            disjoint(near.collect()).collect::<Vec<_>>()
        };
        assert_eq!(begins(0, 3), [stretch(0, 2), stretch(8, 15), stretch(18, 30)]);
        assert_eq!(begins(0, 7), [stretch(0, 2), stretch(4, 15), stretch(15, 30)]);
        assert_eq!(begins(0, 0), [stretch(1, 2), stretch(10, 15), stretch(20, 30)]);
        assert_eq!(begins(2, 3), [stretch(0, 2), stretch(10, 14)]);
        assert_eq!(begins(4, 3), []);
    }

    #[test]
    fn a_round_has_the_slots_released_since_the_previous_one_began() {
        let mut freed = FreedNodes::default();
        let add = |freed: &mut FreedNodes<()>, from| {
            freed.add(Slot { interval: stretch(from, from + 2), held: () });
        };
        let begins = |freed: &mut FreedNodes<()>, number| {
            freed.since(number).iter().map(|one| one.slot.interval.from.0).collect::<Vec<_>>()
        };
        assert!(!freed.next_round());
        add(&mut freed, 7);
        add(&mut freed, 3);
        assert!(freed.next_round());
        add(&mut freed, 1);
        assert_eq!((begins(&mut freed, 0), freed.end()), (vec![7, 3, 1], Time(9)));
        assert_eq!((begins(&mut freed, 1), freed.given()), (vec![3, 1], 3));
        assert!(freed.next_round());
        assert_eq!((begins(&mut freed, 0), freed.end()), (vec![1], Time(3)));
        add(&mut freed, 5);
        // Everything released in this round is taken again, but there is still another round.
        freed.trim(stretch(5, 9), |slot| Interval { from: slot.interval.to, ..slot.interval });
        assert_eq!(begins(&mut freed, 0), [1]);
        assert!(freed.next_round() && begins(&mut freed, 0).is_empty());
        assert!(!freed.next_round());
    }

    #[test]
    fn a_slot_that_begins_later_keeps_the_refusals_that_reach_it() {
        let mut freed = FreedNodes::default();
        freed.add(Slot { interval: stretch(10, 30), held: () });
        for (estimate, until) in [(4, 15), (9, 18)] {
            freed.since(0)[0].refused.learn_length(Time(estimate), Time(until));
        }
        // A job of length 4 that begins before 15 ends before 20; one of length 9 may end later.
        freed.trim(stretch(0, 20), |slot| Interval { from: Time(20), ..slot.interval });
        let refused = &freed.since(0)[0].refused;
        assert_eq!([4, 8, 9].map(|estimate| refused.of_length(Time(estimate)).0), [0, 0, 18]);
        // Taking only the middle of a slot does not shorten it.
        freed.trim(stretch(22, 25), |_| panic!("the ends are still free"));
    }

    #[test]
    fn freed_nodes_reach_a_job_that_runs_then_on_one_of_them() {
        let part = |x: u16| Cuboid::new([x, 0], [2, 1]);
        let one = Slot { interval: stretch(5, 9), held: Placement::Whole(part(0)) };
        let nothing = || Cell::new(MayFit::Nothing);
        let slots = [(&one, nothing())];
        let reach = |slots: &[(&Slot<Placement>, _)], throughout, free: &Occupancy| {
            FreedSlots::new(slots).reach(throughout, free)
        };
        let mut free = Occupancy::all_free("mesh:6x1".parse().unwrap());
        assert!(reach(&slots, stretch(8, 20), &free) && reach(&slots, stretch(0, 6), &free));
        assert!(!reach(&slots, stretch(9, 20), &free) && !reach(&slots, stretch(0, 5), &free));
        free.take(&part(0)).unwrap();
        assert!(!reach(&slots, stretch(8, 20), &free));
        let held = Placement::Parts(vec![part(0), part(4)]);
        let other = Slot { interval: stretch(9, 10), held };
        let slots = [(&one, nothing()), (&other, nothing())];
        assert!(reach(&slots, stretch(8, 20), &free) && !reach(&slots, stretch(8, 9), &free));
    }

    #[test]
    fn tests_of_a_job_show_what_may_fit() {
        use MayFit::{Half, Job, Node, Nothing};
        // Columns 0 and 1 were freed; column 1 is two nodes high, and column 0 is taken again.
        let grid = "mesh:6x3".parse().unwrap();
        let mut free = Occupancy::all_free(grid);
        free.take(&Cuboid::new([0, 0], [1, 3])).unwrap();
        free.take(&Cuboid::new([1, 2], [5, 1])).unwrap();
        let column = |x: u16| Placement::Whole(Cuboid::new([x, 0], [1, 3]));
        let slot = |x, interval| Slot { interval, held: column(x) };
        let slots = [slot(0, stretch(0, 9)), slot(1, stretch(0, 9)), slot(1, stretch(9, 12))];
        let seen = |sides: &[Sides]| {
            let slots = slots.each_ref().map(|slot| (slot, Cell::new(MayFit::Nothing)));
            let mut bases = BaseSet::new(grid);
            let freed = FreedSlots::new(&slots);
            let opens = freed.opens_box(stretch(0, 9), &free, sides, &mut bases);
            (opens, slots.map(|(_, fits)| fits.get()))
        };
        assert_eq!(seen(&[[3, 2, 1], [2, 3, 1]]), (true, [Nothing, Job, Nothing]));
        assert_eq!(seen(&[[6, 2, 1], [2, 6, 1]]), (false, [Nothing, Job, Nothing]));
        assert_eq!(seen(&[[3, 3, 1], [3, 4, 1]]), (false, [Nothing, Half, Nothing]));
        assert_eq!(seen(&[[2, 5, 1], [5, 5, 1]]), (false, [Nothing, Node, Nothing]));
        let slots = slots.each_ref().map(|slot| (slot, Cell::new(Nothing)));
        FreedSlots::new(&slots).skip(stretch(5, 9));
        assert_eq!(slots.map(|(_, fits)| fits.get()), [Job, Job, Nothing]);
    }
}
