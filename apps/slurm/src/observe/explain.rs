//! Answers about a view: what a job waits for, where a box would lie, and which moves would help.
//!
//! The shapes of the answers are those of `pavior serve`, which the page reads.

use pavior::Request;
use pavior::answers::{Queued, Snapshot};
use pavior::workload::Ask;
use pavior_board::{self as board, Answers, Asked, snapshot};
use serde_json::{Value, json};

use crate::daemon::shaper;
use crate::ledger::{Phase, SlurmJob};
use crate::observe::view::{View, slurms_word, wish};
use crate::reason::{self, Context, Told};
use crate::state::State;
use crate::why::MOVED;

/// What a waiting job waits for, as Slurm says it.
pub(crate) fn waits_for(job: &SlurmJob) -> Value {
    let word = slurms_word(job);
    json!({ "kind": word, "sentence": format!("Slurm says {word}"), "by": null })
}

/// What the strategy would do with a request, and what stands in its way.
pub(crate) fn explained(view: &View, asked: &Asked) -> Result<Value, String> {
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

/// Has a question answered on the machine of a view.
fn answers<T>(view: &View, ask: impl FnOnce(&Answers<'_>) -> T) -> T {
    let counts = view.counts();
    ask(&Answers {
        grid: &view.config.grid,
        strategy: &view.config.strategy,
        state: view.state(),
        counts: [counts.free, counts.busy, counts.failed],
        name: &|job| view.name(job),
        end: &|job| State::end(&view.ledger, job, view.now),
    })
}

/// Why a request would wait on an observed machine.
fn explained_on<'a>(
    view: &'a View,
    snapshot: &'a Snapshot,
    request: &Request,
    is_waiting: bool,
) -> Told<'a> {
    let queued = if is_waiting { Queued::Kept } else { Queued::First };
    let context = Context { now: view.now, moved: MOVED, queued, planned: None };
    Told::of(&view.config, &view.ledger, snapshot, request, &context).by("Slurm")
}

/// What a waiting job is told on the page.
fn told(view: &View, job: &SlurmJob, request: &Request) -> Value {
    let mut wait = waits_for(job);
    let box_of = |sides| {
        let size = reason::size(&view.config, sides);
        format!(". Its {} nodes would be a box of {size}", job.nodes)
    };
    let would = request.shape.map_or(String::new(), box_of);
    wait["sentence"] = format!("Slurm says {}{would}.", slurms_word(job)).into();
    wait
}

/// How many boxes of a shape can be placed side by side now, and when there are more.
pub(crate) fn slots_of(view: &View, shape: &str) -> Result<Value, String> {
    answers(view, |answers| answers.slots(shape))
}

/// What a job waits for or holds, in sentences: `pavior slurm why`, on any Slurm.
pub(crate) fn why(view: &View, name: &str) -> Result<String, String> {
    let unknown = || "no such job waits or runs".to_string();
    let (name, array) = view.ledger.find(name).ok_or_else(unknown)?;
    if let Some(record) = view.ledger.unreadable.iter().find(|record| record.job == Some(name)) {
        return Ok(format!("{array}{name}: {}", record.fault));
    }
    let job = view.ledger.jobs.iter().find(|job| job.name == name).ok_or_else(unknown)?;
    if job.phase != Phase::Pending {
        return Ok(format!("{array}{name} holds {}", view.holds(job)));
    }
    let mut text = format!("{array}{name} waits: Slurm says {}", slurms_word(job));
    let request = match wish(&view.config, job) {
        Ok(request) => request,
        Err(fault) => return Ok(format!("{text}\nno box can be named for it: {fault}")),
    };
    let snapshot = snapshot(&view.state(), &view.config.strategy)?;
    for line in explained_on(view, &snapshot, &request, true).lines() {
        text += &format!("\n{line}");
    }
    Ok(text)
}

fn named<'a>(view: &'a View, name: &str) -> Result<&'a SlurmJob, String> {
    let name = name.parse().ok();
    name.and_then(|name| view.waits(name)).ok_or_else(|| "no such job waits".to_string())
}

fn request(view: &View, asked: &Asked) -> Result<Request, String> {
    let ask = Ask::read(asked.shape.as_deref(), asked.nodes, &view.config.grid);
    let mut shaper = shaper(&view.config).map_err(|error| error.to_string())?;
    Ok(ask.map_err(|fault| fault.to_string())?.request(&mut shaper))
}
