//! The operations of `pavior allocate` that take over what is held, list it, and plan.

use pavior_allocation::Placement;
use pavior_mesh::{Cuboid, JobId, NodeId};
use pavior_planning::{Answer, Limits, Move, Plan, Shape, Snapshot, Weights, drain, fit, unblock};
use serde_json::{Map, Value, json};

use super::{Session, granted, job, parts};

impl Session {
    /// Takes over an allocation as it is: the boxes must be free, and lie on the machine.
    pub(super) fn hold(&mut self, message: &Map<String, Value>) -> Result<Value, String> {
        let name = job(message)?;
        if self.names.contains_key(&name) {
            return Err(format!("job {name} holds nodes already"));
        }
        let list = message.get("parts").and_then(Value::as_array);
        let list = list.filter(|list| !list.is_empty());
        let list = list.ok_or("\"parts\" is a list of at least one box")?;
        let boxes: Vec<Cuboid> =
            list.iter().map(|part| self.cuboid(part)).collect::<Result<_, _>>()?;
        let grid = *self.machine.grid();
        for (index, part) in boxes.iter().enumerate() {
            if !part.lies_on(&grid) {
                return Err(format!("part {} does not lie on {grid}", list[index]));
            }
            if boxes[..index].iter().any(|other| other.intersects(&grid, part)) {
                return Err(format!("part {} overlaps another of the same job", list[index]));
            }
            if !self.machine.free().is_free(part) {
                return Err(format!("part {} is not free", list[index]));
            }
        }
        let placement = match boxes[..] {
            [whole] => Placement::Whole(whole),
            _ => Placement::Parts(boxes),
        };
        let id = JobId(self.next);
        let held = self.machine.allocate_at(id, placement).map_err(|error| error.to_string())?;
        let answer = granted(&grid, &name, held.nodes(), held);
        self.next += 1;
        self.names.insert(name.clone(), id);
        self.jobs.insert(id, name);
        Ok(answer)
    }

    /// Every job and what it holds, and every failed node, held or not.
    pub(super) fn list(&self) -> Value {
        let grid = self.machine.grid();
        let held = self.machine.held();
        let jobs = held.iter().map(|(job, placement)| {
            json!({ "job": self.jobs[job], "parts": parts(grid, placement.parts()) })
        });
        let failed = (0..grid.nodes()).map(NodeId);
        let failed = failed.filter(|&node| !self.machine.healthy().is_node_free(node));
        let failed = failed.map(|node| json!(&grid.point(node)[..grid.axes()]));
        json!({ "jobs": jobs.collect::<Vec<_>>(), "failed": failed.collect::<Vec<_>>() })
    }

    /// Takes nodes out of service, as failures do, and plans where the jobs on them go. The plan is not
    /// carried out.
    pub(super) fn drain(&mut self, message: &Map<String, Value>) -> Result<Value, String> {
        let list = message.get("nodes").and_then(Value::as_array);
        let list = list.ok_or("\"nodes\" is a list of nodes")?;
        let mut nodes = Vec::new();
        for node in list {
            let single: Map<String, Value> =
                [("node".to_string(), node.clone())].into_iter().collect();
            nodes.push(self.node(&single)?);
        }
        let limits = limits(message)?;
        if !flag(message, "dry_run")? {
            for &node in &nodes {
                let _ = self.machine.fail(node);
            }
        }
        let snapshot = Snapshot::of(&self.machine);
        let answer = drain(&snapshot, &nodes, &Weights::nodes(&snapshot), &limits);
        let grid = self.machine.grid();
        let drained = nodes.iter().map(|&node| json!(&grid.point(node)[..grid.axes()]));
        let mut told = json!({ "drained": drained.collect::<Vec<_>>() });
        self.plan(&answer, &mut told);
        Ok(told)
    }

    /// The cheapest set of jobs whose moving makes a request fit. Nothing is changed.
    pub(super) fn unblock(&mut self, message: &Map<String, Value>) -> Result<Value, String> {
        let request = self.request(message)?;
        let limits = limits(message)?;
        let snapshot = Snapshot::of(&self.machine);
        let shape = request.shape.map(|sides| Shape { sides, turn: limits.turn });
        let fits = shape.is_some_and(|shape| fit(&snapshot, shape).is_some());
        let answer = match shape {
            Some(shape) => unblock(&snapshot, shape, &Weights::nodes(&snapshot), &limits),
            // A request without a box fits nowhere, ever.
            None => Answer { plan: None, proven: true },
        };
        let place = answer.plan.as_ref().and_then(|plan| plan.boxes.first());
        let place = place.map(|at| parts(self.machine.grid(), &[*at]).remove(0));
        let mut told = json!({ "fits": fits, "placement": place });
        self.plan(&answer, &mut told);
        Ok(told)
    }

    fn plan(&self, answer: &Answer, told: &mut Value) {
        let grid = self.machine.grid();
        let step = |step: &Move| {
            json!({
                "job": self.jobs[&step.job],
                "from": parts(grid, &step.from),
                "to": parts(grid, &step.to),
            })
        };
        let plan = answer.plan.as_ref();
        let names = |plan: &Plan| plan.jobs.iter().map(|job| &self.jobs[job]).cloned().collect();
        told["proven"] = json!(answer.proven);
        told["cost"] = json!(plan.map(|plan| plan.cost));
        told["jobs"] = plan.map_or(Value::Null, |plan| Value::Array(names(plan)));
        let moves = plan.map_or(Vec::new(), |plan| plan.moves.iter().map(step).collect());
        told["moves"] = Value::Array(moves);
    }

    fn cuboid(&self, part: &Value) -> Result<Cuboid, String> {
        let axes = self.machine.grid().axes();
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
            || format!("a part is {{\"base\":[..],\"sides\":[..]}} of {axes} integers each");
        let known = |key: &String| ["base", "sides"].contains(&key.as_str());
        if !part.as_object().is_some_and(|part| part.keys().all(known)) {
            return Err(wrong());
        }
        Ok(Cuboid::new(read("base", 0).ok_or_else(wrong)?, read("sides", 1).ok_or_else(wrong)?))
    }
}

fn limits(message: &Map<String, Value>) -> Result<Limits, String> {
    let most = match message.get("max_jobs") {
        None => 3,
        Some(most) => most.as_u64().ok_or("\"max_jobs\" is an integer of at least 0")?,
    };
    let turn = match message.get("turn") {
        None => true,
        Some(turn) => turn.as_bool().ok_or("\"turn\" is true or false")?,
    };
    Ok(Limits { turn, ..Limits::jobs(usize::try_from(most).unwrap_or(usize::MAX)) })
}

fn flag(message: &Map<String, Value>, key: &str) -> Result<bool, String> {
    match message.get(key) {
        None => Ok(false),
        Some(value) => value.as_bool().ok_or_else(|| format!("\"{key}\" is true or false")),
    }
}
