//! Operations that register existing allocations, list jobs, and plan moves.

use pavior::answers::json::{Place, Point};
use pavior::answers::{SearchLimits, Snapshot, Weights, drain};
use pavior::{Cuboid, NodeId};
use serde_json::{Map, Value, json};

use super::{LineSession, MACHINE, answer_to, flag, freedom, lease_request};
use crate::core::{Ask, Command, NodeChange};
use crate::plan::{self, Plan};

impl LineSession {
    /// Registers an existing allocation, whose boxes must be free.
    pub(super) fn hold(&mut self, message: &Map<String, Value>) -> Result<Value, String> {
        let job = self.free_name(message)?;
        let list = message.get("parts").and_then(Value::as_array);
        let list = list.filter(|list| !list.is_empty());
        let list = list.ok_or("\"parts\" must be a list of at least one box")?;
        let parts: Vec<Cuboid> =
            list.iter().map(|part| self.cuboid(part)).collect::<Result<_, _>>()?;
        let request = lease_request(Ask::Nodes(1), job.clone());
        Ok(answer_to(&job, &self.carry_out(Command::Hold { request, parts })?))
    }

    /// Returns all jobs with their nodes, and all failed nodes, including those that a job holds.
    pub(super) fn list(&self) -> Value {
        let (machine, grid) = (self.state.machine(MACHINE), self.grid());
        let held = machine.held();
        let jobs = held.iter().map(|&(job, placement)| {
            json!({ "job": self.name_of(job), "parts": Place::all(grid, placement.parts()) })
        });
        let failed = (0..grid.nodes()).map(NodeId);
        let failed = failed.filter(|&node| !machine.healthy().is_node_free(node));
        let failed = failed.map(|node| Point::of(grid, grid.point(node)));
        json!({ "jobs": jobs.collect::<Vec<_>>(), "failed": failed.collect::<Vec<_>>() })
    }

    /// Takes nodes out of service and plans new places for their jobs, without moving them.
    pub(super) fn drain(&mut self, message: &Map<String, Value>) -> Result<Value, String> {
        let list = message.get("nodes").and_then(Value::as_array);
        let list = list.ok_or("\"nodes\" must be a list of nodes")?;
        let nodes = list.iter().map(|node| self.node(Some(node)));
        let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        let limits = limits(message)?;
        if !flag(message, "dry_run", false)? {
            for &node in &nodes {
                let command = Command::Node { machine: None, node, change: NodeChange::Drain };
                self.carry_out(command)?;
            }
        }
        let grid = self.grid();
        let numbers: Vec<NodeId> = nodes.iter().map(|&node| grid.id(node)).collect();
        let snapshot = Snapshot::of(self.state.machine(MACHINE));
        let answer = drain(&snapshot, &numbers, &Weights::nodes(&snapshot), &limits);
        let drained: Vec<_> = nodes.iter().map(|&node| Point::of(grid, node)).collect();
        let Plan { proven, cost, jobs, moves, .. } =
            Plan::of(grid, &answer, |job| self.name_of(job));
        Ok(json!({
            "drained": drained, "proven": proven, "cost": cost, "jobs": jobs, "moves": moves,
        }))
    }

    /// Returns the cheapest set of jobs to move to make room for a request.
    pub(super) fn unblock(&mut self, message: &Map<String, Value>) -> Result<Value, String> {
        let (ask, freedom) = (self.ask(message)?, freedom(message)?);
        let limits = limits(message)?;
        let request = self.state.request(MACHINE, ask).with_freedom(freedom);
        let answer = plan::unblocked(self.state.machine(MACHINE), &request, &limits)?;
        Ok(json!(Plan::of(self.grid(), &answer, |job| self.name_of(job))))
    }

    fn cuboid(&self, part: &Value) -> Result<Cuboid, String> {
        let axes = self.grid().axes();
        let read = |key: &str, least: u64| {
            let numbers = part.get(key).and_then(Value::as_array);
            let numbers = numbers.filter(|numbers| numbers.len() == axes)?;
            let mut read = [least as u16; 3];
            for (own, number) in read.iter_mut().zip(numbers) {
                let number = number.as_u64().filter(|number| *number >= least)?;
                *own = u16::try_from(number).ok()?;
            }
            Some(read)
        };
        let wrong =
            || format!("a part must be {{\"base\":[..],\"sides\":[..]}} with {axes} integers each");
        let known = |key: &String| ["base", "sides"].contains(&key.as_str());
        if !part.as_object().is_some_and(|part| part.keys().all(known)) {
            return Err(wrong());
        }
        Ok(Cuboid::new(read("base", 0).ok_or_else(wrong)?, read("sides", 1).ok_or_else(wrong)?))
    }
}

fn limits(message: &Map<String, Value>) -> Result<SearchLimits, String> {
    let most = match message.get("max_jobs") {
        None => 3,
        Some(most) => most.as_u64().ok_or("\"max_jobs\" must be a non-negative integer")?,
    };
    let turn = flag(message, "turn", true)?;
    Ok(SearchLimits { turn, ..SearchLimits::jobs(usize::try_from(most).unwrap_or(usize::MAX)) })
}
