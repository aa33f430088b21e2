//! A mean-value model of shared links, for runs in which messages are not simulated.
//!
//! Each job is simulated once on its own ([`Trials`]), which gives its time T per iteration, in
//! cycles, and its mean latency l. On each link along its path, a message waits for other jobs'
//! messages as in a single-server queue with Poisson arrivals (Pollaczek and Khinchine):
//! `w = R / (1 - U)` cycles. U is the fraction of time for which other jobs hold the link. R is the
//! sum of m h^2 / 2P over the other jobs. Each of a job's m messages per iteration holds the link
//! for h cycles ([`LinkHolds`]), and the job's pace P is the time for an iteration plus a pause. If
//! a message waits d cycles on average over its whole path, an iteration takes T (1 + d / l).
//!
//! P depends on d, and therefore on the paces of other jobs. Whenever a job starts or ends, each
//! job gets a new pace once, in slot order, based on the current paces of the others. Changes of
//! less than a thousandth are ignored, and work already done is kept. A job that shares no links
//! runs exactly as it would in the simulated network.
//!
//! A job's pace changes only if another job that shares a link with it starts, ends or changes its
//! own pace, so only the affected jobs are updated. Each start or end of a job takes O(running jobs
//! + links crossed by the updated jobs) time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::{AddAssign, SubAssign};

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Grid, JobId};
use pavior_network::{BadSettings, Channels, Deadlock, IterationRoutes, LinkHolds};
use pavior_workload::{Job, Service};

use super::course::{Course, ITERATION};
use super::histories::History;
use super::holds::KnownHolds;
use super::iterations::Trials;
use super::{NetworkSetup, Seen};

/// The upper limit on the assumed fraction of time for which other jobs hold any link.
const MOST_BUSY: f64 = 0.95;

/// The smallest relative change in pace that takes effect.
const LEAST_CHANGE: f64 = 1e-3;

/// The state of all running jobs under the model.
pub(crate) struct Estimate {
    setup: NetworkSetup,
    grid: Grid,
    seed: u64,
    replication: u64,
    trials: Trials,
    holds: KnownHolds,
    seen: Seen,
    routes: Option<IterationRoutes>,
    failed: Option<Deadlock>,
    /// The links, indexed by channel number.
    links: Vec<Link>,
    jobs: Vec<Option<Runner>>,
    /// For each slot, true if the use of the job's links has changed since its last pace update.
    stale: Vec<bool>,
    free_slots: Vec<u32>,
    /// The end times of jobs, each with the job's slot. An entry becomes void when the job's pace
    /// changes.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
    /// The last time at which a job started or ended, if paces have not been updated since then.
    changed: Option<Time>,
}

/// The use of a link, stored as integers so that additions can be undone exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Busy {
    /// U, in units of 2^-32.
    share: u64,
    /// R, in units of 2^-16 cycles.
    residual: u64,
}

impl Busy {
    fn of(hold: &LinkHolds, pace: f64) -> Busy {
        Busy {
            share: (hold.cycles as f64 / pace * (1u64 << 32) as f64) as u64,
            residual: (hold.squares as f64 / (2.0 * pace) * f64::from(1 << 16)) as u64,
        }
    }

    /// Returns the mean number of cycles that a message waits for the link.
    fn wait(self) -> f64 {
        let share = self.share as f64 / (1u64 << 32) as f64;
        let residual = self.residual as f64 / f64::from(1 << 16);
        residual / (1.0 - share.min(MOST_BUSY))
    }
}

impl AddAssign for Busy {
    fn add_assign(&mut self, other: Busy) {
        (self.share, self.residual) = (self.share + other.share, self.residual + other.residual);
    }
}

impl SubAssign for Busy {
    fn sub_assign(&mut self, other: Busy) {
        (self.share, self.residual) = (self.share - other.share, self.residual - other.residual);
    }
}

/// A link, and the slots of the jobs that send messages over it.
#[derive(Clone, Debug, Default)]
struct Link {
    busy: Busy,
    crossed_by: Vec<u32>,
}

impl Link {
    /// Changes a job's use of the link, and marks the other jobs that use the link as stale.
    fn change(&mut self, slot: u32, [before, after]: [Busy; 2], stale: &mut [bool]) {
        self.busy -= before;
        self.busy += after;
        for &other in self.crossed_by.iter().filter(|other| **other != slot) {
            stale[other as usize] = true;
        }
    }
}

/// A link that a job's messages cross.
struct Crossed {
    hold: LinkHolds,
    /// The job's use of the link at its current pace.
    busy: Busy,
}

/// A running job.
struct Runner {
    id: JobId,
    /// The history of an exchange while the job is alone.
    exchange_alone: History,
    pause: Time,
    rest: Time,
    links: Vec<Crossed>,
    /// The number of iterations left when the pace last changed, at time `since`.
    left: f64,
    since: Time,
    /// The number of cycles for an iteration plus a pause.
    pace: f64,
    end: Time,
}

