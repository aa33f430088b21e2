//! The page's view of a machine, its jobs and its queue.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use pavior::boxes::tile;
use pavior::text::shown;
use pavior::workload::Shaper;
use pavior::{Cuboid, NodeId, Request};
use pavior_cluster::{Holding, View, WaitingJob};

use crate::Config;
use crate::ledger::{Condition, Ledger, Phase, SlurmJob};
use crate::plan::explanation::display_name;
use crate::plan::request::{no_box_message, request, shaper};
use crate::plan::shape;
use crate::plan::world::World;

/// The maximum length of Slurm's reason as shown on the page, in characters.
const MAX_REASON: usize = 60;

/// The name displayed for an unknown job. The job may be hidden from the observer, be in another
/// partition, or have a malformed record.
const UNKNOWN_JOB: &str = "another";

/// Creates the page's view of a machine. The view includes jobs without a shape.
pub(crate) fn view(config: &Config, ledger: Ledger, now: u64) -> View {
    let world = World { config, ledger: &ledger, now };
    let (by_owner, failed) = owners(world);
    let grid = config.grid;
    let held = by_owner.into_iter().map(|(owner, nodes)| {
        let job = owner.map(|index| &ledger.jobs[index]);
        let is_held = |node: NodeId| nodes.binary_search(&node).is_ok();
        let id = job.map_or(UNKNOWN_JOB.to_string(), |job| job.name.to_string());
        Holding {
            name: job.map_or("another job".to_string(), |job| display_name(config, job)),
            job: job.map(|_| id.clone()),
            id,
            user: job.map(user),
            start: job.map(|job| job.start.unwrap_or(now)),
            end: job.and_then(|job| job.release_time(now)),
            parts: tile(&grid, &Cuboid::whole(&grid), is_held),
        }
    });
    let held = held.collect();
    let mut waiting: Vec<&SlurmJob> =
        ledger.jobs.iter().filter(|job| job.phase == Phase::Pending).collect();
    // Slurm orders jobs by priority, then by submission time and name.
    waiting.sort_by_key(|job| (Reverse(job.priority), job.submitted, job.name));
    let mut shaper = shaper(&grid);
    let waiting = waiting.into_iter().map(|job| waiting_job(config, job, &mut shaper)).collect();
    let unreadable = ledger.unreadable.iter();
    let unreadable =
        unreadable.filter_map(|record| Some((record.job?.to_string(), record.fault.to_string())));
    let view = View {
        now,
        name: config.partition.clone(),
        ledger: "slurm",
        grid,
        strategy: config.strategy.clone(),
        scheduler: "Slurm".to_string(),
        held,
        failed,
        waiting,
        unreadable: unreadable.collect(),
        find: Box::new(move |text| {
            let (name, array) = ledger.find(text)?;
            Some((name.to_string(), array.map_or(String::new(), |array| array.to_string())))
        }),
        shaper: Some(crate::plan::request::shaper),
    };
    view.joined()
}

/// Returns the nodes that each job holds, and the unavailable nodes. Nodes held by unknown jobs are
/// listed under `None`.
fn owners(world: World<'_>) -> (BTreeMap<Option<usize>, Vec<NodeId>>, Vec<NodeId>) {
    let World { config, ledger, .. } = world;
    let conditions = world.conditions();
    let mut owners: Vec<Option<usize>> = vec![None; conditions.len()];
    let holds = |job: &SlurmJob| job.phase != Phase::Pending;
    for (index, job) in ledger.jobs.iter().enumerate().filter(|(_, job)| holds(job)) {
        for id in job.held_nodes.iter().filter_map(|name| config.nodes.get(name)) {
            owners[id.index()].get_or_insert(index);
        }
    }
    let mut by_owner: BTreeMap<Option<usize>, Vec<NodeId>> = BTreeMap::new();
    let mut failed = Vec::new();
    for (node, (owner, condition)) in owners.iter().zip(&conditions).enumerate() {
        let node = NodeId(node as u32);
        match (owner, condition) {
            (Some(_), _) | (None, Condition::Taken | Condition::Reserved) => {
                by_owner.entry(*owner).or_default().push(node);
            }
            (None, Condition::PoweringOff | Condition::Unavailable) => failed.push(node),
            (None, Condition::Idle) => {}
        }
    }
    (by_owner, failed)
}

fn waiting_job(config: &Config, job: &SlurmJob, shaper: &mut Shaper) -> WaitingJob {
    let reason: String = shown(&job.reason).to_string().chars().take(MAX_REASON).collect();
    let request = request_or_smallest_box(config, job, shaper);
    let suffix = match request.as_ref().map(|request| request.shape) {
        Ok(Some(sides)) => {
            format!(". The job's {} nodes would form a {} box.", job.nodes, config.size(sides))
        }
        Ok(None) => String::new(),
        Err(fault) => format!("; the job cannot be placed: {fault}"),
    };
    let request = request.ok();
    let shape = request.and_then(|request| request.shape);
    WaitingJob {
        id: job.name.to_string(),
        user: user(job),
        nodes: Some(job.nodes.into()),
        shape: shape.filter(|_| !has_no_shape(config, job)),
        request,
        submitted: job.submitted,
        sentence: format!("Slurm reports {reason}{suffix}"),
        kind: reason,
        starts: None,
        forecast: None,
    }
}

/// Returns a job's request on a cluster without a gate: the shape in its comment or, if there is
/// none, the smallest box with enough nodes.
fn request_or_smallest_box(
    config: &Config,
    job: &SlurmJob,
    shaper: &mut Shaper,
) -> Result<Request, String> {
    match request(config, job, shaper) {
        Err(_) if has_no_shape(config, job) => {
            let request = shaper.request(job.nodes.max(1));
            request.shape.map(|_| request).ok_or_else(|| no_box_message(job.nodes))
        }
        request => request,
    }
}

/// Returns true if a job's comment is valid and contains no shape.
fn has_no_shape(config: &Config, job: &SlurmJob) -> bool {
    let axes = config.grid.axes();
    job.comment.as_ref().is_ok_and(|comment| matches!(shape::read(comment, axes), Ok(None)))
}

fn user(job: &SlurmJob) -> String {
    format!("uid {}", job.user)
}
