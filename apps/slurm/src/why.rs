//! `pavior slurm why JOB`: what a job waits for, and which moves would help.

use std::collections::HashSet;

use pavior::answers::Queued as Waits;
use pavior::strategies::explain;
use pavior::text::shown;
use pavior::{Cuboid, JobId};

use crate::cycle::{self, View};
use crate::daemon::{now, shaper};
use crate::forecast::{Past, QueueState};
use crate::ledger::{Ledger, Phase, SlurmJob};
use crate::limits::{Limits, Reader};
use crate::names::{JobName, NodeName};
use crate::reason::{self, Context, Told};
use crate::site::Site;
use crate::state::{Role, Seen, State, Unplaced, request};
use crate::{Config, SlurmError};

/// The most jobs that are moved in a plan.
pub(crate) const MOVED: usize = 2;

/// Tells what a job waits for; of an array, what its first task waits for.
///
/// # Errors
/// If Slurm does not answer, or there is no such job.
pub fn why(config: &Config, name: &str) -> Result<String, SlurmError> {
    let site = Site::read(None)?;
    let ledger = Ledger::read(config)?;
    let now = now();
    let said = Reader::default().read(config, &site, &ledger, now)?;
    let past = || Past::ask(config, now);
    let unknown = || SlurmError::UnknownJob(shown(name).to_string());
    let (name, mut text) = ledger.find(name).ok_or_else(unknown)?;
    text += &tell(config, &ledger, name, &View { now, site: &site, said: &said }, past)?;
    let waits = |job: &SlurmJob| job.name == name && job.phase == Phase::Pending;
    if ledger.jobs.iter().any(waits) {
        for other in site.ungated(config) {
            let other = shown(other);
            text += &format!(
                "\nJobs of partition {other} start on the same nodes without the gate. Those that \
                 wait are not counted in any time here."
            );
        }
    }
    Ok(text)
}

fn tell(
    config: &Config,
    ledger: &Ledger,
    name: JobName,
    view: &View<'_>,
    past: impl FnOnce() -> Option<Past>,
) -> Result<String, SlurmError> {
    let (&View { now, site, said }, preempting) = (view, &HashSet::new());
    let mut shaper = shaper(config)?;
    let Some(index) = ledger.jobs.iter().position(|job| job.name == name) else {
        let found = ledger.unreadable.iter().find(|record| record.job == Some(name));
        let fault = found.map_or("its record cannot be read", |record| record.fault);
        return Ok(format!("{name} is not placed: {fault}"));
    };
    let job = &ledger.jobs[index];
    let mut state = State::of(config, ledger, &mut shaper, &Seen { now, site, preempting })?;
    let words = |cuboid: &Cuboid| explain::words(&config.grid, cuboid);
    if job.phase != Phase::Pending {
        let parts = state.machine().placement(JobId(index as u64));
        let parts = parts.map_or(Vec::new(), |held| held.parts().iter().map(words).collect());
        return Ok(format!("{name} holds {}", parts.join("; ")));
    }
    if let Some((_, found)) = state.unplaceable.iter().find(|(other, _)| *other == index) {
        return Ok(match found {
            Unplaced::Never(fault) => format!("{name} cannot be placed: {fault}"),
            Unplaced::Reserved => reason::reserved(config, ledger).as_str().to_string(),
        });
    }
    let asked = match (&state.roles[index], request(config, job, &mut shaper)) {
        (_, Err(fault)) => return Ok(format!("{name} cannot be placed: {fault}")),
        (Role::Waits(request), _) => *request,
        (Role::Opened, _) => {
            let nodes: Vec<&str> = job.named.iter().map(NodeName::as_str).collect();
            return Ok(format!("{name} may start on {}", nodes.join(",")));
        }
        (Role::Preempting, _) => {
            let nodes: Vec<&str> = job.named.iter().map(NodeName::as_str).collect();
            return Ok(format!(
                "{name} starts on {} when jobs there are preempted",
                nodes.join(",")
            ));
        }
        (Role::Held, _) => return Ok(format!("{name} is held")),
        (Role::Obstructed(fault), _) => return Ok(format!("{name} is placed again: {fault}")),
        (Role::Apart, _) => {
            return Ok(format!("{name} waits for Slurm: {}", shown(&job.reason)));
        }
        (_, Ok(request)) => request,
    };
    let mut limits = Limits::new(site, said, ledger);
    for (index, role) in state.roles.iter().enumerate() {
        if matches!(role, Role::Opened | Role::Preempting) {
            limits.take(&ledger.jobs[index]);
        }
    }
    if let Some(limit) = limits.over(job) {
        return Ok(format!("{name} is not started yet: limit {limit}"));
    }
    let snapshot = state.snapshot(&asked);
    // No scheduler has been asked yet, so that nothing is planned.
    let context = Context { now, moved: MOVED, queued: Waits::Kept, planned: None };
    let mut lines = Told::of(config, ledger, &snapshot, &asked, &context).lines();
    cycle::queue(ledger, &mut state, &mut limits, view);
    let queued = QueueState { config, ledger, state: &state, now };
    lines.push(queued.forecast(index, past().as_ref(), &mut shaper)?);
    Ok(lines.join("\n"))
}
