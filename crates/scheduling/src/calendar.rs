//! Advance reservations, which keep nodes free for a given period of time.
//!
//! Advance reservations are used for maintenance or for runs with a deadline. A job is expected to
//! run for exactly its estimate, or for one tick if the estimate is zero. The job may start only on
//! nodes that are open to it, that is, nodes not reserved at any time before its expected end.
//!
//! ```text
//!   x  0 1 2 3      nodes 2 and 3 are reserved from 10 to 20. At time 4, a job of length 6 may
//!      . . r r      start anywhere; one of length 7 would overlap, and may only use 0 and 1.
//! ```
//!
//! No job is killed to make way for a reservation. A job that outruns its estimate, or that started
//! before the reservation was made, keeps its nodes until it ends.
//!
//! Invariant: reservations are sorted by (start, number), and none has ended.
//!
//! Cost: O(R) per query for R reservations; finding the open nodes reads O(R N/64) words.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, Occupancy};
use thiserror::Error;

/// A set of nodes that is kept free of jobs for a given period of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvanceReservation {
    number: u64,
    from: Time,
    to: Time,
    nodes: Placement,
    /// All nodes except the reserved ones.
    others: Occupancy,
}

/// The reason why a reservation is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadReservation {
    /// The reservation ends no later than it starts.
    #[error("a reservation must end after it begins")]
    NoTime,
    /// The reservation has no boxes.
    #[error("a reservation must have at least one node")]
    NoNodes,
    /// A box extends beyond the machine.
    #[error("the box at {:?} with sides {:?} is not on {grid}", part.base, part.sides)]
    Outside {
        /// The box.
        part: Cuboid,
        /// The machine's grid.
        grid: Grid,
    },
    /// The reservation is for a different grid.
    #[error("the reservation is for {0}, not for this machine")]
    OtherMachine(Grid),
}

impl AdvanceReservation {
    /// Creates a reservation of boxes from `from` (inclusive) to `to` (exclusive). The boxes may
    /// overlap. `number` identifies the reservation in a calendar. Takes O(N) time for N nodes.
    ///
    /// # Errors
    /// Returns an error if the interval is empty, if there are no nodes, or if a box extends beyond
    /// the machine.
    pub fn new(
        number: u64,
        grid: &Grid,
        boxes: Vec<Cuboid>,
        (from, to): (Time, Time),
    ) -> Result<AdvanceReservation, BadReservation> {
        if from >= to {
            return Err(BadReservation::NoTime);
        }
        if boxes.is_empty() {
            return Err(BadReservation::NoNodes);
        }
        let mut others = Occupancy::all_free(*grid);
        let whole = others.clone();
        if let Some(outside) = boxes.iter().find(|part| !whole.is_free(part)) {
            return Err(BadReservation::Outside { part: *outside, grid: *grid });
        }
        for node in boxes.iter().flat_map(|part| part.nodes(grid)) {
            others.take_node(node);
        }
        Ok(AdvanceReservation { number, from, to, nodes: boxes.into(), others })
    }

    /// Returns the reservation's number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the time at which the reservation starts.
    pub fn from(&self) -> Time {
        self.from
    }

    /// Returns the time at which the reservation ends and its nodes become available to jobs again.
    pub fn to(&self) -> Time {
        self.to
    }

    /// Returns the boxes that were passed to [`AdvanceReservation::new`].
    pub fn boxes(&self) -> &[Cuboid] {
        self.nodes.parts()
    }

    /// Returns all nodes except the reserved ones.
    pub fn others(&self) -> &Occupancy {
        &self.others
    }

    /// Returns true if the reservation overlaps the interval from `at` to `end`.
    fn meets(&self, at: Time, end: Time) -> bool {
        self.from < end && at < self.to
    }
}

/// The number of reservations that begin before a job's expected end. At any given time, all jobs
/// with the same reach may use the same nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reach(usize);

impl Reach {
    /// The reach of a job that ends before any reservation begins.
    pub const NONE: Reach = Reach(0);
}

/// The advance reservations of a machine.
///
/// ```
/// # mod pavior { pub use pavior_scheduling as scheduling;
/// #     pub use {pavior_kernel::*, pavior_mesh::*}; }
/// use pavior::scheduling::{AdvanceReservation, Calendar};
/// use pavior::{Cuboid, Grid, Occupancy, Time};
/// let grid: Grid = "mesh:4".parse()?;
/// let right = vec![Cuboid::new([2, 0, 0], [2, 1, 1])];
/// let mut calendar = Calendar::default();
/// calendar.add(AdvanceReservation::new(1, &grid, right, (Time(10), Time(20)))?);
/// let open = |estimate| {
///     let mut free = Occupancy::all_free(grid);
///     calendar.keep_open(Time(4), Time(estimate), &mut free);
///     free.count()
/// };
/// assert_eq!((open(6), open(7)), (4, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    ahead: Vec<AdvanceReservation>,
    /// A counter that is incremented whenever a reservation is added, is removed, or expires.
    state: u64,
}

