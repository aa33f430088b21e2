//! A machine as shown on the page.

use std::sync::Arc;

use pavior::answers::json::Place;
use pavior::answers::{Queued, Shape, Snapshot, nearest};
use pavior::boxes::volume;
use pavior::strategies::explain;
use pavior::time::Date;
use pavior::workload::Ask;
use pavior::{JobId, NodeId, Request, Time};
use pavior_board::{Answers, Asked, Drawn, Head, Told, View, joined, snapshot};
use serde_json::{Value, json};

use crate::plan::{Allocation, Forecast, MachineConfig, Picture, Plan, Waiting, lines, reason};

/// The maximum number of moved Jobs in an explanation.
const MOVED: usize = 2;

/// A machine at one time.
pub(crate) struct MachinePage {
    now: u64,
    machine: String,
    config: MachineConfig,
    held: Vec<Allocation>,
    failed: Vec<NodeId>,
    waiting: Vec<Waiting>,
    free: u32,
    forecast: Option<Arc<Forecast>>,
}

impl MachinePage {
    pub(crate) fn of(
        machine: &str,
        picture: Picture,
        made: &Plan,
        now: u64,
        forecast: Option<Arc<Forecast>>,
    ) -> MachinePage {
        let Picture { config, mut held, failed } = picture;
        for one in &mut held {
            one.parts = joined(&config.grid, &one.parts);
        }
        MachinePage {
            now,
            machine: machine.to_string(),
            config,
            held,
            failed,
            waiting: made.waiting.clone(),
            free: made.free.count(),
            forecast,
        }
    }

    fn state(&self) -> explain::State {
        let mut state = explain::State::new(self.config.grid);
        for (id, held) in self.held.iter().enumerate() {
            // Each node has one holder, so nothing overlaps.
            let _ = state.hold(JobId(id as u64), &held.parts);
        }
        for &node in &self.failed {
            state.fail(node);
        }
        state
    }

    fn answers<T>(&self, ask: impl FnOnce(&Answers<'_>) -> T) -> T {
        ask(&Answers {
            grid: &self.config.grid,
            strategy: &self.config.strategy,
            state: self.state(),
            counts: [self.free, self.busy(), self.failed.len() as u32],
            name: &|job| self.held[job.0 as usize].name.clone(),
            end: &|job| self.held[job.0 as usize].end.map(Time),
        })
    }

    /// Explains why a request is waiting, or would have to wait.
    fn answer(&self, snapshot: &Snapshot, request: &Request, queued: Queued) -> Told {
        let Some(sides) = request.shape else {
            return Told { lines: Vec::new(), why: None, nearest: None };
        };
        let turned = request.freedom.is_none();
        let shape = if turned { Shape::new(sides) } else { Shape::fixed(sides) };
        let holder = |job: JobId| &self.held[job.0 as usize];
        let why = reason(snapshot, shape, (MOVED, queued, None), &|job| holder(job).end);
        let lines = lines(&self.config, &why, &|job| holder(job).name.clone());
        let blocked = why.blocked.is_some();
        let nearest = blocked.then(|| nearest(snapshot, shape, 1).pop()).flatten();
        Told { lines, why: Some(why), nearest }
    }

    fn named(&self, name: &str) -> Option<&Waiting> {
        self.waiting.iter().find(|waiting| id(waiting) == name)
    }

    fn lease(&self, held: &Allocation) -> Value {
        let grid = &self.config.grid;
        let nodes: u64 = held.parts.iter().map(|at| u64::from(at.volume())).sum();
        json!({
            "id": held.name, "state": "held", "machine": self.machine, "nodes": nodes,
            "requested": nodes, "job": held.name.strip_prefix("Job ").unwrap_or(&held.name),
            "tenant": held.namespace, "start": date(held.start), "expires": held.end.map(date),
            "parts": Place::all(grid, &held.parts),
        })
    }

    fn request(&self, waiting: &Waiting) -> Value {
        let axes = self.config.grid.axes();
        let shape = waiting.request.and_then(|request| request.shape);
        json!({
            "id": id(waiting), "state": "waiting", "machine": self.machine,
            "requested": shape.map(volume), "shape": shape.map(|sides| sides[..axes].to_vec()),
            "asked": date(waiting.created), "tenant": waiting.job.namespace, "job": id(waiting),
        })
    }
}

fn id(waiting: &Waiting) -> String {
    format!("{}/{}", waiting.job.namespace, waiting.job.name)
}

fn date(seconds: u64) -> String {
    Date(std::time::Duration::from_secs(seconds)).to_string()
}

fn waits_for(waiting: &Waiting) -> Value {
    let kind = if waiting.is_stuck() { "never" } else { "place" };
    json!({ "kind": kind, "sentence": waiting.why, "by": waiting.starts.map(date) })
}

impl View for MachinePage {
    fn now(&self) -> u64 {
        self.now
    }

