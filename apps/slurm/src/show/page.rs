//! The picture of a machine for the page: jobs, their nodes, and the queue.

use std::collections::BTreeMap;
use std::sync::Arc;

use pavior::answers::json::Place;
use pavior::boxes::tile;
use pavior::strategies::explain as engine;
use pavior::text::shown;
use pavior::{Cuboid, JobId, NodeId, Request};
use pavior_board::{Asked, Drawn, Head, joined};
use serde_json::{Value, json};

use crate::Config;
use crate::ledger::{Condition, Ledger, Phase, SlurmJob};
use crate::names::JobName;
use crate::plan::explanation::date;
use crate::plan::request::{no_box, request, shaper};
use crate::plan::shape;
use crate::plan::world::World;
use crate::show::questions;

/// The maximum number of characters shown of Slurm's reason.
const LONGEST_REASON: usize = 60;

/// The name of an unknown job, which is hidden from the observer, in another partition, or
/// unreadable.
const UNKNOWN: &str = "another";

/// Nodes that are held together.
struct Holding {
    /// The job's index in the ledger, if known.
    job: Option<usize>,
    parts: Vec<Cuboid>,
    nodes: u32,
}

/// Counts of jobs and nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) holding: usize,
    pub(crate) boxes: usize,
    pub(crate) waiting: usize,
    pub(crate) busy: u32,
    pub(crate) free: u32,
    pub(crate) failed: u32,
    pub(crate) largest_free: u64,
}

/// A machine at one time.
pub(crate) struct Picture {
    pub(crate) config: Arc<Config>,
    pub(crate) ledger: Ledger,
    pub(crate) now: u64,
    held: Vec<Holding>,
    failed: Vec<NodeId>,
    /// The indices in the ledger of the waiting jobs.
    waiting: Vec<usize>,
}

impl Picture {
    pub(crate) fn of(config: Arc<Config>, ledger: Ledger, now: u64) -> Picture {
        let conditions = World { config: &config, ledger: &ledger, now }.conditions();
        let mut owners: Vec<Option<usize>> = vec![None; conditions.len()];
        let holds = |job: &SlurmJob| job.phase != Phase::Pending;
        for (index, job) in ledger.jobs.iter().enumerate().filter(|(_, job)| holds(job)) {
            for id in job.held.iter().filter_map(|name| config.nodes.get(name)) {
                owners[id.index()].get_or_insert(index);
            }
        }
        let mut by_owner: BTreeMap<Option<usize>, Vec<NodeId>> = BTreeMap::new();
        let mut failed = Vec::new();
        for (node, (owner, condition)) in owners.iter().zip(&conditions).enumerate() {
            let node = NodeId(node as u32);
            match (owner, condition) {
                (Some(job), _) => by_owner.entry(Some(*job)).or_default().push(node),
                (None, Condition::Taken | Condition::Reserved) => {
                    by_owner.entry(None).or_default().push(node);
                }
                (None, Condition::PoweringOff | Condition::Unavailable) => failed.push(node),
                (None, Condition::Idle) => {}
            }
        }
        let grid = &config.grid;
        let held = by_owner.into_iter().map(|(job, nodes)| {
            let is_held = |node: NodeId| nodes.binary_search(&node).is_ok();
            let parts = tile(grid, &Cuboid::whole(grid), is_held);
            Holding { job, parts: joined(grid, &parts), nodes: nodes.len() as u32 }
        });
        let held = held.collect();
        let waiting = ledger.jobs.iter().enumerate().filter(|(_, job)| !holds(job));
        let waiting = in_order(&ledger, waiting.map(|(index, _)| index).collect());
        Picture { config, ledger, now, held, failed, waiting }
    }

