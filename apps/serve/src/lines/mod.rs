//! The JSON lines interface of `pavior allocate`, with one machine, one caller, no clock and no
//! storage. As with HTTP, a [`ServiceState`] decides [`Command`]s, but the records are discarded,
//! and the replies are converted to the format described in `docs/allocate.md`. The caller chooses
//! the job names.

mod parse;
mod plans;

use pavior::answers::json::Place;
use pavior::{Grid, JobId};
use serde_json::{Value, json};

use self::parse::Message;
use crate::core::{
    Ask, Caller, Command, JobName, LeaseRequest, MachineSpec, NodeState, Problem, Reason, Reply,
    ServiceLimits, ServiceState, StateError,
};

/// The supported operations.
const OPS: &str = "allocate, release, fail, repair, show, hold, list, drain and unblock";
/// The index of the session's only machine.
const MACHINE: usize = 0;

/// A session that controls a machine through JSON lines.
pub struct LineSession {
    state: ServiceState,
}

impl LineSession {
    /// Returns a session with an empty machine. `seed` is for strategies that use random numbers.
    ///
    /// # Errors
    /// Returns an error if the description is invalid.
    pub fn new(machine: &MachineSpec, seed: u64) -> Result<LineSession, StateError> {
        let mut state = ServiceState::new(ServiceLimits::default(), seed);
        state.configure(std::slice::from_ref(machine))?;
        Ok(LineSession { state })
    }

    /// Executes the operation on an input line and returns the answer.
    ///
    /// # Errors
    /// Returns the reason if the operation fails, in which case the state is unchanged.
    pub fn answer(&mut self, line: &[u8]) -> Result<Value, String> {
        let message = Message::parse(line)?;
        match message.op() {
            Some("allocate") => self.allocate(&message),
            Some("release") => self.release(&message),
            Some("fail") => self.change_node(&message, NodeState::Failed),
            Some("repair") => self.change_node(&message, NodeState::Healthy),
            Some("show") => Ok(self.show()),
            Some("hold") => self.hold(&message),
            Some("list") => Ok(self.list()),
            Some("drain") => self.drain(&message),
            Some("unblock") => self.unblock(&message),
            Some(other) => Err(format!("unknown op `{other}`; the operations are {OPS}")),
            None => Err(format!("missing \"op\"; the operations are {OPS}")),
        }
    }

    /// Executes a command. Returns a refusal as a reply, and any other problem as an error.
    fn carry_out(&mut self, command: Command) -> Result<Reply, String> {
        let mut records = Vec::new();
        let decision = self.state.decide(0, &Caller::OPERATOR, None, command, &mut records);
        match decision.reply {
            Reply::Problem(Problem { reason: Reason::Refused(_), .. }) => Ok(decision.reply),
            Reply::Problem(problem) => Err(problem.detail),
            reply => Ok(reply),
        }
    }

    fn allocate(&mut self, message: &Message) -> Result<Value, String> {
        let job = self.free_name(message)?;
        let dry_run = message.flag("dry_run", false)?;
        let (ask, freedom) = (message.ask(self.grid())?, message.freedom()?);
        if dry_run {
            let request = self.state.request(MACHINE, ask).with_freedom(freedom);
            return Ok(match self.state.probe(MACHINE, &request) {
                Ok(choice) => {
                    let parts = Place::all(self.grid(), choice.parts());
                    granted_answer(&job, choice.nodes().into(), request.nodes.into(), &parts)
                }
                Err(refusal) => refusal_answer(&job, refusal.word()),
            });
        }
        let command = Command::Lease(LeaseRequest { freedom, ..lease_request(ask, job.clone()) });
        Ok(answer_to(&job, &self.carry_out(command)?))
    }

    fn release(&mut self, message: &Message) -> Result<Value, String> {
        let job = message.job()?;
        let held = self.state.lease_of("", &job);
        let held = held.ok_or_else(|| format!("job {} holds no nodes", json!(job)))?;
        let (id, epoch) = (held.id, Some(held.epoch));
        let Reply::Ended(ended) = self.carry_out(Command::End { id, epoch })? else {
            unreachable!("the reply to an end is the ended lease")
        };
        Ok(json!({ "job": job, "released": true, "nodes": ended.nodes }))
    }

    fn change_node(&mut self, message: &Message, state: NodeState) -> Result<Value, String> {
        let node = message.node(self.grid())?;
        let command = Command::Node { machine: None, node, state };
        let Reply::Node(node) = self.carry_out(command)? else {
            unreachable!("the reply to a node change is its state")
        };
        Ok(json!({ "node": node.node, "failed": node.failed, "job": node.job }))
    }

    fn show(&self) -> Value {
        let (machine, grid) = (self.state.machine(MACHINE), self.grid());
        let largest = machine.free().largest_free().map_or([0; 3], |cuboid| cuboid.sides);
        json!({
            "free": machine.free().count(),
            "busy": machine.busy_nodes(),
            "failed": machine.failed_nodes(),
            "jobs": machine.jobs(),
            "largest_free": &largest[..grid.axes()],
        })
    }

    fn grid(&self) -> &Grid {
        self.state.grid(MACHINE)
    }

    /// Returns the job name in a message. The name must not be in use.
    fn free_name(&self, message: &Message) -> Result<JobName, String> {
        let job = message.job()?;
        match self.state.lease_of("", &job) {
            None => Ok(job),
            Some(_) => Err(format!("job {} already holds nodes", json!(job))),
        }
    }

    /// Returns the caller's name for a job.
    fn name_of(&self, JobId(id): JobId) -> JobName {
        let named = self.state.lease(id).and_then(|lease| lease.job.clone());
        named.unwrap_or(JobName::Large(id))
    }
}

fn lease_request(ask: Ask, job: JobName) -> LeaseRequest {
    LeaseRequest { job: Some(job), ..LeaseRequest::of(ask) }
}

fn answer_to(job: &JobName, reply: &Reply) -> Value {
    match reply {
        Reply::Granted(lease) => granted_answer(job, lease.nodes, lease.requested, &lease.parts),
        Reply::Problem(problem) => refusal_answer(job, problem.reason.word()),
        _ => unreachable!("a request for nodes is granted or refused"),
    }
}

fn granted_answer(job: &JobName, nodes: u64, requested: u64, parts: &[Place]) -> Value {
    json!({ "job": job, "granted": true, "nodes": nodes, "requested": requested, "parts": parts })
}

fn refusal_answer(job: &JobName, word: &str) -> Value {
    json!({ "job": job, "granted": false, "reason": word })
}
