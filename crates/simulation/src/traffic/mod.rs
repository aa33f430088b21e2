//! Jobs that wait for their messages: the network beside the loop.
//!
//! Neither side polls the other. The loop names the time of its own next event; the network goes on
//! to that time, or to the first end of a job before it. Whatever happens then happens in the order
//! of the model: deliveries, departures, arrivals, the scheduler, the creation of messages; requests
//! and grants follow when the network goes on.
//!
//! A job that shares no link with another ([`Footprint`]) sees nothing of the others, so that the
//! first of its kind says what becomes of the next: when it ends, and what its messages add up to.
//! Such a job is not simulated at all, unless another one comes too near before it has ended; it
//! then catches up first. Nothing is approximated.
//!
//! ```text
//!            no job near,            a job comes near
//!   start -> kind known  -> recalled --------------------> (catches up)
//!       \                                                         |
//!        +-> kind unknown -> watched  -> its end is noted         v
//!         \                    \---------------------------> in the network
//!          +-> a job near   ------------------------------------^
//! ```

mod claims;
mod histories;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pavior_allocation::Placement;
use pavior_kernel::{Stream, Time};
use pavior_mesh::{Grid, JobId, NodeId, Sides};
use pavior_network::{
    BadSettings, Deadlock, Delivery, Engine, EngineKind, Footprint, JobTraffic, Layout,
    MessageTotals, Network, NetworkEvents, RankOrder, Settings, TrafficPlan, VirtualChannels,
};
use pavior_workload::{Job, Service};

use claims::{Claims, Met};
pub use histories::Histories;
use histories::{History, HistoryCache, HistoryKey, SharedCache};

/// How the messages of jobs travel.
#[derive(Clone)]
pub struct NetworkSetup {
    /// The engine.
    pub engine: EngineKind,
    /// Its parameters.
    pub settings: Settings,
    /// What jobs send.
    pub plan: TrafficPlan,
    /// How the ranks of jobs with several parts are numbered.
    pub ranks: RankOrder,
    /// What is known of jobs that are alone on the network. Clones of a setup share it.
    pub histories: Histories,
}

/// The messages of all running jobs, on one network.
pub(crate) struct Traffic {
    setup: NetworkSetup,
    grid: Grid,
    seed: u64,
    replication: u64,
    network: Network,
    events: NetworkEvents,
    /// Whether each delivery is to be told of.
    each: bool,
    /// By slot, which is the owner in the tags of messages.
    jobs: Vec<Option<Sender>>,
    free_slots: Vec<u32>,
    /// Jobs that may have something to send in this instant.
    ready: Vec<(JobId, u32)>,
    next_message: u64,
    totals: MessageTotals,
    /// None if every job is simulated.
    alone: Option<Alone>,
}

/// A job that waits for its messages.
struct Sender {
    id: JobId,
    traffic: JobTraffic,
    /// The links that it claims; none for all.
    links: Option<Vec<u32>>,
    how: How,
}

/// How a job is carried through.
enum How {
    /// In the network, where it may meet others.
    Shared,
    /// In the network, and alone so far.
    Watched { since: Time, totals: MessageTotals, key: HistoryKey },
    /// Not in the network: its history is known.
    Recalled { since: Time, history: History },
}

/// What is known of jobs that are alone.
struct Alone {
    claims: Claims,
    cache: SharedCache,
    /// When recalled jobs end, by slot. Those that have caught up are still in it, void.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Traffic {
    /// Jobs in boxes with more nodes than this times their own (and some more) count as meeting
    /// every other: they nearly do, and their links are many.
    const MOST_SPREAD: u64 = 8;

    /// A network without jobs; `each` says whether each delivery is observed.
    pub(crate) fn new(
        setup: &NetworkSetup,
        grid: Grid,
        seed: u64,
        replication: u64,
        each: bool,
    ) -> Result<Traffic, BadSettings> {
        let network = Network::new(grid, setup.settings, setup.engine)?;
        // The flit engine stays the specification. And where messages can deadlock, who is not in
        // the network could not be named.
        let may_deadlock =
            setup.settings.virtual_channels == VirtualChannels::One && grid.has_wrap();
        let simulate_all = each || may_deadlock || setup.engine != EngineKind::Worm;
        let alone = (!simulate_all).then(|| Alone {
            claims: Claims::new(&grid),
            cache: setup.histories.cache(&grid, setup),
            ends: BinaryHeap::new(),
        });
        Ok(Traffic {
            setup: setup.clone(),
            grid,
            seed,
            replication,
            network,
            events: NetworkEvents::default(),
            each,
            jobs: Vec::new(),
            free_slots: Vec::new(),
            ready: Vec::new(),
            next_message: 0,
            totals: MessageTotals::default(),
            alone,
        })
    }

