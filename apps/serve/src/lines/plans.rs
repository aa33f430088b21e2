//! Operations that register existing allocations, list jobs, and plan moves.

use pavior::NodeId;
use pavior::answers::json::{Place, Point};
use pavior::answers::{Snapshot, Weights, drain};
use serde_json::{Value, json};

use super::parse::Message;
use super::{LineSession, MACHINE, answer_to, lease_request};
use crate::core::{Ask, Command, NodeState};
use crate::plan::{self, Plan};

impl LineSession {
    /// Registers an existing allocation. The nodes must be free.
    pub(super) fn hold(&mut self, message: &Message) -> Result<Value, String> {
        let job = self.free_name(message)?;
        let parts = message.parts(self.grid())?;
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

    /// Takes nodes out of service and plans moves for the jobs on them, without moving any job.
    pub(super) fn drain(&mut self, message: &Message) -> Result<Value, String> {
        let nodes = message.nodes(self.grid())?;
        let limits = message.limits()?;
        if !message.flag("dry_run", false)? {
            for &node in &nodes {
                let command = Command::Node { machine: None, node, state: NodeState::Drained };
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

    /// Finds the cheapest set of jobs to move to make room for a request.
    pub(super) fn unblock(&mut self, message: &Message) -> Result<Value, String> {
        let (ask, freedom) = (message.ask(self.grid())?, message.freedom()?);
        let limits = message.limits()?;
        let request = self.state.request(MACHINE, ask).with_freedom(freedom);
        let answer = plan::unblocked(self.state.machine(MACHINE), &request, &limits)?;
        Ok(json!(Plan::of(self.grid(), &answer, |job| self.name_of(job))))
    }
}
