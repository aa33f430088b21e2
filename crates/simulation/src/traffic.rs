//! Jobs that wait for their messages: the network beside the loop.
//!
//! Neither side polls the other. The loop names the time of its own next event; the network goes on
//! to that time, or to the first delivery before it. Whatever happens then happens in the order of
//! the model: deliveries, departures, arrivals, the scheduler, the creation of messages; requests
//! and grants follow when the network goes on.

use pavior_allocation::Placement;
use pavior_kernel::{Stream, Time};
use pavior_mesh::{Grid, JobId};
use pavior_network::{
    BadSettings, Deadlock, Delivery, Engine, EngineKind, JobTraffic, Layout, Network, News, Plan,
    RankOrder, Settings,
};
use pavior_workload::{Job, Service};

/// How the messages of jobs travel.
#[derive(Clone, Debug)]
pub struct NetworkSetup {
    /// The engine.
    pub engine: EngineKind,
    /// Its parameters.
    pub settings: Settings,
    /// What jobs send.
    pub plan: Plan,
    /// How the ranks of jobs with several parts are numbered.
    pub ranks: RankOrder,
}

/// The messages of all running jobs, on one network.
pub(crate) struct Traffic {
    setup: NetworkSetup,
    grid: Grid,
    seed: u64,
    replication: u64,
    network: Network,
    news: News,
    /// By slot, which is the owner in the tags of messages.
    jobs: Vec<Option<(JobId, JobTraffic)>>,
    free_slots: Vec<u32>,
    /// Jobs that may have something to send in this instant.
    ready: Vec<(JobId, u32)>,
    next_message: u64,
}

impl Traffic {
    pub(crate) fn new(
        setup: &NetworkSetup,
        grid: Grid,
        seed: u64,
        replication: u64,
    ) -> Result<Traffic, BadSettings> {
        Ok(Traffic {
            setup: setup.clone(),
            grid,
            seed,
            replication,
            network: Network::new(grid, setup.settings, setup.engine)?,
            news: News::default(),
            jobs: Vec::new(),
            free_slots: Vec::new(),
            ready: Vec::new(),
            next_message: 0,
        })
    }

    /// Goes on to `until`, or to the first news before it. Jobs whose last message was delivered
    /// are added to `finished`, in the order of jobs. Returns the instant that has come, if there
    /// is one.
    pub(crate) fn advance(
        &mut self,
        until: Option<Time>,
        finished: &mut Vec<JobId>,
    ) -> Result<Option<Time>, Deadlock> {
        self.news.clear();
        if self.network.undelivered() == 0 && until.is_none() {
            return Ok(None);
        }
        let now = self.network.advance(until.unwrap_or(Time::MAX), &mut self.news)?;
        for entered in &self.news.entered {
            let (_, job) = self.jobs[entered.tag.owner as usize].as_mut().expect("it is running");
            self.network.create(job.follower(entered));
        }
        for delivery in &self.news.deliveries {
            let owner = delivery.tag.owner;
            let slot = &mut self.jobs[owner as usize];
            let (id, job) = slot.as_mut().expect("a job runs until its last delivery");
            job.delivered(delivery.tag);
            if job.is_finished() {
                finished.push(*id);
                *slot = None;
                self.free_slots.push(owner);
            } else {
                self.ready.push((*id, owner));
            }
        }
        finished.sort_unstable();
        Ok(Some(now))
    }

    /// What was delivered at the present instant.
    pub(crate) fn deliveries(&self) -> &[Delivery] {
        &self.news.deliveries
    }

    /// A job starts. Says whether it has messages to wait for.
    pub(crate) fn start(&mut self, job: &Job, placement: &Placement) -> bool {
        let service = match job.service {
            Service::Messages(count) => pavior_network::Service::Messages(count),
            Service::Iterations(count) => pavior_network::Service::Iterations(count),
            Service::Run(_) => return false,
        };
        let (nodes, shape) = (job.request.nodes, job.request.shape);
        let layout = Layout::new(&self.grid, placement.parts(), nodes, shape, self.setup.ranks);
        // A stream for each job, so that its draws do not depend on when the others start.
        let purpose = format!("traffic-{}", job.id.0);
        let mut draw = Stream::new(self.seed, self.replication, &purpose);
        let slot = self.free_slots.pop().unwrap_or(self.jobs.len() as u32);
        let traffic = JobTraffic::new(slot, layout, &self.setup.plan, service, &mut draw);
        if traffic.is_finished() {
            if (slot as usize) < self.jobs.len() {
                self.free_slots.push(slot);
            }
            return false;
        }
        if slot as usize == self.jobs.len() {
            self.jobs.push(None);
        }
        self.jobs[slot as usize] = Some((job.id, traffic));
        self.ready.push((job.id, slot));
        true
    }

    /// Creates what jobs can send now, in the order of job, rank and sequence.
    pub(crate) fn create(&mut self, now: Time) {
        self.ready.sort_unstable();
        self.ready.dedup();
        let Traffic { ready, jobs, network, next_message, .. } = self;
        for (_, slot) in ready.drain(..) {
            if let Some((_, traffic)) = &mut jobs[slot as usize] {
                let send = |message| network.create(message);
                *next_message = traffic.create(now, *next_message, send);
            }
        }
    }
}
