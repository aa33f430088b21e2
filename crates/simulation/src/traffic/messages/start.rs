//! Starts jobs: determines a job's layout, claims its links, and decides whether to simulate it or
//! to recall the history of an earlier job of the same kind.

use std::cmp::Reverse;

use pavior_allocation::Placement;
use pavior_kernel::{Stream, Time};
use pavior_mesh::NodeId;
use pavior_network::{Communication, Deadlock, Footprint, JobTraffic, MessageTotals};
use pavior_workload::{Job, Service};

use super::{Alone, How, Messages, Sender};
use crate::traffic::NetworkSetup;
use crate::traffic::claims::Met;
use crate::traffic::course::Course;
use crate::traffic::histories::{HistoryCache, HistoryKey};
use crate::traffic::iterations::Trials;

impl Messages {
    /// Starts a job. Returns true if the job has messages to wait for.
    pub(crate) fn start(&mut self, now: Time, job: &Job, placement: &Placement) -> bool {
        self.routes = None;
        let draw = NetworkSetup::draws(self.seed, self.replication, job.id);
        let service = match job.service {
            Service::Messages(count) => Communication::Messages(count),
            Service::Iterations(count) => Communication::Iterations(count),
            Service::Run(_) => return false,
            Service::Partly { .. } => {
                let started = self.start_course(now, job, placement, &draw);
                return started.unwrap_or_else(|deadlock| {
                    self.failed = Some(deadlock);
                    true
                });
            }
        };
        let layout = self.layouts.granted(placement.parts(), &job.request, &draw);
        if self.seen.routes {
            self.routes = self.setup.routes(&self.grid, &layout, &draw);
        }
        let sides = layout.shape.sides;
        let slot = self.free_slot();
        let mut drawn = draw.clone();
        let traffic = JobTraffic::new(slot, layout, &self.setup.plan, service, &mut drawn);
        if traffic.is_finished() {
            self.free_slots.push(slot);
            return false;
        }
        // Jobs whose patterns make random draws are rarely identical, so their histories are not
        // cached.
        let kind = match service {
            Communication::Iterations(count) if drawn == draw => Some((sides, count)),
            _ => None,
        };
        let (footprint, is_alone) = self.claim(now, slot, traffic.nodes(), kind.is_some());
        let mut how = How::Shared;
        if let (Some(Alone { cache, ends, .. }), Some(footprint), Some((sides, iterations)), true) =
            (&mut self.alone, &footprint, kind, is_alone)
        {
            let key = HistoryKey::new(footprint.relative_layout(), sides, iterations);
            how = match HistoryCache::recall(cache, &key) {
                Some(history) => {
                    ends.push(Reverse((now.saturating_add(history.length), slot)));
                    How::Recalled { since: now, history }
                }
                None => How::Watched { since: now, totals: MessageTotals::default(), key },
            };
        }
        if !matches!(how, How::Recalled { .. }) {
            self.ready.push((job.id, slot));
        }
        let links = footprint.map(Footprint::into_links);
        self.jobs[slot as usize] = Some(Sender { id: job.id, traffic, links, how, course: None });
        true
    }

    /// Starts a job that computes between exchanges.
    fn start_course(
        &mut self,
        now: Time,
        job: &Job,
        placement: &Placement,
        draw: &Stream,
    ) -> Result<bool, Deadlock> {
        let Messages { setup, grid, trials, .. } = self;
        let trials = Trials::kept(trials, setup, *grid);
        let Some(course) = Course::new(trials, job, placement, draw)? else {
            return Ok(false);
        };
        if self.seen.routes {
            self.routes = self.setup.routes(&self.grid, &course.layout, draw);
        }
        let slot = self.free_slot();
        let traffic = course.traffic(slot, &self.setup.plan);
        if traffic.is_finished() {
            self.free_slots.push(slot);
            return Ok(false);
        }
        let (footprint, is_alone) = self.claim(now, slot, traffic.nodes(), true);
        let links = footprint.map(Footprint::into_links);
        let (id, course) = (job.id, Some(Box::new(course)));
        self.jobs[slot as usize] = Some(Sender { id, traffic, links, how: How::Shared, course });
        self.begin(now, slot, is_alone)?;
        Ok(true)
    }

    /// Begins the next exchange of a job that computes between exchanges.
    pub(super) fn begin(&mut self, now: Time, slot: u32, is_alone: bool) -> Result<(), Deadlock> {
        let Messages { jobs, alone, ready, trials, setup, .. } = self;
        let sender = jobs[slot as usize].as_mut().expect("it is running");
        let course = sender.course.as_mut().expect("it computes in between");
        let trials = trials.as_mut().expect("made for the first such job");
        let exchange = if is_alone { course.exchange_alone(trials)? } else { None };
        if let (Some(alone), Some(exchange)) = (alone, exchange) {
            let history = course.remainder(&exchange);
            alone.ends.push(Reverse((now.saturating_add(history.length), slot)));
            sender.how = How::Recalled { since: now, history };
        } else {
            sender.traffic = course.traffic(slot, &setup.plan);
            ready.push((sender.id, slot));
        }
        Ok(())
    }

    fn free_slot(&mut self) -> u32 {
        self.free_slots.pop().unwrap_or_else(|| {
            self.jobs.push(None);
            self.jobs.len() as u32 - 1
        })
    }

    /// Claims a job's links, and lets other jobs that may share them catch up. Returns the job's
    /// footprint (if `wanted` and not too wide), and a flag that is true if the job is alone.
    fn claim(
        &mut self,
        now: Time,
        slot: u32,
        nodes: &[NodeId],
        wanted: bool,
    ) -> (Option<Footprint>, bool) {
        let Some(Alone { claims, .. }) = &mut self.alone else { return (None, false) };
        let most = Self::MOST_SPREAD * nodes.len() as u64 + 1000;
        let footprint = if wanted { Footprint::of(&self.grid, nodes, most) } else { None };
        let mut met = Vec::new();
        let is_alone = claims.claim(slot, footprint.as_ref().map(Footprint::links), |who| {
            if met.last() != Some(&who) {
                met.push(who);
            }
        });
        for who in met {
            match who {
                Met::Job(other) => self.share(other, now),
                Met::AllJobs => {
                    (0..self.jobs.len() as u32).for_each(|other| self.share(other, now));
                }
            }
        }
        (footprint, is_alone)
    }
}
