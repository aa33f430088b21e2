//! Jobs that wait for their messages: the network beside the loop.
//!
//! Neither side polls the other. The loop names the time of its own next event; the network goes on
//! to that time, or to the first end of a job before it. Whatever happens then happens in the order
//! of the model: deliveries, departures, arrivals, the scheduler, the creation of messages;
//! requests and grants follow when the network goes on.
//!
//! A job that shares no link with another ([`Footprint`]) sees nothing of the others. So the first
//! of a kind tells when the next one ends, and what its messages add up to. The next one is not
//! simulated at all, unless a job that may meet it starts before it has ended. Then it catches up
//! first. Nothing is approximated.
//!
//! ```text
//!            no job near,            a job comes near
//!   start -> kind known  -> recalled --------------------> (catches up)
//!       \                                                         |
//!        +-> kind unknown -> watched  -> its end is noted         v
//!         \                    \---------------------------> in the network
//!          +-> a job near   ------------------------------------^
//! ```
//!
//! A job that computes in between ([`Course`]) may be alone again whenever an exchange begins. If
//! it is, all exchanges and pauses that it has left are recalled at once.

mod catch_up;
mod start;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pavior_kernel::Time;
use pavior_mesh::{Grid, JobId};
use pavior_network::{
    BadSettings, Deadlock, Delivery, Engine, EngineKind, IterationRoutes, JobTraffic,
    MessageTotals, Network, NetworkEvents, VirtualChannels,
};

use super::claims::Claims;
use super::course::Course;
use super::histories::{History, HistoryCache, HistoryKey, SharedCache};
use super::iterations::Trials;
use super::layouts::Layouts;
use super::{NetworkSetup, Seen};

/// The messages of all running jobs, on one network.
pub(crate) struct Messages {
    setup: NetworkSetup,
    grid: Grid,
    seed: u64,
    replication: u64,
    network: Network,
    /// Where jobs are tried that compute in between; made for the first.
    trials: Option<Box<Trials>>,
    layouts: Layouts,
    events: NetworkEvents,
    seen: Seen,
    /// Those of the job that started last, if they are to be told of.
    routes: Option<IterationRoutes>,
    /// By slot, which is the owner in the tags of messages.
    jobs: Vec<Option<Sender>>,
    free_slots: Vec<u32>,
    /// Jobs that may have something to send in this instant.
    ready: Vec<(JobId, u32)>,
    /// When jobs that compute communicate again or end, by slot.
    wakes: BinaryHeap<Reverse<(Time, u32)>>,
    next_message: u64,
    totals: MessageTotals,
    /// What happened when a job was tried.
    failed: Option<Deadlock>,
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
    /// What it does if it computes in between.
    course: Option<Box<Course>>,
}

/// How a job is carried through.
enum How {
    /// In the network, where it may meet others; or it computes.
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

impl Messages {
    /// Jobs in boxes with more nodes than this times their own (and some more) count as meeting
    /// every other: they nearly do, and their links are many.
    const MOST_SPREAD: u64 = 8;

    /// A network without jobs.
    pub(crate) fn new(
        setup: &NetworkSetup,
        grid: Grid,
        seed: u64,
        replication: u64,
        seen: Seen,
    ) -> Result<Messages, BadSettings> {
        let network = Network::new(grid, setup.settings, setup.engine)?;
        // The flit engine stays the specification. And where messages can deadlock, who is not in
        // the network could not be named.
        let may_deadlock =
            setup.settings.virtual_channels == VirtualChannels::One && grid.has_wrap();
        let simulate_all = seen.deliveries || may_deadlock || setup.engine != EngineKind::Worm;
        let alone = (!simulate_all).then(|| Alone {
            claims: Claims::new(&grid),
            cache: setup.histories.cache(&grid, setup),
            ends: BinaryHeap::new(),
        });
        Ok(Messages {
            trials: None,
            layouts: Layouts::new(setup, grid),
            setup: setup.clone(),
            grid,
            seed,
            replication,
            network,
            events: NetworkEvents::default(),
            seen,
            routes: None,
            jobs: Vec::new(),
            free_slots: Vec::new(),
            ready: Vec::new(),
            wakes: BinaryHeap::new(),
            next_message: 0,
            totals: MessageTotals::default(),
            failed: None,
            alone,
        })
    }

    /// Goes on to `until`, or to the end of jobs before it, or to the first deliveries if an
    /// observer listens to them. Jobs whose last message was delivered are added to `finished`, in
    /// the order of jobs. Returns the instant that has come, if there is one.
    pub(crate) fn advance(
        &mut self,
        until: Option<Time>,
        finished: &mut Vec<JobId>,
    ) -> Result<Option<Time>, Deadlock> {
        if let Some(deadlock) = self.failed.take() {
            return Err(deadlock);
        }
        loop {
            self.events.clear();
            let end = self.alone.as_ref().and_then(|alone| alone.ends.peek());
            let [end, wake] = [end, self.wakes.peek()].map(|next| next.map(|entry| entry.0.0));
            let limit = [until, end, wake].into_iter().flatten().min();
            if self.network.undelivered() == 0 && limit.is_none() {
                return Ok(None);
            }
            let now = self.network.advance(limit.unwrap_or(Time::MAX), &mut self.events)?;
            self.deliver(now, finished);
            self.recall_ends(now, finished);
            self.wake(now, finished)?;
            if self.seen.deliveries || !finished.is_empty() || until == Some(now) {
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
            if !sender.traffic.is_finished() {
                self.ready.push((sender.id, slot));
            } else if let Some(course) = &mut sender.course {
                let pause = course.end_exchange();
                self.wakes.push(Reverse((now.saturating_add(pause), slot)));
            } else {
                finished.push(self.end(slot, now));
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
        if self.seen.deliveries { &self.events.deliveries } else { &[] }
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

    /// The routes of the job that started last, if they are to be told of.
    pub(crate) fn routes(&self) -> Option<&IterationRoutes> {
        self.routes.as_ref()
    }

    /// Creates what jobs can send now, in the order of job, rank and sequence.
    pub(crate) fn create(&mut self, now: Time) {
        self.ready.sort_unstable();
        self.ready.dedup();
        let Messages { ready, jobs, network, next_message, .. } = self;
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