    fn head(&self) -> Head {
        Head {
            name: self.machine.clone(),
            machine: self.config.grid.to_string(),
            strategy: self.config.strategy.to_string(),
            ledger: "kubernetes",
        }
    }

    fn drawn(&self) -> Drawn {
        let grid = &self.config.grid;
        let point = |&node: &NodeId| grid.point(node)[..grid.axes()].to_vec();
        Drawn {
            leases: self.held.iter().map(|held| (held.name.clone(), self.lease(held))).collect(),
            waiting: self.waiting.iter().map(|one| (id(one), self.request(one))).collect(),
            failed: self.failed.iter().map(point).collect(),
        }
    }

    fn busy(&self) -> u32 {
        self.config.grid.nodes() - self.free - self.failed.len() as u32
    }

    fn largest_free(&self) -> u64 {
        self.state().free().largest_free().map_or(0, |at| u64::from(at.volume()))
    }

    fn queue(&self, most: usize) -> (Vec<Value>, usize) {
        let first = self.waiting.iter().take(most);
        let waits = |one: &Waiting| {
            let forecast = self.forecast.as_ref();
            let forecast = forecast.and_then(|known| known.json(&one.job.uid, date));
            json!({ "id": id(one), "waits_for": waits_for(one), "forecast": forecast })
        };
        (first.map(waits).collect(), self.waiting.len())
    }

    fn explain(&self, asked: &Asked) -> Result<Value, String> {
        let none = || "no such Job is waiting for a box".to_string();
        let waiting = asked.waiting.as_deref().map(|name| self.named(name).ok_or_else(none));
        let waiting = waiting.transpose()?;
        let request = match waiting {
            Some(waiting) => waiting.request.ok_or_else(|| waiting.why.clone())?,
            None => match Ask::read(asked.shape.as_deref(), asked.nodes, &self.config.grid) {
                Ok(Ask::Shape(sides)) => Request::shape(sides),
                Ok(Ask::Nodes(_)) => return Err("a Job must have a shape".to_string()),
                Ok(Ask::Beyond(_)) => return Err("no machine has a side this long".to_string()),
                Err(fault) => return Err(fault.to_string()),
            },
        };
        let queued = if waiting.is_some() { Queued::Kept } else { Queued::First };
        let why = |snapshot: &Snapshot| self.answer(snapshot, &request, queued);
        self.answers(|answers| answers.explain(&request, why, waiting.map(waits_for).as_ref()))
    }

    fn slots(&self, shape: &str) -> Result<Value, String> {
        self.answers(|answers| answers.slots(shape))
    }

    fn why(&self, job: &str) -> Result<String, String> {
        if let Some(held) = self.held.iter().find(|held| held.name == format!("Job {job}")) {
            let words = |at| explain::words(&self.config.grid, at);
            let parts: Vec<String> = held.parts.iter().map(words).collect();
            return Ok(format!("{job} holds {}", parts.join("; ")));
        }
        let waiting =
            self.named(job).ok_or_else(|| "no such Job is waiting or running".to_string())?;
        let Some(request) = waiting.request else { return Ok(format!("{job}: {}", waiting.why)) };
        let snapshot = snapshot(&self.state(), &self.config.strategy)?;
        let mut lines = self.answer(&snapshot, &request, Queued::Kept).lines;
        let forecast = self.forecast.as_ref();
        lines.extend(forecast.and_then(|one| one.words(&waiting.job.uid, date)));
        Ok(format!("{job} waits: {}\n{}", waiting.why, lines.join("\n")))
    }
}
