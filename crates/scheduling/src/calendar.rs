//! Reservations ahead: nodes that are kept free of jobs from one time to another.
//!
//! A maintenance or a deadline run has its nodes reserved beforehand. A job that starts is said to
//! run for its estimate, and for a tick at least. It may start on nodes that are open to it: those
//! that are not reserved at any time until then.
//!
//! ```text
//!   x  0 1 2 3      nodes 2 and 3 are reserved from 10 to 20. At 4 a job of 6 may start anywhere;
//!      . . r r      one of 7 reaches into the reservation, and may start on 0 and 1 alone.
//! ```
//!
//! No job is ended for a reservation. A job that outruns its estimate, or that ran before the
//! reservation was made, keeps its nodes until it ends; then they are kept free.
//!
//! Invariant: reservations are in the order (begin, number), and none of them is over.
//!
//! Cost: a question is O(R) for R reservations, and O(R N/64) words for the nodes that they leave.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, Occupancy};
use thiserror::Error;

/// Nodes that are kept free of jobs from one time to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvanceReservation {
    number: u64,
    from: Time,
    to: Time,
    nodes: Placement,
    /// All nodes but the reserved ones.
    others: Occupancy,
}

/// Why nodes cannot be reserved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadReservation {
    /// It is over when it begins.
    #[error("a reservation ends after it begins")]
    NoTime,
    /// It has no box.
    #[error("a reservation has at least one node")]
    NoNodes,
    /// A box does not lie on the machine.
    #[error("the box at {:?} of {:?} does not lie on {grid}", part.base, part.sides)]
    Outside {
        /// The box.
        part: Cuboid,
        /// The machine.
        grid: Grid,
    },
    /// The machine is another one.
    #[error("the reservation is of {0}, and not of this machine")]
    OtherMachine(Grid),
}

impl AdvanceReservation {
    /// A reservation of some boxes, which may overlap, from one time to another, the end excluded.
    /// Its number tells it from others of a calendar. O(N).
    ///
    /// # Errors
    /// If it has no time or no nodes, or a box does not lie on the machine.
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

    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// When its nodes are to be free.
    pub fn from(&self) -> Time {
        self.from
    }

    /// When jobs may run on them again.
    pub fn to(&self) -> Time {
        self.to
    }

    /// Its boxes, as they were given.
    pub fn boxes(&self) -> &[Cuboid] {
        self.nodes.parts()
    }

    /// All nodes of the machine but its own.
    pub fn others(&self) -> &Occupancy {
        &self.others
    }

    /// Whether it covers a part of the time from `at` until `end`.
    fn meets(&self, at: Time, end: Time) -> bool {
        self.from < end && at < self.to
    }
}

/// How far a job reaches: the number of reservations, in their order, that begin before it is said
/// to end. Jobs of one reach have the same nodes open to them now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reach(usize);

impl Reach {
    /// Before any reservation.
    pub const NONE: Reach = Reach(0);
}

/// The reservations ahead of a machine.
///
/// ```
/// use pavior_kernel::Time;
/// use pavior_mesh::{Cuboid, Grid, Occupancy};
/// use pavior_scheduling::{AdvanceReservation, Calendar};
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
    /// How often one was added or removed, or was over.
    state: u64,
}

impl Calendar {
    /// Whether nothing is reserved.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ahead.is_empty()
    }

    /// The reservations by begin, ties by number.
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

    /// Takes out a reservation; `None` if there is none of that number.
    pub fn remove(&mut self, number: u64) -> Option<AdvanceReservation> {
        let place = self.ahead.iter().position(|other| other.number == number)?;
        self.state += 1;
        Some(self.ahead.remove(place))
    }

    /// Forgets the reservations that are over.
    #[inline]
    pub fn pass(&mut self, now: Time) {
        if !self.ahead.is_empty() {
            let before = self.ahead.len();
            self.ahead.retain(|reservation| reservation.to > now);
            self.state += (before - self.ahead.len()) as u64;
        }
    }

    /// The next time after `now` at which a reservation begins or ends.
    pub fn next_change(&self, now: Time) -> Option<Time> {
        let times = self.ahead.iter().flat_map(|reservation| [reservation.from, reservation.to]);
        times.filter(|at| *at > now).min()
    }

    /// How far a job of an estimate reaches that starts now.
    #[inline]
    pub fn reach(&self, now: Time, estimate: Time) -> Reach {
        if self.ahead.is_empty() {
            return Reach::NONE;
        }
        let end = end(now, estimate);
        Reach(self.ahead.partition_point(|reservation| reservation.from < end))
    }

    /// The boxes that are reserved at some time of a job's estimated run from `at` on; `None` if
    /// there are none.
    pub fn reserved(&self, at: Time, estimate: Time) -> Option<Placement> {
        let parts: Vec<Cuboid> =
            self.met(at, estimate).flat_map(|met| met.boxes().iter().copied()).collect();
        (!parts.is_empty()).then_some(Placement::Parts(parts))
    }

    /// Takes the nodes out of a set that are reserved at some time of a job's estimated run from
    /// `at` on. O(R N/64).
    ///
    /// # Panics
    /// If the nodes are those of another grid.
    pub fn keep_open(&self, at: Time, estimate: Time, free: &mut Occupancy) {
        for met in self.met(at, estimate) {
            free.keep(&met.others).expect("a calendar is of one machine");
        }
    }

    /// The first reservation that a job would reach into if it ran on some nodes from `at` on.
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

    /// The reservations that a job meets in time, wherever it runs.
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

    /// When reservations end, after `now`, in order.
    pub(crate) fn ends(&self, now: Time) -> Vec<Time> {
        let mut ends: Vec<Time> =
            self.ahead.iter().map(|one| one.to).filter(|to| *to > now).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// A number that changes with every reservation that is added, is removed or is over.
    #[inline]
    pub(crate) fn state(&self) -> u64 {
        self.state
    }
}

/// When a job is said to end. It has its nodes for a tick at least.
fn end(at: Time, estimate: Time) -> Time {
    at.saturating_add(estimate.max(Time(1)))
}