impl Runner {
    /// Returns the job's pace while it is alone.
    fn pace_alone(&self) -> f64 {
        (self.exchange_alone.length.0 + self.pause.0) as f64
    }

    /// Changes the job's pace, keeping the work already done.
    fn change(&mut self, now: Time, pace: f64) {
        let done = now.since(self.since).ticks() / self.pace;
        if done >= self.left {
            // All iterations are done, and only `rest` remains.
            return;
        }
        self.left -= done;
        (self.since, self.pace) = (now, pace);
        let ahead = Time((self.left * pace).round() as u64);
        self.end = now.saturating_add(ahead).saturating_add(self.rest);
    }
}

impl Estimate {
    pub(super) fn new(
        setup: &NetworkSetup,
        grid: Grid,
        seed: u64,
        replication: u64,
        seen: Seen,
    ) -> Result<Estimate, BadSettings> {
        let channels = Channels::new(grid, setup.settings.virtual_channels);
        Ok(Estimate {
            trials: Trials::new(setup, grid)?,
            links: vec![Link::default(); channels.count()],
            holds: KnownHolds::new(setup, grid, channels),
            setup: setup.clone(),
            grid,
            seed,
            replication,
            seen,
            routes: None,
            failed: None,
            jobs: Vec::new(),
            stale: Vec::new(),
            free_slots: Vec::new(),
            ends: BinaryHeap::new(),
            changed: None,
        })
    }

    pub(super) fn routes(&self) -> Option<&IterationRoutes> {
        self.routes.as_ref()
    }

    /// Advances the network (see [`Traffic::advance`](super::Traffic::advance)).
    pub(super) fn advance(
        &mut self,
        until: Option<Time>,
        finished: &mut Vec<JobId>,
    ) -> Result<Option<Time>, Deadlock> {
        if let Some(deadlock) = self.failed.take() {
            return Err(deadlock);
        }
        self.set_paces();
        while let Some(&Reverse((time, slot))) = self.ends.peek() {
            let over = finished.is_empty() || self.changed == Some(time);
            if !over || until.is_some_and(|until| until < time) {
                break;
            }
            self.ends.pop();
            let runs = self.jobs[slot as usize].take_if(|job| job.end == time);
            let Some(job) = runs else { continue };
            for Crossed { hold, busy } in &job.links {
                let link = &mut self.links[hold.link.index()];
                link.crossed_by.retain(|other| *other != slot);
                link.change(slot, [*busy, Busy::default()], &mut self.stale);
            }
            self.free_slots.push(slot);
            self.changed = Some(time);
            finished.push(job.id);
        }
        finished.sort_unstable();
        Ok(if finished.is_empty() { until } else { self.changed })
    }

    /// Starts a job (see [`Traffic::start`](super::Traffic::start)).
    pub(super) fn start(&mut self, now: Time, job: &Job, placement: &Placement) -> bool {
        self.routes = None;
        let runner = self.runner(now, job, placement).unwrap_or_else(|deadlock| {
            self.failed = Some(deadlock);
            None
        });
        let Some(mut runner) = runner else { return self.failed.is_some() };
        self.changed = Some(now);
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.jobs.push(None);
            self.stale.push(true);
            self.jobs.len() as u32 - 1
        });
        self.stale[slot as usize] = true;
        for Crossed { hold, .. } in &runner.links {
            self.links[hold.link.index()].crossed_by.push(slot);
        }
        self.mark(slot, &mut runner);
        self.ends.push(Reverse((runner.end, slot)));
        self.jobs[slot as usize] = Some(runner);
        true
    }

    fn runner(
        &mut self,
        now: Time,
        job: &Job,
        placement: &Placement,
    ) -> Result<Option<Runner>, Deadlock> {
        let draw = NetworkSetup::draws(self.seed, self.replication, job.id);
        let Estimate { setup, grid, trials, holds, .. } = self;
        let Some(mut course) = Course::new(trials, job, placement, &draw)? else {
            return Ok(None);
        };
        let Some(exchange_alone) = course.exchange_alone(trials)? else { return Ok(None) };
        if self.seen.routes {
            self.routes = setup.routes(grid, &course.layout, &draw);
        }
        let holds = match job.service {
            Service::Messages(_) => Vec::new(),
            _ => holds.of(&course.layout, trials.key(&course.layout, ITERATION, &draw), &draw),
        };
        let crossed = |hold| Crossed { hold, busy: Busy::default() };
        let links = holds.into_iter().map(crossed).collect();
        let Course { pause, rest, exchanges_left, .. } = course;
        let end = now.saturating_add(course.remainder(&exchange_alone).length);
        let pace = (exchange_alone.length.0 + pause.0) as f64;
        let (id, since, left) = (job.id, now, exchanges_left as f64);
        Ok(Some(Runner { id, exchange_alone, pause, rest, links, left, since, pace, end }))
    }

    /// Records a job's use of each of its links at its current pace.
    fn mark(&mut self, slot: u32, job: &mut Runner) {
        for Crossed { hold, busy } in &mut job.links {
            let before = std::mem::replace(busy, Busy::of(hold, job.pace));
            if before != *busy {
                self.links[hold.link.index()].change(slot, [before, *busy], &mut self.stale);
            }
        }
    }

    /// Updates every pace that may have changed, if any job has started or ended.
    fn set_paces(&mut self) {
        let Some(now) = self.changed.take() else { return };
        for slot in 0..self.jobs.len() {
            if !std::mem::take(&mut self.stale[slot]) {
                continue;
            }
            let Some(mut job) = self.jobs[slot].take() else { continue };
            let pace = self.pace(&job);
            let change = (pace - job.pace).abs();
            let back = pace <= job.pace_alone() && change > 0.0;
            if back || change > LEAST_CHANGE * job.pace {
                job.change(now, pace);
                self.ends.push(Reverse((job.end, slot as u32)));
                self.mark(slot as u32, &mut job);
            }
            self.jobs[slot] = Some(job);
        }
    }

    /// Returns a job's pace, given the paces of all other jobs.
    fn pace(&self, job: &Runner) -> f64 {
        let mut waits = 0.0;
        for Crossed { hold, busy } in &job.links {
            let mut others = self.links[hold.link.index()].busy;
            others -= *busy;
            // Most links are used only by this job.
            if others.residual > 0 {
                waits += hold.messages as f64 * others.wait();
            }
        }
        // Both sums cover the same messages, so their ratio is the mean wait divided by the mean
        // latency.
        let slower = waits / (job.exchange_alone.totals.latency as f64).max(1.0);
        job.pace_alone() + job.exchange_alone.length.ticks() * slower
    }
}

