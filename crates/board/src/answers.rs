//! Answers about the current state of a machine, in the formats of `pavior serve`, which the page
//! reads.

use pavior::answers::json::{Place, Point};
use pavior::answers::{Blocked, Shape, SlotsAnswer, Snapshot, Why};
use pavior::boxes::volume;
use pavior::strategies::{Selection, explain};
use pavior::workload::Ask;
use pavior::{Cuboid, Grid, JobId, NodeId, Request, Time};
use serde_json::{Value, json};

use crate::date;

/// The maximum number of bit set words examined for one count of slots.
const BUDGET: u64 = 4_000_000;

/// A machine that answers questions.
pub struct Answers<'a> {
    /// The grid.
    pub grid: &'a Grid,
    /// The strategy.
    pub strategy: &'a Selection,
    /// Running jobs and their nodes.
    pub state: explain::State,
    /// The numbers of free, held and unavailable nodes.
    pub counts: [u32; 3],
    /// Returns the name of a job in the state.
    pub name: &'a dyn Fn(JobId) -> String,
    /// Returns the end of a job in the state in seconds since 1970, if it is known.
    pub end: &'a dyn Fn(JobId) -> Option<Time>,
}

/// An explanation of why a request is waiting or would have to wait.
pub struct Told {
    /// The explanation, in sentences.
    pub lines: Vec<String>,
    /// The answer that the sentences describe.
    pub why: Option<Why>,
    /// The free box that is most similar to the requested one, if no such box is free.
    pub nearest: Option<Cuboid>,
}

/// Takes a snapshot of a machine for plans.
///
/// # Errors
///
/// Returns an error if the strategy does not work on the machine.
pub fn snapshot(state: &explain::State, strategy: &Selection) -> Result<Snapshot, String> {
    let machine = state.machine(strategy, 1);
    machine.map(|machine| Snapshot::of(&machine)).map_err(|error| error.to_string())
}

impl Answers<'_> {
    /// Explains the strategy's answer to a request and the obstacles.
    ///
    /// # Errors
    ///
    /// The reason why the request does not fit the machine.
    pub fn explain(
        &self,
        request: &Request,
        told: impl FnOnce(&Snapshot) -> Told,
        waits_for: Option<&Value>,
    ) -> Result<Value, String> {
        let answer = explain::answer(&self.state, self.strategy, request, 1);
        let answer = answer.map_err(|bad| bad.to_string())?;
        let strategy = self.strategy.to_string();
        let choice = match &answer.outcome {
            Ok(choice) => {
                let parts = Place::all(self.grid, choice.placement.parts());
                json!({ "strategy": strategy, "granted": true, "parts": parts })
            }
            Err(refusal) => json!({
                "strategy": strategy, "granted": false, "reason": refusal.word(), "parts": [],
            }),
        };
        let snapshot = snapshot(&self.state, self.strategy)?;
        let told = told(&snapshot);
        let [free, busy, failed] = self.counts;
        let needed = request.shape.map_or(u64::from(request.nodes), volume);
        let missing = match answer.outcome {
            Ok(_) => None,
            Err(_) if needed > free.into() => Some("nodes"),
            Err(_) => Some("place"),
        };
        let blocked = told.why.as_ref().and_then(|why| why.blocked.as_ref());
        Ok(json!({
            "machine": self.grid.to_string(),
            "strategies": [choice],
            "diagnosis": {
                "why": told.lines,
                "counts": { "free": free, "busy": busy, "failed": failed },
                "needed": needed,
                "missing": missing,
                "nearest": told.nearest.map(|at| Place::of(self.grid, &at)),
                "blocked": blocked.map(|blocked| self.blocked(&snapshot, blocked)),
            },
            "waits_for": waits_for,
        }))
    }

    /// Describes the obstacles and the moves that would make room.
    fn blocked(&self, snapshot: &Snapshot, blocked: &Blocked) -> Value {
        let name = |job| (self.name)(job);
        let holder = |job, nodes| json!({ "lease": name(job), "job": name(job), "nodes": nodes });
        let mut value = json!(blocked.json(snapshot, name, holder, |until| date(until.0)));
        value["drained"] = json!([]);
        value
    }

    /// Counts the boxes of a shape in nodes that fit now at the same time, and finds the time at
    /// which there will be more.
    ///
    /// # Errors
    ///
    /// The reason why the shape does not fit the machine.
    pub fn slots(&self, shape: &str) -> Result<Value, String> {
        let asked = Ask::typed(Some(shape), None, self.grid).map_err(|fault| fault.to_string())?;
        let Ask::Shape(sides) = asked else { return Err("no machine has such a side".to_string()) };
        let (snapshot, shapes) = (snapshot(&self.state, self.strategy)?, [Shape::new(sides)]);
        let found = SlotsAnswer::of(&snapshot, &shapes, self.end, BUDGET, None);
        let mut value = json!(found.json(self.grid, self.name, |at| date(at.0)));
        value["shape"] = json!(Point::of(self.grid, sides));
        Ok(value)
    }
}

