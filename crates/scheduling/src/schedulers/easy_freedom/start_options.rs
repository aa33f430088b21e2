//! When and where one job could start, for each level of freedom, and the cheapest of these.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Freedom, Request};
use pavior_workload::Job;

use super::price::Price;

/// When and where a job could start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StartOption {
    pub(super) at: Time,
    pub(super) placement: Placement,
    /// How much longer the job takes there than in the box that it asks for.
    pub(super) added: Time,
}

/// The machine at one time, now or as it is expected to be.
pub(super) trait MachineAt {
    /// Where the strategy would put a request then.
    fn place(&mut self, request: &Request) -> Option<Placement>;

    /// How much longer the job takes on some nodes than in the box that it asks for. `None` if it
    /// may not start there.
    fn added_time(&mut self, placement: &Placement) -> Option<Time>;
}

/// A search for the cheapest start of a job, through times in order.
///
/// A level of freedom is open until something that it allows is free: that is when the job could
/// start by this level. Freer levels allow whatever tighter levels allow, so that they are closed
/// no later.
pub(super) struct StartOptions {
    now: Time,
    request: Request,
    price: Price,
    /// The number of open levels: the tightest of [`Freedom::ALL`].
    open: usize,
    best: Option<StartOption>,
}

impl StartOptions {
    /// The options of a job. Its own freedom is the most that it is placed by; a job that names
    /// none may be placed anyhow.
    pub(super) fn new(now: Time, job: &Job, price: Price) -> StartOptions {
        let most = job.request.freedom.unwrap_or(Freedom::Any);
        let open = Freedom::ALL.iter().filter(|level| **level <= most).count();
        StartOptions { now, request: job.request, price, open, best: None }
    }

    /// Adds the options at a time, which is not before those considered so far.
    pub(super) fn consider(&mut self, at: Time, machine: &mut impl MachineAt) {
        if self.is_decided(at) {
            return;
        }
        let (freest, tighter) = Freedom::ALL[..self.open].split_last().expect("a level is open");
        let asked = |level: Freedom| self.request.with_freedom(level);
        // What is refused at the freest level is refused at all.
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
                // No freer level costs less.
                return;
            }
        }
    }

    /// Adds an option.
    pub(super) fn add(&mut self, option: StartOption) {
        let rank = |option: &StartOption| (self.cost(option), option.at);
        if self.best.as_ref().is_none_or(|best| rank(&option) < rank(best)) {
            self.best = Some(option);
        }
    }

    /// Whether no option from a time on can cost less than the best so far.
    pub(super) fn is_decided(&self, from: Time) -> bool {
        let waited = from.since(self.now);
        self.open == 0 || self.best.as_ref().is_some_and(|best| self.cost(best) <= waited)
    }

    /// The time until the start, and the price of the added time.
    pub(super) fn cost(&self, option: &StartOption) -> Time {
        let waits = option.at.since(self.now);
        waits.saturating_add(self.price.of(self.request.nodes, option.added))
    }

    /// The cheapest option; of equally cheap ones the earliest, then the one of the tightest level.
    pub(super) fn best(&self) -> Option<&StartOption> {
        self.best.as_ref()
    }

    /// The same, owned.
    pub(super) fn into_best(self) -> Option<StartOption> {
        self.best
    }
}