#[cfg(test)]
mod tests {
    use pavior_mesh::{Cuboid, NodeId, Request};
    use pavior_network::{EngineKind, RankOrder, Settings, TrafficPlan};

    use super::super::{Contention, Histories};
    use super::*;

    /// Starts a scattered job every 500 cycles, on nodes from the list. Returns the end time of
    /// each job. If `all` is true, every job is updated whenever any job starts or ends.
    fn ends(grid: Grid, nodes: &[NodeId], all: bool) -> Vec<(Time, JobId)> {
        let setup = NetworkSetup {
            engine: EngineKind::Worm,
            settings: Settings::default(),
            plan: TrafficPlan {
                pattern: "near-neighbour".parse().unwrap(),
                sending: None,
                rounds: None,
                flits: 8,
            },
            ranks: RankOrder::Coordinates,
            histories: Histories::default(),
            contention: Contention::Estimated,
        };
        let seen = Seen { deliveries: false, routes: false };
        let mut estimate = Estimate::new(&setup, grid, 1, 0, seen).unwrap();
        let mut ended = Vec::new();
        let mut pass = |estimate: &mut Estimate, until: Option<Time>| loop {
            let mut finished = Vec::new();
            if all {
                estimate.stale.fill(true);
            }
            let now = estimate.advance(until, &mut finished).unwrap();
            ended.extend(finished.iter().map(|job| (now.unwrap(), *job)));
            if finished.is_empty() {
                break;
            }
        };
        for (id, held) in nodes.chunks_exact(4).enumerate() {
            let now = Time(500 * id as u64);
            pass(&mut estimate, Some(now));
            let job = Job {
                id: JobId(id as u64),
                index: id as u64,
                number: id as u64,
                arrival: now,
                request: Request::shape([2, 2, 1]),
                service: Service::shared(Time(20_000), 0.6),
                estimate: Time(20_000),
            };
            let parts = held.iter().map(|&node| Cuboid::node(grid.point(node))).collect();
            assert!(estimate.start(now, &job, &Placement::Parts(parts)));
        }
        pass(&mut estimate, None);
        ended
    }

    #[test]
    fn who_is_not_looked_at_keeps_the_pace() {
        let mut draw = pavior_kernel::Stream::new(3, 0, "nodes");
        for name in ["mesh:9x9", "torus:8x8", "torus:4x4x5"] {
            let grid: Grid = name.parse().unwrap();
            let mut nodes: Vec<NodeId> = (0..grid.nodes()).map(NodeId).collect();
            draw.sample(&mut nodes, usize::MAX);
            let found = ends(grid, &nodes, false);
            assert_eq!(found, ends(grid, &nodes, true), "{name}");
            assert_eq!(found.len(), nodes.len() / 4, "{name}");
            let alone = ends(grid, &nodes[..4], false);
            assert!(found.iter().any(|(end, job)| *job == JobId(0) && *end > alone[0].0), "{name}");
        }
    }
}