impl Calendar {
    /// Returns true if there are no reservations.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ahead.is_empty()
    }

    /// Returns the reservations, ordered by start time and then number.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &AdvanceReservation> {
        self.ahead.iter()
    }

    /// Adds a reservation. It may overlap others.
    pub fn add(&mut self, reservation: AdvanceReservation) {
        self.state += 1;
        let key = |one: &AdvanceReservation| (one.from, one.number);
        let place = self.ahead.partition_point(|other| key(other) < key(&reservation));
        self.ahead.insert(place, reservation);
    }

    /// Removes a reservation. Returns `None` if no reservation has this number.
    pub fn remove(&mut self, number: u64) -> Option<AdvanceReservation> {
        let place = self.ahead.iter().position(|other| other.number == number)?;
        self.state += 1;
        Some(self.ahead.remove(place))
    }

    /// Removes the reservations that have ended by `now`.
    #[inline]
    pub fn pass(&mut self, now: Time) {
        if !self.ahead.is_empty() {
            let before = self.ahead.len();
            self.ahead.retain(|reservation| reservation.to > now);
            self.state += (before - self.ahead.len()) as u64;
        }
    }

    /// Returns the next time after `now` at which a reservation begins or ends.
    pub fn next_change(&self, now: Time) -> Option<Time> {
        let times = self.ahead.iter().flat_map(|reservation| [reservation.from, reservation.to]);
        times.filter(|at| *at > now).min()
    }

    /// Returns the reach of a job that starts now and has this estimate.
    #[inline]
    pub fn reach(&self, now: Time, estimate: Time) -> Reach {
        if self.ahead.is_empty() {
            return Reach::NONE;
        }
        let end = end(now, estimate);
        Reach(self.ahead.partition_point(|reservation| reservation.from < end))
    }

    /// Returns the boxes reserved at any time during the estimated run of a job that starts at
    /// `at`, or `None` if no boxes are reserved.
    pub fn reserved(&self, at: Time, estimate: Time) -> Option<Placement> {
        let parts: Vec<Cuboid> =
            self.met(at, estimate).flat_map(|met| met.boxes().iter().copied()).collect();
        (!parts.is_empty()).then_some(Placement::Parts(parts))
    }

    /// Removes from `free` the nodes reserved at any time during the estimated run of a job that
    /// starts at `at`. Takes O(R N/64) time.
    ///
    /// # Panics
    /// Panics if the nodes are on another grid.
    pub fn keep_open(&self, at: Time, estimate: Time, free: &mut Occupancy) {
        for met in self.met(at, estimate) {
            free.keep(&met.others).expect("a calendar belongs to one machine");
        }
    }

    /// Returns the first reservation that prevents a job from starting on these nodes at `at`.
    pub fn in_the_way(
        &self,
        at: Time,
        estimate: Time,
        nodes: &Placement,
    ) -> Option<&AdvanceReservation> {
        let is_open =
            |met: &AdvanceReservation| nodes.parts().iter().all(|part| met.others.is_free(part));
        self.met(at, estimate).find(|met| !is_open(met))
    }

    /// Returns the reservations that overlap a job in time, regardless of which nodes they reserve.
    pub(crate) fn met(
        &self,
        at: Time,
        estimate: Time,
    ) -> impl Iterator<Item = &AdvanceReservation> {
        let end = end(at, estimate);
        self.ahead
            .iter()
            .take_while(move |one| one.from < end)
            .filter(move |one| one.meets(at, end))
    }

    /// Returns the times after `now` at which reservations end, in order.
    pub(crate) fn ends(&self, now: Time) -> Vec<Time> {
        let mut ends: Vec<Time> =
            self.ahead.iter().map(|one| one.to).filter(|to| *to > now).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// Returns a number that changes whenever a reservation is added, is removed, or expires.
    #[inline]
    pub(crate) fn state(&self) -> u64 {
        self.state
    }
}

/// Returns a job's expected end. A job holds its nodes for at least one tick.
fn end(at: Time, estimate: Time) -> Time {
    at.saturating_add(estimate.max(Time(1)))
}
