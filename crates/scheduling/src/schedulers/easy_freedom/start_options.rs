//! The options for starting one job, one per level of freedom, and the cheapest of them.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Freedom, Request};
use pavior_workload::Job;

use super::price::Price;

/// A time at which a job can start, and the job's placement at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StartOption {
    pub(super) at: Time,
    pub(super) placement: Placement,
    /// The job's extra run time on these nodes, relative to its requested box.
    pub(super) added: Time,
}

/// The machine in its current state, or in the state expected at a later time.
pub(super) trait MachineAt {
    /// Returns the strategy's placement for a request.
    fn place(&mut self, request: &Request) -> Option<Placement>;

    /// Returns the job's extra run time on these nodes, relative to its requested box, or `None` if
    /// the job may not start on these nodes.
    fn added_time(&mut self, placement: &Placement) -> Option<Time>;
}

/// A search, in order of time, for a job's cheapest option.
///
/// A level of freedom stays open until a start is found at that level. Freer levels allow every
/// placement that tighter levels allow, so they close no later.
pub(super) struct StartOptions {
    now: Time,
    request: Request,
    price: Price,
    /// The number of open levels, which are the tightest ones in [`Freedom::ALL`].
    open: usize,
    best: Option<StartOption>,
}

impl StartOptions {
    /// Creates a search through all levels up to the job's own, or [`Freedom::Any`] if it has none.
    pub(super) fn new(now: Time, job: &Job, price: Price) -> StartOptions {
        let most = job.request.freedom.unwrap_or(Freedom::Any);
        let open = Freedom::ALL.iter().filter(|level| **level <= most).count();
        StartOptions { now, request: job.request, price, open, best: None }
    }

    /// Adds the options at `at`, which must not be earlier than any time already considered.
    pub(super) fn consider(&mut self, at: Time, machine: &mut impl MachineAt) {
        if self.is_decided(at) {
            return;
        }
        let (freest, tighter) = Freedom::ALL[..self.open].split_last().expect("a level is open");
        let asked = |level: Freedom| self.request.with_freedom(level);
        // A request that is refused at the freest level is refused at all levels.
        let Some(freest) = machine.place(&asked(*freest)) else { return };
        let tighter = tighter.iter().map(|level| asked(*level)).collect::<Vec<_>>();
        for (index, request) in tighter.iter().map(Some).chain([None]).enumerate() {
            let placement =
                request.map_or_else(|| Some(freest.clone()), |tight| machine.place(tight));
            let added = placement.as_ref().and_then(|placement| machine.added_time(placement));
            let Some((placement, added)) = placement.zip(added) else { continue };
            self.open = self.open.min(index);
            self.add(StartOption { at, placement, added });
            if added == Time::ZERO {
                // Freer levels cannot cost less.
                return;
            }
        }
    }

    pub(super) fn add(&mut self, option: StartOption) {
        let rank = |option: &StartOption| (self.cost(option), option.at);
        if self.best.as_ref().is_none_or(|best| rank(&option) < rank(best)) {
            self.best = Some(option);
        }
    }

    /// Returns true if no option at `from` or later can cost less than the best option so far.
    pub(super) fn is_decided(&self, from: Time) -> bool {
        let waited = from.since(self.now);
        self.open == 0 || self.best.as_ref().is_some_and(|best| self.cost(best) <= waited)
    }

    /// Returns an option's cost: the time until the start, plus the cost of the extra time.
    pub(super) fn cost(&self, option: &StartOption) -> Time {
        let waits = option.at.since(self.now);
        waits.saturating_add(self.price.of(self.request.nodes, option.added))
    }

    /// Returns the cheapest option. Ties go to the earliest option, then to the tightest level.
    pub(super) fn best(&self) -> Option<&StartOption> {
        self.best.as_ref()
    }

    /// Returns [`Self::best`] by value.
    pub(super) fn into_best(self) -> Option<StartOption> {
        self.best
    }
}
