//! A machine's state at a point in time, and answers to queries about that state. The page reads
//! these answers, so they use the formats of `pavior serve`.

use std::collections::BTreeMap;

use pavior::answers::json::{Place, Point};
use pavior::answers::{Blocked, Queued, Shape, SlotsAnswer, Snapshot};
use pavior::boxes::volume;
use pavior::strategies::{Selection, explain};
use pavior::workload::{Ask, Shaper};
use pavior::{Cuboid, Grid, JobId, NodeId, Request, Sides, Time};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::date;
use crate::explanation::{Context, Explainer, nearest_free};
use crate::joined::joined;

/// The search budget for counting slots, in bit-set words.
const SLOT_BUDGET: u64 = 4_000_000;

/// The maximum number of jobs that an explanation may propose to move.
pub const MAX_MOVES: usize = 2;

/// The nodes held by a job or placeholder. Times are in seconds since 1970.
#[derive(Clone, Debug, Default)]
pub struct Holding {
    /// The name shown on the page.
    pub id: String,
    /// The name used in sentences, such as `job 7`.
    pub name: String,
    /// The name by which users refer to the job, or `None` for a placeholder.
    pub job: Option<String>,
    /// The job's user.
    pub user: Option<String>,
    /// The start time, if known.
    pub start: Option<u64>,
    /// The expected end time, if known.
    pub end: Option<u64>,
    /// The nodes, divided into boxes.
    pub parts: Vec<Cuboid>,
}

/// A waiting job. Times are in seconds since 1970.
#[derive(Clone, Debug)]
pub struct WaitingJob {
    /// The job's name.
    pub id: String,
    /// The job's user.
    pub user: String,
    /// The number of nodes, if known.
    pub nodes: Option<u64>,
    /// The shape shown on the page.
    pub shape: Option<Sides>,
    /// The request, or `None` if it is invalid, in which case `sentence` gives the reason.
    pub request: Option<Request>,
    /// The submission time.
    pub submitted: u64,
    /// A one-word reason why the job is waiting.
    pub kind: String,
    /// The reason as a complete sentence.
    pub sentence: String,
    /// The planned start time, if any.
    pub starts: Option<u64>,
    /// A forecast of when the job will start, as JSON for the page and as sentences.
    pub forecast: Option<(Value, String)>,
}

/// A query from the page that asks whether a request could be granted or why a job is waiting.
#[derive(Clone, Debug, Deserialize)]
pub struct ExplainQuery {
    /// The sides of the requested box.
    pub shape: Option<Vec<u64>>,
    /// The requested number of nodes.
    pub nodes: Option<u64>,
    /// The name of a waiting job, given instead of a shape or number of nodes.
    pub waiting: Option<String>,
}

/// A function that finds the job a user asked about. It returns the job's name and a sentence to
/// print before the name (empty if the user gave the exact name).
pub type FindJob = Box<dyn Fn(&str) -> Option<(String, String)> + Send + Sync>;

/// A machine's state at a point in time.
pub struct View {
    /// The time, in seconds since 1970.
    pub now: u64,
    /// The name of the machine.
    pub name: String,
    /// The name that the page shows for the program that manages the jobs, such as `kubernetes`.
    pub ledger: &'static str,
    /// The machine's grid.
    pub grid: Grid,
    /// The allocation strategy.
    pub strategy: Selection,
    /// The name of the scheduler, used to explain why jobs must wait even though they fit.
    pub scheduler: String,
    /// Running jobs and their nodes.
    pub held: Vec<Holding>,
    /// Unavailable nodes, which may include nodes of running jobs.
    pub failed: Vec<NodeId>,
    /// Waiting jobs, in queue order.
    pub waiting: Vec<WaitingJob>,
    /// A function that finds the job a user asked about.
    pub find: FindJob,
    /// Reasons why job records cannot be read, keyed by job name.
    pub unreadable: BTreeMap<String, String>,
    /// A function that creates the rule for converting node counts to shapes, or `None` if every
    /// job must specify a shape.
    pub shaper: Option<fn(&Grid) -> Shaper>,
}

impl View {
    /// Merges each job's parts if they form a single box.
    pub fn joined(mut self) -> View {
        for held in &mut self.held {
            held.parts = joined(&self.grid, &held.parts);
        }
        self
    }

