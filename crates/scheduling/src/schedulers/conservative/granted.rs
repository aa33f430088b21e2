//! Jobs that were granted nodes outside the queue, and bookings that give way to them.
//!
//! ```text
//!   time      0         4         8         a and b are booked on some nodes, x and y on others.
//!   nodes   0 . . g g g g . . . . .         g was granted outside the queue, and is expected to
//!           1 . . . . . b b b b . .         run until 6. It uses nodes of x, which it overlaps in
//!           2 a a a a a . . y y y .         time: x gives way, and is rebooked after y. The
//!                 x x x x x                 bookings of a, b and y stay.
//! ```
//!
//! Bookings are kept in queue order. Each booking is compared with the grant, first by time and
//! then by nodes. If bookings are node counts, the youngest ones give way until enough nodes are
//! left. Jobs whose bookings gave way are rebooked in order of arrival, and then all jobs move up.
//!
//! Cost: O(q) comparisons of intervals for q bookings, O(rows) words for each booking that overlaps
//! the grant in time, and one search for each booking that gives way.

use pavior_kernel::Time;

use super::rule::{Plan, Profile, give_rest};
use super::slot::{Interval, Slot};
use crate::MachineView;
use crate::shared::ends::Expected;

impl<P: Profile> Plan<P> {
    /// Takes slots for running jobs that were granted nodes outside the queue. Returns the indices
    /// of the bookings that had to give way, oldest first. Returns `None` if any of these running
    /// jobs holds nodes reserved in advance, which voids the whole plan.
    pub(super) fn take_granted(
        &mut self,
        expected: &Expected<'_>,
        view: &MachineView<'_>,
    ) -> Option<Vec<usize>> {
        let (now, running) = (expected.now, expected.running());
        let mut given_way = Vec::new();
        for &id in view.granted() {
            let known = self.running.contains_key(&id);
            let Some(granted) = running.get(id).filter(|_| !known) else { continue };
            let placement = view.machine().placement(id).expect("a running job holds nodes");
            if view.in_the_way(&granted.job, placement).is_some() {
                return None;
            }
            let to = expected.end(granted).max(now.saturating_add(Time(1)));
            let held = self.profile.held_by(id, view.machine());
            let slot = Slot { interval: Interval { from: now, to }, held };
            self.make_way(now, &slot, &mut given_way);
            self.profile.take(&slot);
            self.runs(id, slot);
        }
        given_way.sort_unstable();
        Some(given_way)
    }

    /// Releases the bookings that conflict with the slot `taken`, and voids the promises to their
    /// jobs.
    fn make_way(&mut self, now: Time, taken: &Slot<P::Held>, given_way: &mut Vec<usize>) {
        let nodes = self.profile.taken_by(taken);
        for (index, booking) in self.bookings.iter_mut().enumerate().rev() {
            let overlaps = |slot: &&Slot<P::Held>| slot.interval.overlaps(taken.interval);
            let Some(slot) = booking.slot.as_ref().filter(overlaps) else { continue };
            if self.profile.needs_any(slot, &nodes, taken) {
                give_rest(&mut self.profile, now, slot);
                (booking.slot, booking.promise) = (None, Time::MAX);
                given_way.push(index);
            }
        }
    }
}
