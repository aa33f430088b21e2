//! Answers questions about a machine: why a job is waiting, the place for a box, and moves that
//! would help.
//!
//! The answers have the format of `pavior serve`, which the page reads.

use pavior::Request;
use pavior::answers::{Queued, Snapshot};
use pavior::workload::Ask;
use pavior_board::{self as board, Answers, Asked, snapshot};
use serde_json::{Value, json};

use crate::ledger::{Phase, SlurmJob};
use crate::plan::explanation::{Context, Explanation};
use crate::plan::notes;
use crate::plan::request::shaper;
use crate::show::page::{Picture, slurms_word, wish};
use crate::show::why::MOVED;

/// Returns Slurm's reason why a job is waiting.
pub(crate) fn waits_for(job: &SlurmJob) -> Value {
    let word = slurms_word(job);
    json!({ "kind": word, "sentence": format!("Slurm says {word}"), "by": null })
}

/// Explains the strategy's answer to a request and the jobs in its way.
pub(crate) fn explained(view: &Picture, asked: &Asked) -> Result<Value, String> {
    let job = asked.waiting.as_deref().map(|name| named(view, name)).transpose()?;
    let request = match job {
        Some(job) => wish(&view.config, job)?,
        None => request(view, asked)?,
    };
    let waits_for = job.map(|job| told(view, job, &request));
    let why = |snapshot: &Snapshot| {
        let told = explained_on(view, snapshot, &request, job.is_some());
        board::Told { lines: told.lines(), nearest: told.nearest(), why: told.why }
    };
    answers(view, |answers| answers.explain(&request, why, waits_for.as_ref()))
}

/// Answers a question on the machine of a view.
fn answers<T>(view: &Picture, ask: impl FnOnce(&Answers<'_>) -> T) -> T {
    let counts = view.counts();
    ask(&Answers {
        grid: &view.config.grid,
        strategy: &view.config.strategy,
        state: view.state(),
        counts: [counts.free, counts.busy, counts.failed],
        name: &|job| view.name(job),
        end: &|job| view.world().end(job),
    })
}

/// Explains why a request would have to wait on an observed machine.
fn explained_on<'a>(
    view: &'a Picture,
    snapshot: &'a Snapshot,
    request: &Request,
    is_waiting: bool,
) -> Explanation<'a> {
    let queued = if is_waiting { Queued::Kept } else { Queued::First };
    let context = Context { moved: MOVED, queued, planned: None };
    Explanation::of(view.world(), snapshot, request, &context).by("Slurm")
}

/// Returns a waiting job's reason for the page.
fn told(view: &Picture, job: &SlurmJob, request: &Request) -> Value {
    let mut wait = waits_for(job);
    let box_of = |sides| {
        let size = notes::size(&view.config, sides);
        format!(". Its {} nodes would be a box of {size}", job.nodes)
    };
    let would = request.shape.map_or(String::new(), box_of);
    wait["sentence"] = format!("Slurm says {}{would}.", slurms_word(job)).into();
    wait
}

/// Counts the boxes of a shape that fit now at the same time, and finds the time at which more fit.
pub(crate) fn slots_of(view: &Picture, shape: &str) -> Result<Value, String> {
    answers(view, |answers| answers.slots(shape))
}

/// Explains what a job is waiting for or holds, on any cluster.
pub(crate) fn why(view: &Picture, name: &str) -> Result<String, String> {
    let unknown = || "no such job is waiting or running".to_string();
    let (name, array) = view.ledger.find(name).ok_or_else(unknown)?;
    if let Some(record) = view.ledger.unreadable.iter().find(|record| record.job == Some(name)) {
        return Ok(format!("{array}{name}: {}", record.fault));
    }
    let job = view.ledger.jobs.iter().find(|job| job.name == name).ok_or_else(unknown)?;
    if job.phase != Phase::Pending {
        return Ok(format!("{array}{name} holds {}", view.holds(job)));
    }
    let mut text = format!("{array}{name} is waiting: Slurm says {}", slurms_word(job));
    let request = match wish(&view.config, job) {
        Ok(request) => request,
        Err(fault) => return Ok(format!("{text}\nno box can be given for it: {fault}")),
    };
    let snapshot = snapshot(&view.state(), &view.config.strategy)?;
    for line in explained_on(view, &snapshot, &request, true).lines() {
        text += &format!("\n{line}");
    }
    Ok(text)
}

fn named<'a>(view: &'a Picture, name: &str) -> Result<&'a SlurmJob, String> {
    let name = name.parse().ok();
    name.and_then(|name| view.waits(name)).ok_or_else(|| "no such job is waiting".to_string())
}

fn request(view: &Picture, asked: &Asked) -> Result<Request, String> {
    let ask = Ask::read(asked.shape.as_deref(), asked.nodes, &view.config.grid);
    let mut shaper = shaper(&view.config).map_err(|error| error.to_string())?;
    Ok(ask.map_err(|fault| fault.to_string())?.request(&mut shaper))
}
