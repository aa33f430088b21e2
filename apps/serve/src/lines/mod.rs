//! The service's commands as JSON lines: `pavior allocate`. There is one machine, one caller and no
//! clock, and nothing is stored. The same [`ServiceState`] decides the same [`Command`]s as over
//! HTTP. Its records are discarded, and its replies are converted to the format of
//! `docs/allocate.md`. Jobs are identified by names chosen by the caller.

mod plans;

use pavior::answers::json::Place;
use pavior::{Coordinates, Freedom, Grid, JobId, UnknownFreedom, json};
use serde_json::{Map, Value, json};

use crate::core::{
    Ask, Caller, Command, JobName, LeaseRequest, MachineSpec, NodeChange, Problem, Reason, Reply,
    ServiceLimits, ServiceState, StateError,
};

/// The supported operations.
const OPS: &str = "allocate, release, fail, repair, show, hold, list, drain and unblock";
/// The keys of all operations. A key that almost matches one of them is an error.
const KEYS: [&str; 10] =
    ["op", "job", "shape", "nodes", "freedom", "dry_run", "node", "parts", "max_jobs", "turn"];
/// The index of the session's only machine.
const MACHINE: usize = 0;

/// A machine controlled by JSON lines.
pub struct LineSession {
    state: ServiceState,
}

impl LineSession {
    /// Returns an empty machine. A strategy that uses random numbers draws them from `seed`.
    ///
    /// # Errors
    /// Returns an error if the description is wrong.
    pub fn new(machine: &MachineSpec, seed: u64) -> Result<LineSession, StateError> {
        let mut state = ServiceState::new(ServiceLimits::default(), seed);
        state.configure(std::slice::from_ref(machine))?;
        Ok(LineSession { state })
    }

    /// Carries out the operation in a line and returns the answer.
    ///
    /// # Errors
    /// Returns the reason if the line is invalid; the state is then unchanged.
    pub fn answer(&mut self, line: &[u8]) -> Result<Value, String> {
        let message: Value = json::read(line).map_err(|error| {
            let (reason, column) = (json::reason(&error), error.column());
            // The text is valid JSON, but ambiguous.
            let what = if error.is_data() { "" } else { "not a JSON object: " };
            format!("{what}{reason} (column {column})")
        })?;
        let Value::Object(message) = message else {
            return Err("not a JSON object".to_string());
        };
        reject_misspelled_keys(&message)?;
        match message.get("op").and_then(Value::as_str) {
            Some("allocate") => self.allocate(&message),
            Some("release") => self.release(&message),
            Some("fail") => self.change_node(&message, NodeChange::Fail),
            Some("repair") => self.change_node(&message, NodeChange::Repair),
            Some("show") => Ok(self.show()),
            Some("hold") => self.hold(&message),
            Some("list") => Ok(self.list()),
            Some("drain") => self.drain(&message),
            Some("unblock") => self.unblock(&message),
            Some(other) => Err(format!("unknown op `{other}`; the operations are {OPS}")),
            None => Err(format!("missing \"op\"; the operations are {OPS}")),
        }
    }

    /// Carries out a command. A refusal is a reply; any other problem is an error.
    fn carry_out(&mut self, command: Command) -> Result<Reply, String> {
        let mut records = Vec::new();
        let decision = self.state.decide(0, &Caller::OPERATOR, None, command, &mut records);
        match decision.reply {
            Reply::Problem(Problem { reason: Reason::Refused(_), .. }) => Ok(decision.reply),
            Reply::Problem(problem) => Err(problem.detail),
            reply => Ok(reply),
        }
    }

    fn allocate(&mut self, message: &Map<String, Value>) -> Result<Value, String> {
        let job = self.free_name(message)?;
        let dry_run = flag(message, "dry_run", false)?;
        let (ask, freedom) = (self.ask(message)?, freedom(message)?);
        if dry_run {
            let request = self.state.request(MACHINE, ask).with_freedom(freedom);
            return Ok(match self.state.probe(MACHINE, &request) {
                Ok(choice) => json!({
                    "job": job,
                    "granted": true,
                    "nodes": choice.nodes(),
                    "requested": request.nodes,
                    "parts": Place::all(self.grid(), choice.parts()),
                }),
                Err(refusal) => refusal_answer(&job, refusal.word()),
            });
        }
        let command = Command::Lease(LeaseRequest { freedom, ..lease_request(ask, job.clone()) });
        Ok(answer_to(&job, &self.carry_out(command)?))
    }

    /// Reads the requested shape, or the number of nodes, which the shape rule converts to a shape.
    fn ask(&self, message: &Map<String, Value>) -> Result<Ask, String> {
        let sides = |shape: &Value| {
            let sides: Option<Vec<u64>> =
                shape.as_array().and_then(|sides| sides.iter().map(positive).collect());
            sides.ok_or("\"shape\" must be a list of positive integers")
        };
        let nodes = |nodes| positive(nodes).ok_or("\"nodes\" must be a positive integer");
        let shape = message.get("shape").map(sides).transpose()?;
        let nodes = message.get("nodes").map(nodes).transpose()?;
        Ask::read(shape.as_deref(), nodes, self.grid()).map_err(|fault| fault.to_string())
    }

