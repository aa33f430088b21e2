//! Facts that are reported to observers during a run.

use pavior_allocation::{Placement, Refusal};
use pavior_kernel::Time;
use pavior_mesh::Occupancy;
use pavior_network::{Delivery, IterationRoutes, MessageTotals};
use pavior_scheduling::Attempt;
use pavior_workload::Job;

/// An event reported to observers.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// Averages are reset. Reported at the start of the run and again after the warm-up.
    CountingStarts,
    /// A job arrived and is waiting.
    Arrived(&'a Job),
    /// A job was rejected on arrival because it can never fit.
    Rejected(&'a Job, Refusal),
    /// A scheduler checked whether a job could start.
    Attempted(Attempt),
    /// A job started.
    Started {
        /// The job.
        job: &'a Job,
        /// The job's nodes.
        placement: &'a Placement,
        /// The free nodes after the start.
        free: &'a Occupancy,
    },
    /// A job that sends messages started.
    Routed {
        /// The job.
        job: &'a Job,
        /// The links that one iteration of the job's pattern crosses.
        routes: &'a IterationRoutes,
    },
    /// A job is about to start later than first promised, even though no node failed.
    GuaranteeBroken(&'a Job),
    /// A job departed.
    Departed {
        /// The job.
        job: &'a Job,
        /// The start time.
        start: Time,
        /// The nodes that the job held.
        placement: &'a Placement,
        /// The free nodes after the departure.
        free: &'a Occupancy,
    },
    /// A running job moved to other nodes to make room for the oldest waiting job.
    Moved {
        /// The job.
        job: &'a Job,
        /// The start time.
        start: Time,
        /// The job's previous nodes.
        from: &'a Placement,
        /// The job's new nodes.
        to: &'a Placement,
        /// The time by which the move extends the job's run.
        price: Time,
        /// The free nodes after the move.
        free: &'a Occupancy,
    },
    /// A failure interrupted a job, which released its nodes and is waiting again.
    Interrupted {
        /// The job.
        job: &'a Job,
        /// The start time.
        start: Time,
        /// The nodes that the job held.
        placement: &'a Placement,
        /// The free nodes after the interruption.
        free: &'a Occupancy,
    },
    /// The run has started or the machine has changed. Reports whether the slice in
    /// [`Setup`](crate::Setup) could have been granted at the end of the instant.
    Slice {
        /// True if the slice could have been granted with no jobs running.
        alone: bool,
        /// True if the slice could have been granted alongside the running jobs.
        beside: bool,
    },
    /// A message was delivered. If no observer wants this fact, the messages of a job that is alone
    /// on the network are not always simulated.
    Delivered(&'a Delivery),
    /// The network totals since counting started. Reported at the end of a run with a network.
    Carried(&'a MessageTotals),
    /// The run has ended.
    Ended,
}

/// A set of kinds of facts that an observer receives, in addition to [`Fact::CountingStarts`] and
/// [`Fact::Ended`].
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
    /// Changes to the nodes that jobs hold: starts, moves, departures and interruptions.
    pub const HOLDINGS: Interest = Interest(4 | 8 | 128);
    /// [`Fact::Delivered`].
    pub const DELIVERIES: Interest = Interest(16);
    /// [`Fact::Carried`].
    pub const TRAFFIC: Interest = Interest(32);
    /// [`Fact::Routed`]. Cost: whenever a job starts, every message in one iteration of its pattern
    /// is visited.
    pub const ROUTES: Interest = Interest(64);
    /// [`Fact::Slice`].
    pub const SLICES: Interest = Interest(256);
    /// All facts about jobs.
    pub const JOBS: Interest = Interest(15 | 128);

    /// Returns the kind of a fact, or `None` for facts that all observers receive.
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

    /// Returns the individual kinds.
    pub(crate) fn kinds() -> impl Iterator<Item = Interest> {
        (0..Interest::KINDS).map(|index| Interest(1 << index))
    }

    /// Returns the index of a single kind among the [kinds](Interest::kinds).
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

/// An observer of a run, which it cannot affect. Runs and observers may move between threads.
pub trait Observer: Send {
    /// Returns the kinds of facts that the observer wants. Called once, at the start of the run.
    fn interest(&self) -> Interest;

    /// Receives a fact that occurred at `now`.
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
