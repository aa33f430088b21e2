//! A machine of cubes as the page shows it: each cube is a place, each block a row.

use pavior_board::{Asked, Drawn, Head, View, part};
use pavior_mesh::Cuboid;
use serde_json::{Value, json};

use super::{id, lease, points, request, waits_for};
use crate::plan::{Holding, Stock, Waiting};

/// A machine at an instant.
pub(super) struct Cubes {
    pub(super) now: u64,
    pub(super) machine: String,
    pub(super) stock: Stock,
    pub(super) waiting: Vec<Waiting>,
}

impl Cubes {
    fn named(&self, job: &str) -> Option<&Waiting> {
        self.waiting.iter().find(|one| id(one) == job)
    }

    fn request(&self, waiting: &Waiting) -> Value {
        let sides = waiting.request.and_then(|request| request.shape);
        let cubes = sides.and_then(|sides| Stock::cubes(&written(&sides)).ok());
        let shape = sides.as_ref().map(|sides| &sides[..]);
        request(&self.machine, waiting, cubes.map(u64::from), shape)
    }

    fn parts(&self, parts: &[Cuboid]) -> Vec<Value> {
        parts.iter().map(|at| part(&self.stock.grid, at)).collect()
    }
}

/// A shape in chips as it is written.
fn written<T: ToString>(sides: &[T]) -> String {
    sides.iter().map(T::to_string).collect::<Vec<_>>().join("x")
}

impl View for Cubes {
    fn now(&self) -> u64 {
        self.now
    }

    fn head(&self) -> Head {
        Head {
            name: self.machine.clone(),
            machine: self.stock.grid.to_string(),
            strategy: "tpu · each node is a cube of 4x4x4 chips, each row a block".to_string(),
            ledger: "kubernetes",
        }
    }

    fn drawn(&self) -> Drawn {
        let grid = &self.stock.grid;
        let lease = |held: &Holding| (held.name.clone(), lease(grid, &self.machine, held));
        Drawn {
            leases: self.stock.held.iter().map(lease).collect(),
            waiting: self.waiting.iter().map(|one| (id(one), self.request(one))).collect(),
            failed: points(grid, &self.stock.failed),
        }
    }

    fn busy(&self) -> u32 {
        self.stock.grid.nodes() - self.stock.free - self.stock.failed.len() as u32
    }

    fn largest_free(&self) -> u64 {
        self.stock.largest()
    }

    fn queue(&self, most: usize) -> (Vec<Value>, usize) {
        let waits = |one| json!({ "id": id(one), "waits_for": waits_for(one), "forecast": null });
        (self.waiting.iter().take(most).map(waits).collect(), self.waiting.len())
    }

    fn explain(&self, asked: &Asked) -> Result<Value, String> {
        let none = || "no such Job waits for a Slice".to_string();
        let waiting = asked.waiting.as_deref().map(|name| self.named(name).ok_or_else(none));
        let waiting = waiting.transpose()?;
        let of_waiting = |one: &Waiting| one.request.and_then(|request| request.shape);
        let shape = match (waiting, &asked.shape) {
            (Some(one), _) => written(&of_waiting(one).ok_or_else(|| one.why.clone())?),
            (None, Some(sides)) => written(sides),
            (None, None) => return Err("a Job asks for a shape".to_string()),
        };
        let needed = Stock::cubes(&shape)?;
        let found = match waiting {
            Some(one) => Err(one.why.clone()),
            None => self.stock.ask(&shape)?,
        };
        let parts = found.as_ref().map_or(Vec::new(), |parts| self.parts(parts));
        let why = found.err();
        let (free, failed) = (self.stock.free, self.stock.failed.len());
        let missing = if needed > free { "nodes" } else { "place" };
        Ok(json!({
            "machine": self.stock.grid.to_string(),
            "strategies": [{
                "strategy": "tpu", "granted": why.is_none(), "parts": parts,
            }],
            "diagnosis": {
                "why": why.iter().collect::<Vec<_>>(),
                "counts": { "free": free, "busy": self.busy(), "failed": failed },
                "needed": needed,
                "missing": why.as_ref().map(|_| missing),
                "nearest": null,
                "blocked": null,
            },
            "waits_for": waiting.map(waits_for),
        }))
    }

    fn slots(&self, shape: &str) -> Result<Value, String> {
        let sides = pavior_mesh::read_sides(shape);
        let slots = self.stock.slots(shape)?;
        let boxes = slots.iter().flat_map(|parts| self.parts(parts));
        Ok(json!({
            "shape": sides, "slots": slots.len(), "bound": slots.len(), "proven": true,
            "boxes": boxes.collect::<Vec<_>>(), "next": null,
        }))
    }

    fn why(&self, job: &str) -> Result<String, String> {
        let held = self.stock.held.iter().find(|held| held.name == format!("Job {job}"));
        let waiting = self.named(job);
        let holds = held.map(|held| {
            let cubes: Vec<String> = self.stock.names(&held.parts).collect();
            format!("{job} holds the cubes {}", cubes.join(", "))
        });
        let waits = waiting.map(|one| format!("{job} waits: {}", one.why));
        let lines: Vec<String> = holds.into_iter().chain(waits).collect();
        if lines.is_empty() {
            return Err("no such Job waits or runs".to_string());
        }
        Ok(lines.join("\n"))
    }
}
