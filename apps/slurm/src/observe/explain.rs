//! Answers about a view: what a job waits for, where a box would lie, and which moves would help.
//!
//! The shapes of the answers are those of `pavior serve`, which the page reads.

use pavior_allocation::explain;
use pavior_mesh::{Cuboid, NodeId, Request};
use pavior_planning::{Shape, Snapshot, next_slot, slots};
use pavior_workload::Ask;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::daemon::shaper;
use crate::ledger::{Phase, SlurmJob};
use crate::names::JobName;
use crate::observe::view::{View, slurms_word, wish};
use crate::reason::{self, Told, date};
use crate::state::State;
use crate::why::MOVED;

/// The words of bit sets that are looked at for one count of slots.
const BUDGET: u64 = 4_000_000;

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
        "diagnosis": diagnosed(view, &request, answer.outcome.is_ok())?,
        "waits_for": job.map(|job| told(view, job, &request)),
    }))
}

/// What stands in the way of a request, and what would make room.
fn diagnosed(view: &View, request: &Request, granted: bool) -> Result<Value, String> {
    let (grid, snapshot) = (&view.config.grid, snapshot(view)?);
    let counts = view.counts();
    let told = explained_on(view, &snapshot, request);
    let needed = request.shape.map_or(u64::from(request.nodes), pavior_mesh::volume);
    let missing = match granted {
        true => None,
        false if needed > counts.free.into() => Some("nodes"),
        false => Some("place"),
    };
    let parts = |boxes: &[Cuboid]| boxes.iter().map(|part| view.part(part)).collect::<Vec<_>>();
    let blocked = told.why.as_ref().and_then(|why| why.blocked.as_ref()).map(|blocked| {
        let point = |node: &NodeId| grid.point(*node)[..grid.axes()].to_vec();
        let (largest, and_more) = blocked.largest();
        let jobs = largest.iter().map(|&(job, nodes)| {
            let name = view.name(job);
            json!({ "lease": name, "job": name, "nodes": nodes })
        });
        let moves = blocked.plan.plan.as_ref().map_or(&[][..], |plan| &plan.moves).iter();
        let moves = moves.map(|step| {
            json!({ "job": view.name(step.job), "from": parts(&step.from), "to": parts(&step.to) })
        });
        let free = |node: &NodeId| snapshot.free().is_node_free(*node);
        let at = view.part(&blocked.at);
        json!({
            "base": at["base"], "sides": at["sides"],
            "busy_nodes": blocked.at.nodes(grid).filter(|node| !free(node)).count(),
            "jobs": jobs.collect::<Vec<_>>(),
            "and_more": and_more,
            "failed": blocked.unavailable.iter().map(point).collect::<Vec<_>>(),
            "drained": [],
            "until": blocked.until.map(|until| date(until.0)),
            "moves": moves.collect::<Vec<_>>(),
        })
    });
    Ok(json!({
        "why": told.lines(),
        "counts": { "free": counts.free, "busy": counts.busy, "failed": counts.failed },
        "needed": needed,
        "missing": missing,
        "nearest": told.nearest().map(|at| view.part(&at)),
        "blocked": blocked,
    }))
}

/// Why a request would wait on an observed machine.
fn explained_on<'a>(view: &'a View, snapshot: &'a Snapshot, request: &Request) -> Told<'a> {
    let told = Told::of(&view.config, &view.ledger, snapshot, request, (view.now, MOVED));
    told.by("Slurm")
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
    let grid = &view.config.grid;
    let asked = Ask::typed(Some(shape), None, grid).map_err(|fault| fault.to_string())?;
    let Ask::Shape(sides) = asked else { return Err("no machine has such a side".to_string()) };
    let (snapshot, shapes) = (snapshot(view)?, [Shape::new(sides)]);
    let now = slots(snapshot.free(), &shapes, BUDGET);
    let end = |job| State::end(&view.ledger, job, view.now);
    let next = next_slot(&snapshot, &shapes, &now, end, BUDGET);
    Ok(json!({
        "shape": &sides[..grid.axes()],
        "slots": now.boxes.len(),
        "bound": now.bound,
        "proven": now.proven(),
        "boxes": now.boxes.iter().map(|part| view.part(part)).collect::<Vec<_>>(),
        "next": next.map(|next| json!({
            "at": date(next.at.0), "slots": next.slots.boxes.len(), "proven": next.proven,
        })),
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
    for line in explained_on(view, &snapshot, &request).lines() {
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

fn snapshot(view: &View) -> Result<Snapshot, String> {
    let machine = view.state().machine(&view.config.strategy, 1);
    machine.map(|machine| Snapshot::of(&machine)).map_err(|error| error.to_string())
}