    /// Creates the machine state used to answer queries. A job's number is its index in `held`.
    fn state(&self) -> explain::State {
        let mut state = explain::State::new(self.grid);
        for (id, held) in self.held.iter().enumerate() {
            // This cannot fail, because no node belongs to two holdings.
            let _ = state.hold(JobId(id as u64), &held.parts);
        }
        for &node in &self.failed {
            state.fail(node);
        }
        state
    }

    fn snapshot(&self, state: &explain::State) -> Result<Snapshot, String> {
        let machine = state.machine(&self.strategy, 1);
        machine.map(|machine| Snapshot::of(&machine)).map_err(|error| error.to_string())
    }

    /// Returns the number of nodes in use.
    pub fn busy(&self) -> u32 {
        self.held.iter().map(Holding::nodes).sum()
    }

    /// Returns the free nodes.
    pub fn free_nodes(&self) -> pavior::Occupancy {
        self.state().free().clone()
    }

    /// Returns the running jobs, excluding placeholders.
    pub fn running(&self) -> impl Iterator<Item = &Holding> {
        self.held.iter().filter(|held| held.job.is_some())
    }

    /// Returns the number of nodes in the largest free box.
    pub fn largest_free(&self) -> u64 {
        self.state().free().largest_free().map_or(0, |at| u64::from(at.volume()))
    }

    fn waiting_job(&self, name: &str) -> Option<&WaitingJob> {
        self.waiting.iter().find(|job| job.id == name)
    }

    /// Creates a request for the shape or number of nodes in a query.
    fn request(&self, query: &ExplainQuery) -> Result<Request, String> {
        let ask = Ask::read(query.shape.as_deref(), query.nodes, &self.grid);
        match (ask.map_err(|fault| fault.to_string())?, self.shaper) {
            (ask, Some(shaper)) => Ok(ask.request(&mut shaper(&self.grid))),
            (Ask::Shape(sides), None) => Ok(Request::shape(sides)),
            (Ask::Nodes(_), None) => Err("a shape such as 4x4 is required".to_string()),
            (Ask::Beyond(_), None) => Err("the shape does not fit on the machine".to_string()),
        }
    }