    /// Goes on to `until`, or to the end of jobs before it, or to the first deliveries if an observer
    /// listens to them. Jobs whose last message was delivered are added to `finished`, in the order
    /// of jobs. Returns the instant that has come, if there is one.
    pub(crate) fn advance(
        &mut self,
        until: Option<Time>,
        finished: &mut Vec<JobId>,
    ) -> Result<Option<Time>, Deadlock> {
        loop {
            self.events.clear();
            let end = self.alone.as_ref().and_then(|alone| alone.ends.peek());
            let end = end.map(|Reverse((time, _))| *time);
            let limit = [until, end].into_iter().flatten().min();
            if self.network.undelivered() == 0 && limit.is_none() {
                return Ok(None);
            }
            let now = self.network.advance(limit.unwrap_or(Time::MAX), &mut self.events)?;
            self.deliver(now, finished);
            self.recall_ends(now, finished);
            if self.each || !finished.is_empty() || until == Some(now) {
                finished.sort_unstable();
                return Ok(Some(now));
            }
            self.create(now);
        }
    }

    /// Is told of the events.
    fn deliver(&mut self, now: Time, finished: &mut Vec<JobId>) {
        for entered in &self.events.entered {
            let sender = self.jobs[entered.tag.owner as usize].as_mut().expect("it is running");
            self.network.create(sender.traffic.follower(entered));
        }
        for index in 0..self.events.deliveries.len() {
            let delivery = &self.events.deliveries[index];
            self.totals.count(delivery);
            let slot = delivery.tag.owner;
            let sender = self.jobs[slot as usize].as_mut();
            let sender = sender.expect("a job runs until its last delivery");
            sender.traffic.delivered(delivery.tag);
            if let How::Watched { totals, .. } = &mut sender.how {
                totals.count(delivery);
            }
            if sender.traffic.is_finished() {
                finished.push(self.end(slot, now));
            } else {
                self.ready.push((sender.id, slot));
            }
        }
    }

    /// Ends the recalled jobs whose time has come.
    fn recall_ends(&mut self, now: Time, finished: &mut Vec<JobId>) {
        loop {
            let Some(Alone { ends, .. }) = &mut self.alone else { return };
            let Some(&Reverse((time, slot))) =
                ends.peek().filter(|Reverse((time, _))| *time <= now)
            else {
                return;
            };
            ends.pop();
            let sender = self.jobs[slot as usize].as_ref();
            if let Some(How::Recalled { since, history }) = sender.map(|sender| &sender.how)
                && since.saturating_add(history.length) == time
            {
                self.totals.add(&history.totals);
                finished.push(self.end(slot, now));
            }
        }
    }

    /// Forgets a job that is over, and notes its history if it was watched.
    fn end(&mut self, slot: u32, now: Time) -> JobId {
        let sender = self.jobs[slot as usize].take().expect("it was running");
        self.free_slots.push(slot);
        if let Some(alone) = &mut self.alone {
            alone.claims.give_up(sender.links.as_deref());
            if let How::Watched { since, totals, key } = sender.how {
                HistoryCache::note(&alone.cache, key, History { length: now.since(since), totals });
            }
        }
        sender.id
    }

    /// What was delivered at the present instant, if each delivery is to be told of.
    pub(crate) fn deliveries(&self) -> &[Delivery] {
        if self.each { &self.events.deliveries } else { &[] }
    }

    /// What has been delivered up to now since [`count_anew`](Traffic::count_anew).
    pub(crate) fn totals(&mut self, now: Time) -> &MessageTotals {
        self.settle(now);
        &self.totals
    }

    /// Counts from now on.
    pub(crate) fn count_anew(&mut self, now: Time) {
        self.settle(now);
        self.totals = MessageTotals::default();
    }

