//! `pavior slurm why JOB`: explains why a job is waiting, and which moves would help.

use std::collections::HashSet;

use pavior::answers::{PlannedStart, Queued};
use pavior::strategies::explain;
use pavior::text::shown;
use pavior::{Cuboid, JobId, Time};
use pavior_cluster::{Context, MOVED};

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

/// Explains why a job, or the first task of an array, is waiting, and when and where it is planned
/// to start.
///
/// # Errors
/// Returns an error if Slurm does not answer or there is no such job.
pub fn why(config: &Config, name: &str) -> Result<String, SlurmError> {
    let (ledger, site, now) = (Ledger::read(config)?, Site::read(None)?, now());
    let usage = Reader::default().read(config, &site, &ledger, now)?;
    let unknown = || SlurmError::UnknownJob(shown(name).to_string());
    let (name, mut text) = ledger.find(name).ok_or_else(unknown)?;
    let world = World { config, ledger: &ledger, now };
    text += &answer(world, Rules { site: &site, usage: &usage }, name)?;
    let waits = |job: &SlurmJob| job.name == name && job.phase == Phase::Pending;
    if ledger.jobs.iter().any(waits) {
        for other in site.ungated(config) {
            let other = shown(other);
            text += &format!(
                "\nJobs in partition {other} start on the same nodes without the gate. The times \
                 here ignore its waiting jobs."
            );
        }
    }
    Ok(text)
}

/// Explains a job in the ledger. Cost: simulates the queue once and searches for moves.
pub(crate) fn answer(
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
    let (job, id) = (&ledger.jobs[index], JobId(index as u64));
    let mut state = MachineState::of(world, rules.site, &HashSet::new(), &mut shaper)?;
    let words = |cuboid: &Cuboid| explain::words(&config.grid, cuboid);
    let holds = |state: &MachineState| {
        let held = state.planner.machine().placement(id);
        held.map_or(Vec::new(), |held| held.parts().iter().map(words).collect()).join("; ")
    };
    if job.phase != Phase::Pending {
        return Ok(format!("{name} holds {}", holds(&state)));
    }
    match state.unplaceable.iter().find(|(other, _)| *other == index) {
        Some((_, Obstacle::Never(fault))) => {
            return Ok(format!("{name} cannot be placed: {fault}"));
        }
        Some((_, Obstacle::Reserved)) => return Ok(notes::reserved(world).as_str().to_string()),
        None => {}
    }
    let named = || job.named.iter().map(NodeName::as_str).collect::<Vec<_>>().join(",");
    let asked = match (&state.roles[index], request(config, job, &mut shaper)) {
        (_, Err(fault)) => return Ok(format!("{name} cannot be placed: {fault}")),
        (Role::Waits(request), _) => *request,
        (Role::Opened, _) => return Ok(format!("{name} may start on {}", named())),
        (Role::Preempting, _) => {
            return Ok(format!("{name} will start on {} once jobs there are preempted", named()));
        }
        (Role::Held, _) => return Ok(format!("{name} is held")),
        (Role::Obstructed(fault), _) => return Ok(format!("{name} will be placed again: {fault}")),
        (Role::Apart, _) => {
            return Ok(format!("{name} is waiting for Slurm: {}", shown(&job.reason)));
        }
        (_, Ok(request)) => request,
    };
    let mut limits = Limits::new(rules, ledger);
    let starting = |role: &Role| matches!(role, Role::Opened | Role::Preempting);
    let roles = state.roles.iter().zip(&ledger.jobs);
    roles.filter(|(role, _)| starting(role)).for_each(|(_, job)| limits.take(job));
    if let Some(limit) = limits.over(job) {
        return Ok(format!("{name} cannot start yet: limit {limit}"));
    }
    queue(world, rules.site, &mut state, &mut limits);
    while state.planner.start_next()?.is_some() {}
    if state.planner.machine().placement(id).is_some() {
        return Ok(format!("{name} may start now on {}", holds(&state)));
    }
    // The start that the scheduler has reserved, or else the one if each job runs until its limit.
    let (planner, standing) = (&state.planner, state.planner.standing());
    let reserved = PlannedStart::of(standing.as_ref(), id, Time::MAX);
    let planned = if reserved.is_some() {
        planner.planned(standing.as_ref(), id)
    } else {
        let starts = planner.starts(&config.scheduler).map_err(SlurmError::Config)?;
        starts.get(&id).map(|&at| PlannedStart { at: Time(at), place: None })
    };
    let context = Context { moved: MOVED, queued: Queued::Kept, planned };
    let snapshot = planner.snapshot(&asked);
    let (_, lines) = explainer(world, |one| one.explain(&snapshot, &asked, &context));
    Ok(lines.join("\n"))
}
