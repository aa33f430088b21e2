//! The nodes that were freed, with the periods for which they were freed. A previously refused job
//! with monotone answers can fit now only if it uses one of these nodes for part of its run.
//!
//! Cost: O(1) to add a slot; O(rows of the freed nodes) per question.

use pavior_allocation::{Placement, Sides};
use pavior_kernel::Time;
use pavior_mesh::{BaseSet, Cuboid, Occupancy};

use super::fast::first_begin_reaching;
use super::slot::{Interval, Slot};

/// The released slots, in order.
pub(super) struct FreedNodes<H> {
    slots: Vec<Slot<H>>,
    end: Time,
}

impl<H> Default for FreedNodes<H> {
    fn default() -> FreedNodes<H> {
        FreedNodes { slots: Vec::new(), end: Time::ZERO }
    }
}

impl<H> FreedNodes<H> {
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the time when the latest slot ends.
    pub(super) fn end(&self) -> Time {
        self.end
    }

    pub(super) fn add(&mut self, slot: Slot<H>) {
        self.end = self.end.max(slot.interval.to);
        self.slots.push(slot);
    }

    /// Returns the number of slots so far.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the slots from an index on.
    pub(super) fn since(&self, first: usize) -> FreedSince<'_, H> {
        FreedSince { slots: &self.slots[first..] }
    }

    /// Returns the times at which a job can begin so that it overlaps one of the slots from an
    /// index on, as disjoint periods in order. O(k log k) for k slots.
    pub(super) fn begins_since(
        &self,
        first: usize,
        estimate: Time,
    ) -> impl Iterator<Item = Interval> + use<H> {
        let mut since: Vec<Interval> = self.slots[first..].iter().map(|one| one.interval).collect();
        since.sort_unstable_by_key(|one| one.from);
        let mut seen = Time::ZERO;
        since.into_iter().filter_map(move |freed| {
            let from = first_begin_reaching(freed.from, estimate).max(seen);
            seen = seen.max(freed.to);
            (from < freed.to).then_some(Interval { from, to: freed.to })
        })
    }
}

/// Released slots, from an index on.
pub(super) struct FreedSince<'a, H> {
    slots: &'a [Slot<H>],
}

impl<H> Clone for FreedSince<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for FreedSince<'_, H> {}

impl<'a> FreedSince<'a, Placement> {
    /// Returns true if any node that is free throughout a period was freed for part of it. If not,
    /// requests that were refused before are still refused. O(rows of the freed nodes).
    pub(super) fn reach(self, throughout: Interval, free: &Occupancy) -> bool {
        self.boxes(throughout, free).next().is_some()
    }

    /// Returns true if a box with one of these side lengths is free throughout a period, given that
    /// no such box was free before. Such a box must contain a freed node.
    ///
    /// Searches either the rows around the freed nodes, or all rows of the machine (`bases`),
    /// whichever are fewer. Each row costs O(log of the sides) words.
    pub(super) fn opens_box(
        self,
        throughout: Interval,
        free: &Occupancy,
        sides: &[Sides],
        bases: &mut BaseSet,
    ) -> bool {
        let grid = *free.grid();
        let all_rows = rows(&Cuboid::whole(&grid));
        let mut loaded = false;
        sides.iter().filter(|sides| grid.fits(**sides)).any(|&sides| {
            let (mut around, mut row_count) = (Vec::new(), 0);
            let mut freed = self.boxes(throughout, free);
            while row_count < all_rows {
                let Some(freed) = freed.next() else {
                    return around
                        .iter()
                        .any(|around| BaseSet::within(free, around).find_loaded(sides).is_some());
                };
                let near = freed.around(&grid, sides);
                row_count += rows(&near);
                around.push(near);
            }
            if !loaded {
                bases.load(free);
                loaded = true;
            }
            bases.find_loaded(sides).is_some()
        })
    }

    /// Returns the boxes that were freed for part of a period and contain a node that is free
    /// throughout.
    fn boxes(self, throughout: Interval, free: &Occupancy) -> impl Iterator<Item = &'a Cuboid> {
        let slots = self.slots.iter().filter(move |slot| slot.interval.overlaps(throughout));
        slots.flat_map(|slot| slot.held.parts()).filter(|freed| !free.is_taken(freed))
    }
}

fn rows(cuboid: &Cuboid) -> u32 {
    u32::from(cuboid.sides[1]) * u32::from(cuboid.sides[2])
}

#[cfg(test)]
mod tests {
    use pavior_mesh::Cuboid;

    use super::*;

    fn stretch(from: u64, to: u64) -> Interval {
        Interval { from: Time(from), to: Time(to) }
    }

    #[test]
    fn a_job_can_begin_where_it_runs_while_something_is_freed() {
        let mut freed = FreedNodes::default();
        for interval in [stretch(20, 30), stretch(10, 15), stretch(1, 2), stretch(12, 14)] {
            freed.add(Slot { interval, held: () });
        }
        assert_eq!((freed.len(), freed.end()), (4, Time(30)));
        // A job of length 3 that begins at 8 runs at 10; one of 7 that begins at 14 runs at 20.
        let begins =
            |first, estimate| freed.begins_since(first, Time(estimate)).collect::<Vec<_>>();
        assert_eq!(begins(0, 3), [stretch(0, 2), stretch(8, 15), stretch(18, 30)]);
        assert_eq!(begins(0, 7), [stretch(0, 2), stretch(4, 15), stretch(15, 30)]);
        assert_eq!(begins(0, 0), [stretch(1, 2), stretch(10, 15), stretch(20, 30)]);
        assert_eq!(begins(2, 3), [stretch(0, 2), stretch(10, 14)]);
        assert_eq!(begins(4, 3), []);
    }

    #[test]
    fn freed_nodes_reach_a_job_that_runs_then_on_one_of_them() {
        let part = |x: u16| Cuboid::new([x, 0], [2, 1]);
        let mut freed = FreedNodes::default();
        freed.add(Slot { interval: stretch(5, 9), held: Placement::Whole(part(0)) });
        let mut free = Occupancy::all_free("mesh:6x1".parse().unwrap());
        assert!(
            freed.since(0).reach(stretch(8, 20), &free)
                && freed.since(0).reach(stretch(0, 6), &free)
        );
        assert!(
            !freed.since(0).reach(stretch(9, 20), &free)
                && !freed.since(0).reach(stretch(0, 5), &free)
        );
        free.take(&part(0)).unwrap();
        assert!(!freed.since(0).reach(stretch(8, 20), &free));
        let held = Placement::Parts(vec![part(0), part(4)]);
        freed.add(Slot { interval: stretch(9, 10), held });
        assert!(
            freed.since(0).reach(stretch(8, 20), &free)
                && !freed.since(0).reach(stretch(8, 9), &free)
        );
    }
}