/// Returns one box if the parts together form one, for example in several layers, or past the end
/// of an axis that wraps. Otherwise returns the parts. No node may be in two of them.
pub fn joined(grid: &Grid, parts: &[Cuboid]) -> Vec<Cuboid> {
    let nodes: u64 = parts.iter().map(|part| u64::from(part.volume())).sum();
    let run = |axis: usize| {
        let mut taken = vec![false; usize::from(grid.sides()[axis])];
        for part in parts {
            for step in 0..part.sides[axis] {
                let at = usize::from(part.base[axis] + step) % taken.len();
                taken[at] = true;
            }
        }
        let side = taken.iter().filter(|&&taken| taken).count();
        let begins = |&at: &usize| taken[at] && !taken[(at + taken.len() - 1) % taken.len()];
        // If there are several runs, the first gives a box that does not contain all of these
        // nodes, or is too large.
        ((0..taken.len()).find(begins).unwrap_or(0) as u16, side as u16)
    };
    let runs = [run(0), run(1), run(2)];
    let whole = Cuboid::new(runs.map(|(base, _)| base), runs.map(|(_, side)| side));
    let inside = |node: NodeId| whole.contains(grid, grid.point(node));
    let is_whole = !parts.is_empty()
        && whole.lies_on(grid)
        && volume(whole.sides) == nodes
        && parts.iter().flat_map(|part| part.nodes(grid)).all(inside);
    if is_whole { vec![whole] } else { parts.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_a_box_together_are_joined() {
        let grid: Grid = "torus:8x8x4".parse().unwrap();
        let at = |base, sides| Cuboid::new(base, sides);
        let layers: Vec<Cuboid> = (0..3).map(|z| at([1, 2, z], [4, 3, 1])).collect();
        assert_eq!(joined(&grid, &layers), [at([1, 2, 0], [4, 3, 3])]);
        let past = [at([0, 0, 0], [2, 4, 4]), at([6, 0, 0], [2, 4, 4])];
        assert_eq!(joined(&grid, &past), [at([6, 0, 0], [4, 4, 4])]);
        let apart = [at([0, 0, 0], [1, 1, 1]), at([2, 0, 0], [1, 1, 1])];
        assert_eq!(joined(&grid, &apart), apart);
        let bent = [at([0, 0, 0], [2, 1, 1]), at([0, 1, 0], [1, 1, 1])];
        assert_eq!(joined(&grid, &bent), bent);
        let mesh: Grid = "mesh:8x8x4".parse().unwrap();
        assert_eq!(joined(&mesh, &past), past);
        assert_eq!(joined(&grid, &[at([0, 0, 0], [8, 8, 4])]), [at([0, 0, 0], [8, 8, 4])]);
        assert!(joined(&grid, &[]).is_empty());
    }
}
