//! What happens in a run, as its observers are told of it.

use pavior_allocation::{Placement, Refusal};
use pavior_kernel::Time;
use pavior_mesh::Occupancy;
use pavior_network::{Delivery, IterationRoutes, MessageTotals};
use pavior_scheduling::Attempt;
use pavior_workload::Job;

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// Averages start here: at the beginning of the run, and again when the warm-up ends.
    CountingStarts,
    /// A job arrived and waits.
    Arrived(&'a Job),
    /// A job arrived that can never fit.
    Rejected(&'a Job, Refusal),
    /// A scheduler asked whether a job could start.
    Attempted(Attempt),
    /// A job started.
    Started {
        /// The job.
        job: &'a Job,
        /// What it holds.
        placement: &'a Placement,
        /// The free nodes after its start.
        free: &'a Occupancy,
    },
    /// A job that sends messages started: what an iteration of its pattern asks of the links.
    Routed {
        /// The job.
        job: &'a Job,
        /// The links that its messages cross.
        routes: &'a IterationRoutes,
    },
    /// A job is about to start later than its scheduler first promised, though no node failed.
    GuaranteeBroken(&'a Job),
    /// A job departed.
    Departed {
        /// The job.
        job: &'a Job,
        /// When it started.
        start: Time,
        /// What it held.
        placement: &'a Placement,
        /// The free nodes after its departure.
        free: &'a Occupancy,
    },
    /// A running job moved to other nodes, so that the oldest waiting job fits.
    Moved {
        /// The job.
        job: &'a Job,
        /// When it started.
        start: Time,
        /// What it held before.
        from: &'a Placement,
        /// What it holds now.
        to: &'a Placement,
        /// How much longer it runs for it.
        price: Time,
        /// The free nodes after the move.
        free: &'a Occupancy,
    },
    /// A job was hit by a failure, gave up its nodes, and waits again.
    Interrupted {
        /// The job.
        job: &'a Job,
        /// When it started.
        start: Time,
        /// What it held.
        placement: &'a Placement,
        /// The free nodes after that.
        free: &'a Occupancy,
    },
    /// The machine has changed, or the run begins: whether the slice of the [`Setup`](crate::Setup)
    /// could be granted now that the instant is over.
    Slice {
        /// Were no job running.
        alone: bool,
        /// Beside the jobs that run.
        beside: bool,
    },
    /// A message was delivered. If no observer wants this, jobs that are alone on the network need
    /// not be simulated message by message.
    Delivered(&'a Delivery),
    /// What the network has carried since counting started; at the end of a run with a network.
    Carried(&'a MessageTotals),
    /// The run is over.
    Ended,
}

/// The kinds of facts that an observer wants to be told of, besides [`Fact::CountingStarts`] and
/// [`Fact::Ended`], of which all are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(u16);

impl Interest {
    pub(crate) const KINDS: usize = 9;

    /// [`Fact::Arrived`] and [`Fact::Rejected`].
    pub const ARRIVALS: Interest = Interest(1);
    /// [`Fact::Attempted`].
    pub const ATTEMPTS: Interest = Interest(2);
    /// [`Fact::Started`] and [`Fact::GuaranteeBroken`].
    pub const STARTS: Interest = Interest(4);
    /// [`Fact::Departed`] and [`Fact::Interrupted`].
    pub const DEPARTURES: Interest = Interest(8);
    /// [`Fact::Moved`].
    pub const MOVES: Interest = Interest(128);
    /// The changes of who holds what: starts, moves and departures.
    pub const HOLDINGS: Interest = Interest(4 | 8 | 128);
    /// [`Fact::Delivered`].
    pub const DELIVERIES: Interest = Interest(16);
    /// [`Fact::Carried`].
    pub const TRAFFIC: Interest = Interest(32);
    /// [`Fact::Routed`]. It costs a look at each message of an iteration of each job that starts.
    pub const ROUTES: Interest = Interest(64);
    /// [`Fact::Slice`].
    pub const SLICES: Interest = Interest(256);
    /// Everything that happens to jobs.
    pub const JOBS: Interest = Interest(15 | 128);

    /// What a fact is of; none if it is told to all.
    pub(crate) fn in_fact(fact: &Fact<'_>) -> Option<Interest> {
        Some(match fact {
            Fact::CountingStarts | Fact::Ended => return None,
            Fact::Arrived(_) | Fact::Rejected(..) => Interest::ARRIVALS,
            Fact::Attempted(_) => Interest::ATTEMPTS,
            Fact::Started { .. } | Fact::GuaranteeBroken(_) => Interest::STARTS,
            Fact::Departed { .. } | Fact::Interrupted { .. } => Interest::DEPARTURES,
            Fact::Moved { .. } => Interest::MOVES,
            Fact::Delivered(_) => Interest::DELIVERIES,
            Fact::Carried(_) => Interest::TRAFFIC,
            Fact::Routed { .. } => Interest::ROUTES,
            Fact::Slice { .. } => Interest::SLICES,
        })
    }

    pub(crate) fn includes(self, kind: Interest) -> bool {
        self.0 & kind.0 != 0
    }

    /// The kinds, each by itself.
    pub(crate) fn kinds() -> impl Iterator<Item = Interest> {
        (0..Interest::KINDS).map(|index| Interest(1 << index))
    }

    /// Which of the [kinds](Interest::kinds) this is, if it is one.
    pub(crate) fn index(self) -> usize {
        self.0.trailing_zeros() as usize
    }
}

impl std::ops::BitOr for Interest {
    type Output = Interest;
    fn bitor(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }
}

/// Someone who watches a run and cannot influence it. A run moves between threads with its
/// observers.
pub trait Observer: Send {
    /// Which facts it wants to be told of; asked once, at the beginning.
    fn interest(&self) -> Interest;

    /// Something happened at `now`.
    fn see(&mut self, now: Time, fact: &Fact<'_>);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_one_kind_is_told_of_no_other() {
        let named = [
            Interest::ARRIVALS,
            Interest::ATTEMPTS,
            Interest::STARTS,
            Interest::DEPARTURES,
            Interest::MOVES,
            Interest::DELIVERIES,
            Interest::TRAFFIC,
            Interest::ROUTES,
            Interest::SLICES,
        ];
        for one in named {
            for kind in Interest::kinds() {
                assert_eq!(one.includes(kind), one == kind, "{one:?}, {kind:?}");
            }
        }
        let mut indices = named.map(Interest::index);
        indices.sort_unstable();
        assert_eq!(indices, std::array::from_fn(|index| index));
        assert_eq!(named.len(), Interest::KINDS);
    }
}