    /// A job starts. Says whether it has messages to wait for.
    pub(crate) fn start(&mut self, now: Time, job: &Job, placement: &Placement) -> bool {
        let service = match job.service {
            Service::Messages(count) => pavior_network::Communication::Messages(count),
            Service::Iterations(count) => pavior_network::Communication::Iterations(count),
            Service::Run(_) => return false,
        };
        let (nodes, shape) = (job.request.nodes, job.request.shape);
        let layout = Layout::new(&self.grid, placement.parts(), nodes, shape, self.setup.ranks);
        let sides = layout.shape.sides;
        // A stream for each job, so that its draws do not depend on when the others start.
        let purpose = format!("traffic-{}", job.id.0);
        let mut draw = Stream::new(self.seed, self.replication, &purpose);
        let undrawn = draw.clone();
        let slot = self.free_slots.pop().unwrap_or(self.jobs.len() as u32);
        let traffic = JobTraffic::new(slot, layout, &self.setup.plan, service, &mut draw);
        if slot as usize == self.jobs.len() {
            self.jobs.push(None);
        }
        if traffic.is_finished() {
            self.free_slots.push(slot);
            return false;
        }
        // Drawn numbers of messages, or other draws, hardly ever come again.
        let kind = match service {
            pavior_network::Communication::Iterations(count) if draw == undrawn => {
                Some((sides, count))
            }
            _ => None,
        };
        let (links, how) = self.claim(now, slot, traffic.nodes(), kind);
        if let (How::Recalled { since, history }, Some(alone)) = (&how, &mut self.alone) {
            alone.ends.push(Reverse((since.saturating_add(history.length), slot)));
        } else {
            self.ready.push((job.id, slot));
        }
        self.jobs[slot as usize] = Some(Sender { id: job.id, traffic, links, how });
        true
    }

    /// Claims the links of a job on these nodes, and says how it is to be carried through; `kind`
    /// is its logical grid and its iterations, if it is of a kind that may come again.
    fn claim(
        &mut self,
        now: Time,
        slot: u32,
        nodes: &[NodeId],
        kind: Option<(Sides, u64)>,
    ) -> (Option<Vec<u32>>, How) {
        let Some(Alone { claims, cache, .. }) = &mut self.alone else { return (None, How::Shared) };
        let most = Self::MOST_SPREAD * nodes.len() as u64 + 1000;
        let footprint = kind.and_then(|_| Footprint::of(&self.grid, nodes, most));
        let mut met = Vec::new();
        let is_alone = claims.claim(slot, footprint.as_ref().map(Footprint::links), |who| {
            if met.last() != Some(&who) {
                met.push(who);
            }
        });
        let how = match (&footprint, kind) {
            (Some(footprint), Some((sides, iterations))) if is_alone => {
                let key = HistoryKey::new(footprint, sides, iterations);
                match HistoryCache::recall(cache, &key) {
                    Some(history) => How::Recalled { since: now, history },
                    None => How::Watched { since: now, totals: MessageTotals::default(), key },
                }
            }
            _ => How::Shared,
        };
        for who in met {
            match who {
                Met::Job(other) => self.share(other, now),
                Met::AllJobs => {
                    (0..self.jobs.len() as u32).for_each(|other| self.share(other, now));
                }
            }
        }
        (footprint.map(Footprint::into_links), how)
    }

    /// A job may meet others from now on.
    fn share(&mut self, slot: u32, now: Time) {
        let Traffic { network, jobs, ready, next_message, totals, .. } = self;
        let Some(Sender { id, traffic, how, .. }) = &mut jobs[slot as usize] else { return };
        let How::Recalled { since, .. } = std::mem::replace(how, How::Shared) else { return };
        ready.push((*id, slot));
        let Network::Worm(network) = network else { unreachable!("only there jobs are recalled") };
        if since == now {
            return;
        }
        network.catch_up(since, |network| {
            let (mut at, mut events) = (since, NetworkEvents::default());
            // What it sends now it sends with the others.
            while at < now {
                *next_message =
                    traffic.create(at, *next_message, |message| network.create(message));
                at = network.advance(now, &mut events).expect("such networks have no deadlock");
                for entered in &events.entered {
                    network.create(traffic.follower(entered));
                }
                for delivery in &events.deliveries {
                    totals.count(delivery);
                    traffic.delivered(delivery.tag);
                }
            }
        });
    }

    /// Lets recalled jobs catch up, for the totals.
    fn settle(&mut self, now: Time) {
        for slot in 0..self.jobs.len() as u32 {
            let sender = self.jobs[slot as usize].as_ref().map(|sender| &sender.how);
            if matches!(sender, Some(How::Recalled { since, .. }) if *since < now) {
                self.share(slot, now);
            }
        }
    }

    /// Creates what jobs can send now, in the order of job, rank and sequence.
    pub(crate) fn create(&mut self, now: Time) {
        self.ready.sort_unstable();
        self.ready.dedup();
        let Traffic { ready, jobs, network, next_message, .. } = self;
        for (id, slot) in ready.drain(..) {
            // A job that was ready may have ended since, and its slot be another's.
            let sender = jobs[slot as usize].as_mut().filter(|sender| sender.id == id);
            if let Some(Sender { traffic, .. }) = sender {
                let send = |message| network.create(message);
                *next_message = traffic.create(now, *next_message, send);
            }
        }
    }
}
