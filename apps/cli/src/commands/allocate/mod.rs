//! `pavior allocate`: a live allocator over standard input and output.

mod plans;

use std::collections::HashMap;
use std::io::{self, Write};

use pavior_allocation::{AllocateError, Machine, Placement, Refusal, Selection};
use pavior_files::{LONGEST_LINE, Lines, NextLine};
use pavior_kernel::message;
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Request};
use pavior_workload::{ShapeRule, Shaper};
use serde_json::{Map, Value, json};

use crate::args::AllocateArgs;
use crate::failure::Failure;
use crate::input;

pub(crate) fn run(args: &AllocateArgs) -> Result<(), Failure> {
    let grid = input::machine(&args.machine)?;
    let strategy: Selection = input::name("--strategy", &args.strategy)?;
    let rule: pavior_workload::Selection<ShapeRule> =
        input::name("--shape-rule", &args.shape_rule)?;
    let machine = Machine::with_seed(grid, &strategy, args.seed)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let shaper = Shaper::new(&rule, &grid, args.seed, 0);
    let mut session =
        Session { machine, shaper, names: HashMap::new(), jobs: HashMap::new(), next: 0 };
    let mut input = Lines::new(io::stdin().lock(), LONGEST_LINE);
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        let answer = match input.next_line(&mut line)? {
            NextLine::End => break,
            NextLine::Whole => session.answer(&line),
            NextLine::TooLong => Err(format!("the line is longer than {LONGEST_LINE} bytes")),
        };
        let number = input.number();
        let answer =
            answer.unwrap_or_else(|reason| json!({ "error": message(&reason), "line": number }));
        serde_json::to_writer(&mut output, &answer).map_err(io::Error::from)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

/// What can be asked.
const OPS: &str = "allocate, release, fail, repair, show, hold, list, drain and unblock";

/// The machine, and the names by which its jobs are known outside.
struct Session {
    machine: Machine,
    shaper: Shaper,
    /// JSON integers and strings; 7 and "7" differ.
    names: HashMap<Value, JobId>,
    jobs: HashMap<JobId, Value>,
    next: u64,
}

impl Session {
    /// The answer to a line; an error leaves the state unchanged.
    fn answer(&mut self, line: &[u8]) -> Result<Value, String> {
        let message: Value = serde_json::from_slice(line).map_err(|error| {
            let text = error.to_string();
            let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
            format!("not a JSON object: {reason} (column {})", error.column())
        })?;
        let Value::Object(message) = message else {
            return Err("not a JSON object".to_string());
        };
        match message.get("op").and_then(Value::as_str) {
            Some("allocate") => self.allocate(&message),
            Some("release") => self.release(&message),
            Some("fail") => self.fail(&message),
            Some("repair") => self.repair(&message),
            Some("show") => Ok(self.show()),
            Some("hold") => self.hold(&message),
            Some("list") => Ok(self.list()),
            Some("drain") => self.drain(&message),
            Some("unblock") => self.unblock(&message),
            Some(other) => Err(format!("unknown op `{other}`; there are {OPS}")),
            None => Err(format!("no \"op\"; there are {OPS}")),
        }
    }

    fn allocate(&mut self, message: &Map<String, Value>) -> Result<Value, String> {
        let name = job(message)?;
        if self.names.contains_key(&name) {
            return Err(format!("job {name} holds nodes already"));
        }
        let dry_run = match message.get("dry_run") {
            None => false,
            Some(value) => value.as_bool().ok_or("\"dry_run\" is true or false")?,
        };
        let request = self.request(message)?;
        let id = JobId(self.next);
        let answer = if dry_run {
            self.machine.probe(&request).map_err(AllocateError::from)
        } else {
            self.machine.allocate(id, &request).cloned()
        };
        Ok(match answer {
            Ok(placement) => {
                if !dry_run {
                    self.next += 1;
                    self.names.insert(name.clone(), id);
                    self.jobs.insert(id, name.clone());
                }
                granted(self.machine.grid(), &name, request.nodes, &placement)
            }
            Err(AllocateError::Refused(refusal)) => refused(&name, refusal),
            Err(error) => return Err(error.to_string()),
        })
    }

    /// The request of a message: a shape, or a number of nodes that the shape rule gives a shape.
    fn request(&mut self, message: &Map<String, Value>) -> Result<Request, String> {
        match (message.get("shape"), message.get("nodes")) {
            (Some(_), Some(_)) => Err("give \"shape\" or \"nodes\", not both".to_string()),
            (None, None) => Err("an allocation needs \"shape\" or \"nodes\"".to_string()),
            (None, Some(nodes)) => {
                let nodes = positive(nodes).ok_or("\"nodes\" is an integer of at least 1")?;
                // Anything above the largest machine is as far out of reach.
                let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
                Ok(self.shaper.request(nodes))
            }
            (Some(shape), None) => {
                let axes = self.machine.grid().axes();
                let sides = shape
                    .as_array()
                    .filter(|sides| sides.len() == axes)
                    .and_then(|sides| sides.iter().map(positive).collect::<Option<Vec<u64>>>())
                    .ok_or_else(|| format!("\"shape\" is {axes} integers of at least 1"))?;
                let product =
                    sides.iter().fold(1u64, |product, &side| product.saturating_mul(side));
                let nodes = u32::try_from(product).unwrap_or(u32::MAX);
                let mut shape = [1; 3];
                for (axis, &side) in sides.iter().enumerate() {
                    match u16::try_from(side) {
                        Ok(side) => shape[axis] = side,
                        // Longer than any axis: no box, only a count.
                        Err(_) => return Ok(Request::nodes(nodes)),
                    }
                }
                Ok(Request::hinted(nodes, shape))
            }
        }
    }

    fn release(&mut self, message: &Map<String, Value>) -> Result<Value, String> {
        let name = job(message)?;
        let id = self.names.remove(&name).ok_or_else(|| format!("job {name} holds no nodes"))?;
        self.jobs.remove(&id);
        let placement = self.machine.release(id).map_err(|error| error.to_string())?;
        Ok(json!({ "job": name, "released": true, "nodes": placement.nodes() }))
    }

    fn fail(&mut self, message: &Map<String, Value>) -> Result<Value, String> {
        let node = self.node(message)?;
        let holder = self.machine.fail(node).map_err(|error| error.to_string())?;
        Ok(self.state_of(node, true, holder))
    }

    fn repair(&mut self, message: &Map<String, Value>) -> Result<Value, String> {
        let node = self.node(message)?;
        self.machine.repair(node).map_err(|error| error.to_string())?;
        let holder = self.machine.holder(node);
        Ok(self.state_of(node, false, holder))
    }

    fn state_of(&self, node: NodeId, failed: bool, holder: Option<JobId>) -> Value {
        let grid = self.machine.grid();
        let job = holder.map_or(Value::Null, |id| self.jobs[&id].clone());
        json!({ "node": &grid.point(node)[..grid.axes()], "failed": failed, "job": job })
    }

    fn node(&self, message: &Map<String, Value>) -> Result<NodeId, String> {
        let grid = self.machine.grid();
        let axes = grid.axes();
        let coordinates: Option<Vec<u64>> = message
            .get("node")
            .and_then(Value::as_array)
            .filter(|node| node.len() == axes)
            .and_then(|node| node.iter().map(Value::as_u64).collect());
        let coordinates = coordinates.ok_or_else(|| format!("\"node\" is {axes} coordinates"))?;
        let mut point = [0u16; 3];
        for (axis, &coordinate) in coordinates.iter().enumerate() {
            if coordinate >= u64::from(grid.side(axis)) {
                return Err(format!("node {coordinates:?} lies outside {grid}"));
            }
            point[axis] = coordinate as u16;
        }
        Ok(grid.id(point))
    }

    fn show(&self) -> Value {
        let (machine, grid) = (&self.machine, self.machine.grid());
        let largest = machine.free().largest_free().map_or([0; 3], |cuboid| cuboid.sides);
        json!({
            "free": machine.free().count(),
            "busy": machine.busy_nodes(),
            "failed": machine.failed_nodes(),
            "jobs": machine.jobs(),
            "largest_free": &largest[..grid.axes()],
        })
    }
}

/// The job's name: an integer or a string.
fn job(message: &Map<String, Value>) -> Result<Value, String> {
    match message.get("job") {
        Some(name @ Value::String(_)) => Ok(name.clone()),
        Some(name @ Value::Number(number)) if number.is_i64() || number.is_u64() => {
            Ok(name.clone())
        }
        Some(_) => Err("\"job\" is an integer or a string".to_string()),
        None => Err("no \"job\"".to_string()),
    }
}

/// A positive integer; those beyond 64 bits count as the greatest.
fn positive(value: &Value) -> Option<u64> {
    let beyond = || value.as_f64().filter(|number| *number >= 2f64.powi(64)).map(|_| u64::MAX);
    value.as_u64().or_else(beyond).filter(|&number| number > 0)
}

fn granted(grid: &Grid, name: &Value, requested: u32, placement: &Placement) -> Value {
    json!({
        "job": name,
        "granted": true,
        "nodes": placement.nodes(),
        "requested": requested,
        "parts": parts(grid, placement.parts()),
    })
}

fn refused(name: &Value, refusal: Refusal) -> Value {
    json!({ "job": name, "granted": false, "reason": refusal.word() })
}

/// Boxes with as many coordinates as the machine has axes.
pub(crate) fn parts(grid: &Grid, parts: &[Cuboid]) -> Vec<Value> {
    let axes = grid.axes();
    let part = |part: &Cuboid| json!({ "base": &part.base[..axes], "sides": &part.sides[..axes] });
    parts.iter().map(part).collect()
}