    fn release(&mut self, message: &Map<String, Value>) -> Result<Value, String> {
        let job = job(message)?;
        let held = self.state.lease_of("", &job);
        let held = held.ok_or_else(|| format!("job {} holds no nodes", json!(job)))?;
        let (id, epoch) = (held.id, Some(held.epoch));
        let Reply::Ended(ended) = self.carry_out(Command::End { id, epoch })? else {
            unreachable!("the reply to an end is the ended lease")
        };
        Ok(json!({ "job": job, "released": true, "nodes": ended.nodes }))
    }

    fn change_node(
        &mut self,
        message: &Map<String, Value>,
        change: NodeChange,
    ) -> Result<Value, String> {
        let node = self.node(message.get("node"))?;
        let command = Command::Node { machine: None, node, change };
        let Reply::Node(node) = self.carry_out(command)? else {
            unreachable!("the reply to a node change is its state")
        };
        Ok(json!({ "node": node.node, "failed": node.failed, "job": node.job }))
    }

    fn node(&self, node: Option<&Value>) -> Result<Coordinates, String> {
        let grid = self.grid();
        let axes = grid.axes();
        let coordinates: Option<Vec<u64>> = node
            .and_then(Value::as_array)
            .filter(|node| node.len() == axes)
            .and_then(|node| node.iter().map(Value::as_u64).collect());
        let coordinates =
            coordinates.ok_or_else(|| format!("\"node\" must have {axes} coordinates"))?;
        let mut point = [0u16; 3];
        for (axis, &coordinate) in coordinates.iter().enumerate() {
            if coordinate >= u64::from(grid.side(axis)) {
                return Err(format!("node {coordinates:?} is outside {grid}"));
            }
            point[axis] = coordinate as u16;
        }
        Ok(point)
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

    /// Returns the message's job name, which must not be in use.
    fn free_name(&self, message: &Map<String, Value>) -> Result<JobName, String> {
        let job = job(message)?;
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

/// Rejects keys that look like typos of known ones, because `dryrun` would allocate nodes. Other
/// unknown keys are ignored.
fn reject_misspelled_keys(message: &Map<String, Value>) -> Result<(), String> {
    let unknown = message.keys().filter(|key| !KEYS.contains(&key.as_str()));
    let mut meant = unknown.filter_map(|key| {
        let plain = key.to_lowercase().replace(['_', '-', ' '], "");
        let known = KEYS.iter().find(|known| {
            // Short keys resemble too many other words.
            let most = usize::from(known.len() > 4);
            strsim::damerau_levenshtein(&plain, &known.replace('_', "")) <= most
        })?;
        Some(format!("unknown key \"{}\"; did you mean \"{known}\"?", key.escape_default()))
    });
    meant.next().map_or(Ok(()), Err)
}

fn lease_request(ask: Ask, job: JobName) -> LeaseRequest {
    LeaseRequest { job: Some(job), ..LeaseRequest::of(ask) }
}

fn job(message: &Map<String, Value>) -> Result<JobName, String> {
    let name = message.get("job").ok_or("missing \"job\"")?;
    JobName::read(name).ok_or_else(|| "\"job\" must be an integer or a string".to_string())
}

/// Returns a positive integer, or `u64::MAX` if it does not fit.
fn positive(value: &Value) -> Option<u64> {
    let beyond = || value.as_f64().filter(|number| *number >= 2f64.powi(64)).map(|_| u64::MAX);
    value.as_u64().or_else(beyond).filter(|&number| number > 0)
}

fn flag(message: &Map<String, Value>, key: &str, default: bool) -> Result<bool, String> {
    match message.get(key) {
        None => Ok(default),
        Some(value) => value.as_bool().ok_or_else(|| format!("\"{key}\" must be true or false")),
    }
}

fn freedom(message: &Map<String, Value>) -> Result<Option<Freedom>, String> {
    let Some(word) = message.get("freedom").filter(|word| !word.is_null()) else { return Ok(None) };
    let word = word.as_str().ok_or("\"freedom\" must be a string")?;
    word.parse().map(Some).map_err(|error: UnknownFreedom| error.to_string())
}

fn answer_to(job: &JobName, reply: &Reply) -> Value {
    match reply {
        Reply::Granted(lease) => json!({
            "job": job,
            "granted": true,
            "nodes": lease.nodes,
            "requested": lease.requested,
            "parts": lease.parts,
        }),
        Reply::Problem(problem) => refusal_answer(job, problem.reason.word()),
        _ => unreachable!("a request for nodes is granted or refused"),
    }
}

fn refusal_answer(job: &JobName, word: &str) -> Value {
    json!({ "job": job, "granted": false, "reason": word })
}