    /// Calls `explain` with an explainer for this view.
    fn explainer<T>(&self, explain: impl FnOnce(&Explainer<'_>) -> T) -> T {
        explain(&Explainer {
            grid: &self.grid,
            strategy: &self.strategy.to_string(),
            scheduler: &self.scheduler,
            name: &|job| self.held[job.0 as usize].name.clone(),
            end: &|job| self.end(job),
            is_job: &|job| self.held[job.0 as usize].job.is_some(),
        })
    }

    fn end(&self, job: JobId) -> Option<Time> {
        self.held[job.0 as usize].end.map(Time)
    }

    /// Reports whether the strategy would grant a request and, if not, what blocks it.
    ///
    /// # Errors
    /// Returns an error if no such job is waiting or if the request cannot fit on the machine.
    pub fn explain(&self, query: &ExplainQuery) -> Result<Value, String> {
        let unknown = || "no waiting job has this name".to_string();
        let waiting =
            query.waiting.as_deref().map(|name| self.waiting_job(name).ok_or_else(unknown));
        let waiting = waiting.transpose()?;
        let request = match waiting {
            Some(waiting) => waiting.request.ok_or_else(|| waiting.sentence.clone())?,
            None => self.request(query)?,
        };
        let state = self.state();
        let answer = explain::answer(&state, &self.strategy, &request, 1);
        let answer = answer.map_err(|bad| bad.to_string())?;
        let strategy = self.strategy.to_string();
        let choice = match &answer.outcome {
            Ok(choice) => {
                let parts = Place::all(&self.grid, choice.placement.parts());
                json!({ "strategy": strategy, "granted": true, "parts": parts })
            }
            Err(refusal) => json!({
                "strategy": strategy, "granted": false, "reason": refusal.word(), "parts": [],
            }),
        };
        let needed = request.shape.map_or(u64::from(request.nodes), volume);
        let missing = match answer.outcome {
            Ok(_) => None,
            Err(_) if needed > state.free().count().into() => Some("nodes"),
            Err(_) => Some("place"),
        };
        let queued = if waiting.is_some() { Queued::Kept } else { Queued::First };
        let context = Context { moved: MAX_MOVES, queued, planned: None };
        let snapshot = self.snapshot(&state)?;
        let (why, lines) = self.explainer(|one| one.explain(&snapshot, &request, &context));
        let nearest = nearest_free(&snapshot, &request, why.as_ref());
        let blocked = why.as_ref().and_then(|why| why.blocked.as_ref());
        Ok(json!({
            "machine": self.grid.to_string(),
            "strategies": [choice],
            "diagnosis": {
                "why": lines,
                "counts": {
                    "free": state.free().count(),
                    "busy": state.busy_nodes(),
                    "failed": state.failed().len(),
                },
                "needed": needed,
                "missing": missing,
                "nearest": nearest.map(|at| Place::of(&self.grid, &at)),
                "blocked": blocked.map(|blocked| self.blocked(&snapshot, blocked)),
            },
            "waits_for": waiting.map(WaitingJob::waits_for),
        }))
    }

    /// Describes what blocks a request and which moves would make room for it.
    fn blocked(&self, snapshot: &Snapshot, blocked: &Blocked) -> Value {
        let name = |job: JobId| self.held[job.0 as usize].id.clone();
        let holder = |job, nodes| json!({ "lease": name(job), "job": name(job), "nodes": nodes });
        let mut value = json!(blocked.json(snapshot, name, holder, |until| date(until.0)));
        value["drained"] = json!([]);
        value
    }

    /// Counts the boxes of a shape that fit simultaneously, and predicts when more will fit.
    ///
    /// # Errors
    /// Returns an error if the shape does not fit on the machine.
    pub(crate) fn slots(&self, shape: &str) -> Result<Value, String> {
        let ask = Ask::typed(Some(shape), None, &self.grid).map_err(|fault| fault.to_string())?;
        let Ask::Shape(sides) = ask else {
            return Err("the shape does not fit on the machine".to_string());
        };
        let (snapshot, shapes) = (self.snapshot(&self.state())?, [Shape::new(sides)]);
        let name = |job: JobId| self.held[job.0 as usize].id.clone();
        let found = SlotsAnswer::of(&snapshot, &shapes, |job| self.end(job), SLOT_BUDGET, None);
        let mut value = json!(found.json(&self.grid, name, |at| date(at.0)));
        value["shape"] = json!(Point::of(&self.grid, sides));
        Ok(value)
    }

    /// Explains in sentences why a job is waiting, or lists the nodes it holds.
    ///
    /// # Errors
    /// Returns an error if there is no such job.
    pub fn why(&self, text: &str) -> Result<String, String> {
        let unknown = || "no waiting or running job has this name".to_string();
        let (name, which) = (self.find)(text).ok_or_else(unknown)?;
        if let Some(fault) = self.unreadable.get(&name) {
            return Ok(format!("{which}{name}: {fault}"));
        }
        if let Some(held) = self.held.iter().find(|held| held.job.as_ref() == Some(&name)) {
            let parts = held.parts.iter().map(|part| explain::words(&self.grid, part));
            return Ok(format!("{which}{name} holds {}", parts.collect::<Vec<_>>().join("; ")));
        }
        let job = self.waiting_job(&name).ok_or_else(unknown)?;
        let Some(request) = job.request else {
            return Ok(format!("{which}{name}: {}", job.sentence));
        };
        let snapshot = self.snapshot(&self.state())?;
        let context = Context { moved: MAX_MOVES, queued: Queued::Kept, planned: None };
        let (_, mut lines) = self.explainer(|one| one.explain(&snapshot, &request, &context));
        lines.extend(job.forecast.as_ref().map(|(_, words)| words.clone()));
        Ok(format!("{which}{name} is waiting: {}\n{}", job.sentence, lines.join("\n")))
    }
}

impl Holding {
    /// Returns the number of nodes.
    pub fn nodes(&self) -> u32 {
        self.parts.iter().map(Cuboid::volume).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::view;

    #[test]
    fn a_failed_node_that_a_job_holds_is_counted_once() {
        let mut view = view("mesh:4", 1);
        view.held.push(Holding {
            job: Some("a".to_string()),
            parts: vec![Cuboid::new([0, 0, 0], [4, 1, 1])],
            ..Holding::default()
        });
        let query = ExplainQuery { shape: Some(vec![1]), nodes: None, waiting: None };
        let counts = view.explain(&query).unwrap()["diagnosis"]["counts"].take();
        assert_eq!(counts, json!({ "free": 0, "busy": 4, "failed": 0 }));
    }
}
