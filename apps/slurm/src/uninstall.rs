//! `pavior slurm uninstall`: gives Slurm its jobs back, and takes the reservation away.
//!
//! The gate of every waiting job is stripped: the licence goes, the nodes that the daemon named are
//! taken back, the priority is Slurm's again. No job is ended or held. It can be run again at any
//! time, and may be killed at any time.

use std::collections::HashSet;
use std::time::Duration;

use crate::ask::{Operator, Question, capture};
use crate::command::{self, Change, TOP};
use crate::daemon::is_basic;
use crate::ledger::{Ledger, Phase, SlurmJob};
use crate::names::JobName;
use crate::question::try_gate;
use crate::turn::Turn;
use crate::{Config, SlurmError};

/// The most rounds: jobs may come while others are stripped.
const ROUNDS: usize = 50;

/// Before a look at what a daemon that still runs would have done, in milliseconds.
const LOOK: u64 = 2000;

/// What was done, and what is left to do by hand; a line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// What was done.
    pub done: Vec<String>,
    /// What is left.
    pub left: Vec<String>,
}

/// Takes the gates and the reservation away.
///
/// # Errors
/// If Slurm does not answer, or the daemon still runs.
pub fn uninstall(config: &Config) -> Result<Removal, SlurmError> {
    let runs = "the daemon still runs: end it (systemctl disable --now pavior-slurm), and run this \
                again";
    let mut turn = Turn::default();
    if !turn.take(config.lock.as_ref()).unwrap_or(true) {
        return Err(SlurmError::Config(runs.into()));
    }
    let operator = Operator::new();
    let basic = is_basic()?;
    let mut stripped: HashSet<(JobName, u64)> = HashSet::new();
    let mut objections = Vec::new();
    for round in 0..ROUNDS {
        let ledger = Ledger::read(config)?;
        let changes = strips(config, &ledger, basic);
        if changes.is_empty() && round > 0 {
            break;
        }
        let again =
            |job: &SlurmJob| job.licences.gated(&config.licence) && stripped.contains(&key(job));
        if ledger.jobs.iter().any(again) {
            return Err(SlurmError::Config(runs.into()));
        }
        let named: HashSet<JobName> = changes.iter().map(Change::job).collect();
        let jobs = ledger.jobs.iter().filter(|job| named.contains(&job.name));
        stripped.extend(jobs.map(key));
        objections = command::carry_out(&operator, &changes, config.tell)?;
        std::thread::sleep(Duration::from_millis(LOOK));
    }
    let mut removal = Removal::default();
    removal.done.push(format!("{} waiting jobs have no gate any more", stripped.len()));
    removal.left.extend(objections.into_iter().map(|text| format!("Slurm objected: {text}")));
    removal.done.push(unreserve(&operator, &config.licence)?.into());
    removal.left.extend(by_hand(config)?);
    Ok(removal)
}

fn key(job: &SlurmJob) -> (JobName, u64) {
    (job.name, job.submitted)
}

/// What strips the gates of the jobs that wait.
fn strips(config: &Config, ledger: &Ledger, basic: bool) -> Vec<Change> {
    let waits = |job: &&SlurmJob| job.phase == Phase::Pending;
    let opened = |job: &SlurmJob| !job.named.is_empty() && job.priority == u64::from(TOP);
    let jobs = ledger.jobs.iter().filter(waits);
    let stripped =
        jobs.filter(|job| job.licences.gated(&config.licence) || opened(job)).map(|job| {
            // With first come, first served, Slurm would put it behind all others.
            let later = ledger.jobs.iter().filter(waits).filter(|other| {
                other.submitted >= job.submitted
                    && other.priority < u64::from(TOP)
                    && !opened(other)
            });
            let priority = later.map(|other| other.priority).max().filter(|_| basic);
            Change::Strip {
                job: job.name,
                licences: job.licences.others(&config.licence),
                opened: opened(job),
                priority: priority.filter(|&priority| priority > 0),
            }
        });
    stripped.collect()
}

/// Removes the reservation of the licence, if it is there.
fn unreserve(operator: &Operator, licence: &str) -> Result<&'static str, SlurmError> {
    let own = format!("ReservationName={licence} ");
    let shown = capture(Question::Show, &["reservation", "-o"])?;
    if !shown.lines().any(|line| line.starts_with(&own)) {
        return Ok("the reservation of the licence was not there");
    }
    operator.scontrol(&["delete", own.trim()])?;
    Ok("the reservation of the licence is removed")
}

/// What no command can do.
fn by_hand(config: &Config) -> Result<Vec<String>, SlurmError> {
    let gate = try_gate(config)?;
    let acts = gate.faults.is_empty();
    let first = if acts {
        "the gate still acts on new jobs: take pavior's part out of job_submit.lua, or lua out of \
         JobSubmitPlugins, then restart slurmctld, and run this again"
    } else {
        "pavior's part of job_submit.lua, and lua in JobSubmitPlugins if nothing else needs it"
    };
    Ok(vec![
        first.into(),
        format!(
            "{}:1 in the Licenses of slurm.conf, once no job has it; restart slurmctld",
            config.licence
        ),
        "the unit pavior-slurm.service, and /etc/pavior".into(),
    ])
}
