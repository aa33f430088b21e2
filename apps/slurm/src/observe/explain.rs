//! Answers about a view: what a job waits for, where a box would lie, and which moves would help.
//!
//! The shapes of the answers are those of `pavior serve`, which the page reads.

use pavior_allocation::explain::{self, Diagnosis};
use pavior_mesh::{Cuboid, NodeId, Request};
use pavior_planning::{SearchLimits, Shape, Snapshot, Weights, unblock};
use pavior_workload::Ask;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::daemon::shaper;
use crate::ledger::{Phase, SlurmJob};
use crate::names::JobName;
use crate::observe::view::{View, slurms_word, wish};
use crate::reason;
use crate::why::moves;

/// The most jobs that are moved in a plan.
const MOVED: usize = 2;

/// A question of the page.
#[derive(Deserialize)]
pub(crate) struct Asked {
    shape: Option<Vec<u64>>,
    nodes: Option<u64>,
    /// A job that waits, in place of a shape.
    waiting: Option<String>,
}

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
    let (state, selection) = (view.state(), &view.config.strategy);
    let answer = explain::answer(&state, selection, &request, 1).map_err(|bad| bad.to_string())?;
    let part = |part: &Cuboid| view.part(part);
    let choice = match &answer.outcome {
        Ok(choice) => {
            let parts: Vec<Value> = choice.placement.parts().iter().map(part).collect();
            json!({ "strategy": selection.to_string(), "granted": true, "parts": parts })
        }
        Err(refusal) => json!({
            "strategy": selection.to_string(), "granted": false, "reason": refusal.word(),
            "parts": [],
        }),
    };
    Ok(json!({
        "machine": view.config.grid.to_string(),
        "strategies": [choice],
        "diagnosis": diagnosed(view, &state, &request, answer.outcome.is_ok()),
        "waits_for": job.map(|job| told(view, job, &request)),
    }))
}

/// What stands in the way of a request.
fn diagnosed(view: &View, state: &explain::State, request: &Request, granted: bool) -> Value {
    let grid = &view.config.grid;
    let counts = view.counts();
    let needed = request.shape.map_or(u64::from(request.nodes), pavior_mesh::volume);
    let missing = match granted {
        true => None,
        false if needed > counts.free.into() => Some("nodes"),
        false => Some("place"),
    };
    let found = request.shape.map(|shape| Diagnosis::of(state, shape));
    let blocked = found.as_ref().and_then(|found| found.blocked.as_ref()).map(|blocked| {
        let point = |node: &NodeId| grid.point(*node)[..grid.axes()].to_vec();
        let jobs = blocked.jobs.iter().map(|&(job, nodes)| {
            let name = view.name(job);
            json!({ "lease": name, "job": name, "nodes": nodes })
        });
        let at = view.part(&blocked.at);
        json!({
            "base": at["base"], "sides": at["sides"], "busy_nodes": blocked.nodes(),
            "jobs": jobs.collect::<Vec<_>>(),
            "failed": blocked.failed.iter().map(point).collect::<Vec<_>>(),
            "drained": [],
        })
    });
    let nearest = found.as_ref().and_then(|found| found.nearest.as_ref());
    json!({
        "counts": { "free": counts.free, "busy": counts.busy, "failed": counts.failed },
        "needed": needed,
        "missing": missing,
        "nearest": nearest.map(|at| view.part(at)),
        "blocked": blocked,
    })
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

/// The moves that would make room for a box.
pub(crate) fn unblocked(view: &View, asked: &Asked) -> Result<Value, String> {
    let sides = request(view, asked)?.shape.ok_or("give a shape that fits the machine")?;
    let snapshot = snapshot(view)?;
    let (weights, limits) = (Weights::nodes(&snapshot), SearchLimits::jobs(MOVED));
    let answer = unblock(&snapshot, Shape::new(sides), &weights, &limits);
    let parts = |boxes: &[Cuboid]| boxes.iter().map(|part| view.part(part)).collect::<Vec<_>>();
    let plan = answer.plan.as_ref();
    let moves = plan.map_or(Vec::new(), |plan| plan.moves.iter().collect()).into_iter();
    let moves = moves.map(|step| {
        json!({ "job": view.name(step.job), "from": parts(&step.from), "to": parts(&step.to) })
    });
    Ok(json!({
        "fits": plan.is_some_and(|plan| plan.jobs.is_empty()),
        "proven": answer.proven,
        "moves": moves.collect::<Vec<_>>(),
    }))
}

/// What a job waits for or holds, in sentences: `pavior slurm why`, on any Slurm.
pub(crate) fn why(view: &View, name: &str) -> Result<String, String> {
    let unknown = || "no such job waits or runs".to_string();
    let name: JobName = name.parse().map_err(|_| unknown())?;
    if let Some(record) = view.ledger.unreadable.iter().find(|record| record.job == Some(name)) {
        return Ok(format!("{name}: {}", record.fault));
    }
    let job = view.ledger.jobs.iter().find(|job| job.name == name).ok_or_else(unknown)?;
    if job.phase != Phase::Pending {
        return Ok(format!("{name} holds {}", view.holds(job)));
    }
    let mut text = format!("{name} waits: Slurm says {}", slurms_word(job));
    let request = match wish(&view.config, job) {
        Ok(request) => request,
        Err(fault) => return Ok(format!("{text}\nno box can be named for it: {fault}")),
    };
    let snapshot = snapshot(view)?;
    let told = reason::waiting(&view.config, &view.ledger, &snapshot, &request, view.now);
    text += &format!("\n{}", told.as_str().trim_start_matches("pavior: "));
    if let Some(sides) = request.shape {
        text += &moves(&view.config, &view.ledger, &snapshot, sides);
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

fn snapshot(view: &View) -> Result<Snapshot, String> {
    let machine = view.state().machine(&view.config.strategy, 1);
    machine.map(|machine| Snapshot::of(&machine)).map_err(|error| error.to_string())
}
