//! Connects the network to the simulation loop, for jobs that wait for their messages.
//!
//! Neither side polls the other. The loop passes in the time of its next event, and the network
//! advances to that time or to the first time at which a job ends, whichever is earlier.
//! Simultaneous events are processed in the model's order: deliveries, departures, arrivals, the
//! scheduler, and the creation of messages. Requests and grants follow when the network advances.
//!
//! A job that shares no links with others ([`Footprint`](pavior_network::Footprint)) is not
//! affected by them. All such jobs of one kind have the same duration and message totals, so only
//! the first one is simulated and the others are *recalled*. If a new job may share links with a
//! recalled job, the recalled job catches up before the new job starts. This is exact, not an
//! approximation.
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
//! A job that computes between exchanges ([`Course`]) may be alone again when an exchange begins.
//! If so, all of its remaining exchanges and pauses are recalled at once.

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

/// The messages of all running jobs, which share a single network.
pub(crate) struct Messages {
    setup: NetworkSetup,
    grid: Grid,
    seed: u64,
    replication: u64,
    network: Network,
    /// The network for trials of jobs that compute between exchanges, created for the first such
    /// job.
    trials: Option<Box<Trials>>,
    layouts: Layouts,
    events: NetworkEvents,
    seen: Seen,
    /// The routes of the most recently started job, if observers want them.
    routes: Option<IterationRoutes>,
    /// Jobs by slot. Message tags also identify a job by its slot.
    jobs: Vec<Option<Sender>>,
    free_slots: Vec<u32>,
    /// Jobs that may have messages to send now.
    ready: Vec<(JobId, u32)>,
    /// For each computing job, the next time at which it communicates or ends, with the job's slot.
    wakes: BinaryHeap<Reverse<(Time, u32)>>,
    next_message: u64,
    totals: MessageTotals,
    /// A deadlock that occurred in a trial and has not been reported yet.
    failed: Option<Deadlock>,
    /// State for jobs that are alone, or `None` if every job is simulated.
    alone: Option<Alone>,
}

/// A running job that waits for its messages.
struct Sender {
    id: JobId,
    traffic: JobTraffic,
    /// The links that the job claims, or `None` if it claims every link.
    links: Option<Vec<u32>>,
    how: How,
    /// The job's remaining exchanges and pauses, if it computes between exchanges.
    course: Option<Box<Course>>,
}

/// A job's processing mode.
enum How {
    /// The job is either computing or in the network, where it may share links.
    Shared,
    /// The job is in the network and has been alone so far.
    Watched { since: Time, totals: MessageTotals, key: HistoryKey },
    /// The job is not simulated, because its history is known.
    Recalled { since: Time, history: History },
}

/// State for jobs that share no links.
struct Alone {
    claims: Claims,
    cache: SharedCache,
    /// The end times of recalled jobs, each with the job's slot. An entry becomes void if its job
    /// catches up.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Messages {
    /// The maximum size of the box around a job, as a multiple of the job's node count (plus a
    /// constant). A job with a larger box is assumed to share links with every other job. The
    /// assumption is nearly correct, and it avoids tracking the many links of such a job.
    const MOST_SPREAD: u64 = 8;

    /// Creates a network without any jobs.
    pub(crate) fn new(
        setup: &NetworkSetup,
        grid: Grid,
        seed: u64,
        replication: u64,
        seen: Seen,
    ) -> Result<Messages, BadSettings> {
        let network = Network::new(grid, setup.settings, setup.engine)?;
        // The flit engine is the reference, so it simulates every job. In a network that can
        // deadlock, every job is also simulated, because a deadlock error could not name jobs that
        // are not simulated.
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

    /// Advances the network (see [`Traffic::advance`](super::Traffic::advance)).
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

    /// Processes the events from the network.
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

    /// Ends recalled jobs whose end time has been reached.
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

    /// Removes a job that has ended, and stores its history if the job was watched.
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

    /// Returns the deliveries at the current time, if observers want them.
    pub(crate) fn deliveries(&self) -> &[Delivery] {
        if self.seen.deliveries { &self.events.deliveries } else { &[] }
    }

    /// Returns the totals of messages delivered since [`count_anew`](Messages::count_anew).
    pub(crate) fn totals(&mut self, now: Time) -> &MessageTotals {
        self.settle(now);
        &self.totals
    }

    /// Restarts the totals.
    pub(crate) fn count_anew(&mut self, now: Time) {
        self.settle(now);
        self.totals = MessageTotals::default();
    }

    /// Returns the routes of the most recently started job, if observers want them.
    pub(crate) fn routes(&self) -> Option<&IterationRoutes> {
        self.routes.as_ref()
    }

    /// Creates the messages that jobs can send now, ordered by job, rank and sequence number.
    pub(crate) fn create(&mut self, now: Time) {
        self.ready.sort_unstable();
        self.ready.dedup();
        let Messages { ready, jobs, network, next_message, .. } = self;
        for (id, slot) in ready.drain(..) {
            // A job that was ready may have ended since then, and its slot may have been reused.
            let sender = jobs[slot as usize].as_mut().filter(|sender| sender.id == id);
            if let Some(Sender { traffic, .. }) = sender {
                let send = |message| network.create(message);
                *next_message = traffic.create(now, *next_message, send);
            }
        }
    }
}