    pub(crate) fn world(&self) -> World<'_> {
        World { config: &self.config, ledger: &self.ledger, now: self.now }
    }

    /// Returns the machine state for answering questions. The number of a job is its index in the
    /// ledger.
    pub(crate) fn state(&self) -> engine::State {
        let mut state = engine::State::new(self.config.grid);
        for held in &self.held {
            let job = held.job.map_or(u64::MAX, |index| index as u64);
            // Each node has one owner here, so nothing overlaps.
            let _ = state.hold(JobId(job), &held.parts);
        }
        for &node in &self.failed {
            state.fail(node);
        }
        state
    }

    /// Returns the name of the job with this number in [`Picture::state`].
    pub(crate) fn name(&self, job: JobId) -> String {
        let job = self.ledger.jobs.get(job.0 as usize);
        job.map_or(UNKNOWN.to_string(), |job| job.name.to_string())
    }

    /// Finds a waiting job by its name.
    pub(crate) fn waits(&self, name: JobName) -> Option<&SlurmJob> {
        let mut jobs = self.waiting.iter().map(|&index| &self.ledger.jobs[index]);
        jobs.find(|job| job.name == name)
    }

    /// Describes the nodes of a job.
    pub(crate) fn holds(&self, job: &SlurmJob) -> String {
        let is = |held: &&Holding| held.job.is_some_and(|at| self.ledger.jobs[at].name == job.name);
        let words = |part: &Cuboid| engine::words(&self.config.grid, part);
        let parts = self.held.iter().find(is).map_or(&[][..], |held| &held.parts);
        parts.iter().map(words).collect::<Vec<_>>().join("; ")
    }

    pub(crate) fn counts(&self) -> Counts {
        let busy = self.held.iter().map(|held| held.nodes).sum();
        let failed = self.failed.len() as u32;
        let known = || self.held.iter().filter(|held| held.job.is_some());
        Counts {
            holding: known().count(),
            boxes: known().filter(|held| held.parts.len() == 1).count(),
            waiting: self.waiting.len(),
            busy,
            failed,
            free: self.config.grid.nodes() - busy - failed,
            largest_free: self.state().free().largest_free().map_or(0, |at| u64::from(at.volume())),
        }
    }

    fn lease(&self, name: &str, job: Option<&SlurmJob>, held: &Holding) -> Value {
        let start = job.and_then(|job| job.start).unwrap_or(self.now);
        let end = job.and_then(|job| job.until(self.now));
        json!({
            "id": name,
            "state": "held",
            "machine": self.config.partition,
            "nodes": held.nodes,
            "requested": job.map_or(held.nodes, |job| job.nodes),
            "parts": Place::all(&self.config.grid, &held.parts),
            "start": job.map(|_| date(start)),
            "expires": end.map(date),
            "tenant": job.map(user),
            "job": name,
        })
    }

    fn request(&self, job: &SlurmJob) -> Value {
        let axes = self.config.grid.axes();
        let wish =
            if says_no_shape(&self.config, job) { None } else { wish(&self.config, job).ok() };
        json!({
            "id": job.name.to_string(),
            "state": "waiting",
            "machine": self.config.partition,
            "requested": job.nodes,
            "shape": wish.and_then(|wish| wish.shape).map(|sides| sides[..axes].to_vec()),
            "asked": date(job.submitted),
            "tenant": user(job),
            "job": job.name.to_string(),
        })
    }
}

impl pavior_board::View for Picture {
    fn now(&self) -> u64 {
        self.now
    }

    fn head(&self) -> Head {
        let config = &self.config;
        Head {
            name: config.partition.clone(),
            machine: config.grid.to_string(),
            strategy: config.strategy.to_string(),
            ledger: "slurm",
        }
    }

    fn drawn(&self) -> Drawn {
        let leases = self.held.iter().map(|held| {
            let job = held.job.map(|index| &self.ledger.jobs[index]);
            let name = job.map_or(UNKNOWN.to_string(), |job| job.name.to_string());
            let lease = self.lease(&name, job, held);
            (name, lease)
        });
        let waiting = self.waiting.iter().map(|&index| {
            let job = &self.ledger.jobs[index];
            (job.name.to_string(), self.request(job))
        });
        let grid = &self.config.grid;
        let point = |&node: &NodeId| grid.point(node)[..grid.axes()].to_vec();
        Drawn {
            leases: leases.collect(),
            waiting: waiting.collect(),
            failed: self.failed.iter().map(point).collect(),
        }
    }

    fn busy(&self) -> u32 {
        self.counts().busy
    }

    fn largest_free(&self) -> u64 {
        self.counts().largest_free
    }

    fn queue(&self, most: usize) -> (Vec<Value>, usize) {
        let jobs = self.waiting.iter().map(|&index| &self.ledger.jobs[index]);
        let waits = |job: &SlurmJob| {
            let id = job.name.to_string();
            json!({ "id": id, "waits_for": questions::waits_for(job) })
        };
        (jobs.take(most).map(waits).collect(), self.waiting.len())
    }

    fn explain(&self, asked: &Asked) -> Result<Value, String> {
        questions::explained(self, asked)
    }

    fn slots(&self, shape: &str) -> Result<Value, String> {
        questions::slots_of(self, shape)
    }

    fn why(&self, job: &str) -> Result<String, String> {
        questions::why(self, job)
    }
}

/// Returns a job's request on any cluster: the shape in its comment, or the smallest box for its
/// number of nodes.
pub(crate) fn wish(config: &Config, job: &SlurmJob) -> Result<Request, String> {
    let mut shaper = shaper(config).map_err(|error| error.to_string())?;
    match request(config, job, &mut shaper) {
        Err(_) if says_no_shape(config, job) && !job.bad_comment => {
            let wish = shaper.request(job.nodes.max(1));
            wish.shape.map(|_| wish).ok_or_else(|| no_box(job))
        }
        wish => wish,
    }
}

fn says_no_shape(config: &Config, job: &SlurmJob) -> bool {
    matches!(shape::read(&job.comment, config.grid.axes()), Ok(None))
}

/// Returns the user of a job.
fn user(job: &SlurmJob) -> String {
    format!("uid {}", job.user)
}

/// Returns Slurm's reason why a job is waiting, escaped and shortened.
pub(crate) fn slurms_word(job: &SlurmJob) -> String {
    shown(&job.reason).to_string().chars().take(LONGEST_REASON).collect()
}

/// Sorts jobs as Slurm does: by priority, then in the order in which it lists them.
fn in_order(ledger: &Ledger, mut waiting: Vec<usize>) -> Vec<usize> {
    waiting.sort_by_key(|&index| {
        let job = &ledger.jobs[index];
        (std::cmp::Reverse(job.priority), job.submitted, job.name)
    });
    waiting
}
