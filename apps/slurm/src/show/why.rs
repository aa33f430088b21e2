//! The `pavior slurm why` command, which explains why a job is waiting and suggests moves.

use std::collections::HashSet;

use pavior::answers::{PlannedStart, Queued};
use pavior::strategies::explain;
use pavior::text::shown;
use pavior::{Cuboid, JobId, Time};
use pavior_cluster::{Context, MAX_MOVES, Planner};

use crate::calls::now;
use crate::ledger::site::Site;
use crate::ledger::usage::Reader;
use crate::ledger::{Ledger, Phase, SlurmJob};
use crate::names::{JobName, NodeName};
use crate::plan::explanation::explainer;
use crate::plan::limits::Limits;
use crate::plan::machine::{MachineState, Obstacle, Role};
use crate::plan::request::{request, shaper};
use crate::plan::world::{Rules, World};
use crate::plan::{notes, queue};
use crate::{Config, SlurmError};

/// Explains why a job (or the first task of an array) is waiting, and when and where it is planned
/// to start.
///
/// # Errors
/// Returns an error if Slurm does not respond or there is no such job.
pub fn why(config: &Config, name: &str) -> Result<String, SlurmError> {
    let (ledger, site, now) = (Ledger::read(config)?, Site::read(None)?, now());
    let unknown = || SlurmError::UnknownJob(shown(name).to_string());
    let (name, array) = ledger.find(name).ok_or_else(unknown)?;
    let usage = Reader::for_array(name.array()).read(config, &site, &ledger, now)?;
    let mut text = array.map_or(String::new(), |array| array.to_string());
    let world = World { config, ledger: &ledger, now };
    text += &explain_job(world, Rules { site: &site, usage: &usage }, name)?;
    let is_waiting = |job: &SlurmJob| job.name == name && job.phase == Phase::Pending;
    if ledger.jobs.iter().any(is_waiting) {
        for other in site.ungated(config) {
            let other = shown(other);
            text += &format!(
                "\nJobs in partition {other} can start on these nodes without going through the \
                 gate. The times shown here do not account for that partition's waiting jobs."
            );
        }
    }
    Ok(text)
}

/// Explains the state of a job in the ledger. Simulates the queue once and searches for moves.
pub(crate) fn explain_job(
    world: World<'_>,
    rules: Rules<'_>,
    name: JobName,
) -> Result<String, SlurmError> {
    let World { config, ledger, .. } = world;
    let mut shaper = shaper(&config.grid);
    let Some(index) = ledger.jobs.iter().position(|job| job.name == name) else {
        let found = ledger.unreadable.iter().find(|record| record.job == Some(name));
        let fault = found.map_or("its record cannot be parsed", |record| record.fault);
        return Ok(format!("{name} cannot be placed: {fault}"));
    };
    let job = &ledger.jobs[index];
    let mut state = MachineState::of(world, rules.site, &HashSet::new(), &mut shaper)?;
    if let Some(line) = status_line(world, &state, index) {
        return Ok(line);
    }
    let request = match (&state.roles[index], request(config, job, &mut shaper)) {
        (_, Err(fault)) => return Ok(format!("{name} cannot be placed: {fault}")),
        (Role::Waits(request), _) => *request,
        (role, Ok(request)) => match role_line(job, role) {
            Some(line) => return Ok(line),
            None => request,
        },
    };
    let mut limits = Limits::new(rules, ledger);
    for (role, job) in state.roles.iter().zip(&ledger.jobs) {
        if matches!(role, Role::Opened | Role::Preempting) {
            limits.reserve(job);
        }
    }
    if let Some(limit) = limits.exceeded_by(job) {
        return Ok(format!("{name} cannot start yet because of limit {limit}"));
    }
    queue(world, rules.site, &mut state, &mut limits);
    while state.planner.start_next()?.is_some() {}
    let planner = &state.planner;
    let id = JobId(index as u64);
    if planner.machine().placement(id).is_some() {
        return Ok(format!("{name} may start now on {}", placement(config, planner, id)));
    }
    let context = Context {
        moved: MAX_MOVES,
        queued: Queued::Kept,
        planned: planned_start(config, planner, id)?,
    };
    let snapshot = planner.snapshot(&request);
    let (_, lines) = explainer(world, |one| one.explain(&snapshot, &request, &context));
    Ok(lines.join("\n"))
}

/// Describes a job that holds nodes or cannot be placed. Returns `None` for any other job.
fn status_line(world: World<'_>, state: &MachineState, index: usize) -> Option<String> {
    let World { config, ledger, .. } = world;
    let job = &ledger.jobs[index];
    let name = job.name;
    if job.phase != Phase::Pending {
        let boxes = placement(config, &state.planner, JobId(index as u64));
        return Some(format!("{name} holds {boxes}"));
    }
    let (_, obstacle) = state.unplaceable.iter().find(|(other, _)| *other == index)?;
    Some(match obstacle {
        Obstacle::Never(fault) => format!("{name} cannot be placed: {fault}"),
        Obstacle::Reserved => notes::reserved_note(world).as_str().to_string(),
    })
}

/// Describes a job that has a valid request but is not waiting for a box. Returns `None` otherwise.
fn role_line(job: &SlurmJob, role: &Role) -> Option<String> {
    let name = job.name;
    let nodes = || job.requested_nodes.iter().map(NodeName::as_str).collect::<Vec<_>>().join(",");
    match role {
        Role::Opened => Some(format!("{name} may start on {}", nodes())),
        Role::Preempting => Some(format!(
            "{name} will start on {} once the jobs there have been preempted",
            nodes()
        )),
        Role::Held => Some(format!("{name} is held")),
        Role::Obstructed(fault) => Some(format!("{name} will get a new placement: {fault}")),
        Role::Ineligible => Some(format!("{name} is waiting for Slurm: {}", shown(&job.reason))),
        Role::Holds | Role::Requeued | Role::Ungated | Role::Waits(_) => None,
    }
}

/// Describes the boxes that a job holds.
fn placement(config: &Config, planner: &Planner, id: JobId) -> String {
    let words = |cuboid: &Cuboid| explain::words(&config.grid, cuboid);
    let held = planner.machine().placement(id);
    held.map_or(Vec::new(), |held| held.parts().iter().map(words).collect()).join("; ")
}

/// Returns the start time that the scheduler has reserved or, failing that, a prediction that
/// assumes that every job runs until its time limit.
fn planned_start(
    config: &Config,
    planner: &Planner,
    id: JobId,
) -> Result<Option<PlannedStart>, SlurmError> {
    let standing = planner.standing();
    if PlannedStart::of(standing.as_ref(), id, Time::MAX).is_some() {
        return Ok(planner.planned(standing.as_ref(), id));
    }
    let starts = planner.starts(&config.scheduler()).map_err(SlurmError::Planner)?;
    Ok(starts.get(&id).map(|&at| PlannedStart { at: Time(at), place: None }))
}
