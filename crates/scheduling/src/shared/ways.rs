//! The levels of freedom of a job, what each costs it, and the cheapest.
//!
//! At a level a job can start at the first moment at which something that the level allows is free.
//! It then costs the job the time until that moment, and the time that it takes longer on those
//! nodes than in the box that it asks for. What it takes longer it also costs the others: nodes of
//! the machine times time are work, and n nodes busy for t longer delay each job by t n / N on N
//! nodes until the work is made up for. These jobs are those that wait, and those that come
//! meanwhile. A level allows all that tighter ones allow, so that its moment is never later.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Freedom, Request};
use pavior_workload::Job;

/// When and where a job could start, and what that costs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) at: Time,
    pub(crate) placement: Placement,
    /// What the job takes longer there than in the box that it asks for.
    pub(crate) added: Time,
}

/// What it costs all that a job takes longer: a multiple of the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Price {
    /// The nodes of the machine.
    pub(crate) machine: u32,
    /// Other jobs that wait.
    pub(crate) waiting: usize,
    /// Jobs that come in a unit of time.
    pub(crate) rate: f64,
}

/// How many times as long as lost time a machine takes to make up for it, if two thirds of it are
/// in use. Chosen by trial on seven logs: results/contiguity-on-logs.md.
const RECOVERY: f64 = 3.0;

impl Price {
    fn of(self, nodes: u32, added: Time) -> Time {
        let longer = added.ticks();
        let share = f64::from(nodes) / f64::from(self.machine);
        let delayed = self.waiting as f64 + self.rate * RECOVERY * longer;
        added.saturating_add(Time((longer * share * delayed) as u64))
    }
}

/// What can be asked about a moment.
pub(crate) trait Moment {
    /// Where the strategy would put a request then.
    fn place(&mut self, request: &Request) -> Option<Placement>;

    /// What the job takes longer there than in the box that it asks for; none if it may not start
    /// there.
    fn added(&mut self, placement: &Placement) -> Option<Time>;
}

/// A search for the cheapest way of a job, from the present on, moment by moment.
pub(crate) struct Ways {
    now: Time,
    request: Request,
    price: Price,
    /// The levels for which nothing has been free so far: so many of [`Freedom::ALL`], the
    /// tightest.
    open: usize,
    best: Option<Way>,
}

impl Ways {
    /// Of a job that is as free as its request says, or else placed anyhow.
    pub(crate) fn new(now: Time, job: &Job, price: Price) -> Ways {
        let most = job.request.freedom.unwrap_or(Freedom::Any);
        let open = Freedom::ALL.iter().filter(|level| **level <= most).count();
        Ways { now, request: job.request, price, open, best: None }
    }

    /// A moment, not before those that were looked at.
    pub(crate) fn look(&mut self, at: Time, moment: &mut impl Moment) {
        if self.is_settled(at) {
            return;
        }
        let (freest, tighter) = Freedom::ALL[..self.open].split_last().expect("a level is open");
        let asked = |level: Freedom| self.request.with_freedom(level);
        // What the freest level is refused is refused to all.
        let Some(freest) = moment.place(&asked(*freest)) else { return };
        let tighter = tighter.iter().map(|level| asked(*level)).collect::<Vec<_>>();
        for (index, request) in tighter.iter().map(Some).chain([None]).enumerate() {
            let placement =
                request.map_or_else(|| Some(freest.clone()), |tight| moment.place(tight));
            let added = placement.as_ref().and_then(|placement| moment.added(placement));
            let Some((placement, added)) = placement.zip(added) else { continue };
            self.open = self.open.min(index);
            self.offer(Way { at, placement, added });
            if added == Time::ZERO {
                // No freer level costs less.
                return;
            }
        }
    }

    /// A way that the job has.
    pub(crate) fn offer(&mut self, way: Way) {
        let rank = |way: &Way| (self.cost(way), way.at);
        if self.best.as_ref().is_none_or(|best| rank(&way) < rank(best)) {
            self.best = Some(way);
        }
    }

    /// Whether no way that begins at `at` or later is cheaper than the best so far.
    pub(crate) fn is_settled(&self, at: Time) -> bool {
        let waited = at.since(self.now);
        self.open == 0 || self.best.as_ref().is_some_and(|best| self.cost(best) <= waited)
    }

    /// The time until a start, and what the job that then takes longer costs all.
    pub(crate) fn cost(&self, way: &Way) -> Time {
        way.at.since(self.now).saturating_add(self.price.of(self.request.nodes, way.added))
    }

    /// The cheapest way; of equals the earliest, then the tightest.
    pub(crate) fn best(&self) -> Option<&Way> {
        self.best.as_ref()
    }

    /// The cheapest way, to keep.
    pub(crate) fn into_best(self) -> Option<Way> {
        self.best
    }
}
