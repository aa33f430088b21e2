//! One machine of the service: its nodes, its queue and its scheduler.

use std::collections::BTreeSet;

use pavior_allocation::{Machine, Placement, Selection};
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Occupancy, OccupancyError, Request, Sides};
use pavior_scheduling::{
    Attempt, AttemptObserver, MachineView, Queue, Running, Scheduler, Standing, Start,
};
use pavior_workload::{Job, Service, ShapeRule, Shaper};

use super::{Ask, Lease, MachineSpec, NodeState, StateError, WaitingRequest};

/// How long a job without an estimate is taken to run: a century, in milliseconds.
const FOREVER_MS: u64 = 100 * 365 * 24 * 3600 * 1000;

/// A machine, and what waits for it.
pub(crate) struct Board {
    pub(crate) spec: MachineSpec,
    pub(crate) grid: Grid,
    pub(crate) machine: Machine,
    shaper: Shaper,
    scheduler: Option<Box<dyn Scheduler>>,
    queue: Queue,
    running: Running,
    /// The state of the machine in which the scheduler last answered that no job starts; none if
    /// jobs came or went since, or nodes were given back.
    settled: Option<u64>,
    pub(crate) failed: BTreeSet<NodeId>,
    pub(crate) drained: BTreeSet<NodeId>,
}

/// Attempts are not counted here.
struct Unwatched;

impl AttemptObserver for Unwatched {
    fn ended(&mut self, _attempt: Attempt) {}
}

impl Board {
    /// An empty machine. A strategy that draws does so from `seed`.
    pub(crate) fn new(spec: &MachineSpec, seed: u64) -> Result<Board, StateError> {
        let bad = |reason: String| StateError::Machine { name: spec.name.clone(), reason };
        let grid: Grid =
            spec.machine.parse().map_err(|error: pavior_mesh::NameError| bad(error.reason))?;
        let strategy: Selection =
            spec.strategy.parse().map_err(|error: pavior_kernel::BadName| bad(error.reason))?;
        let scheduler = match &spec.scheduler {
            None => None,
            Some(name) => {
                let name: pavior_scheduling::Selection =
                    name.parse().map_err(|error: pavior_kernel::BadName| bad(error.reason))?;
                if pavior_scheduling::weighs_messages(&name) {
                    let reason = "the scheduler weighs the messages of jobs, which the service \
                                  does not know: let requests say how free they are";
                    return Err(bad(reason.into()));
                }
                Some(name.build(()).map_err(|error| bad(error.to_string()))?)
            }
        };
        let rule: pavior_workload::Selection<ShapeRule> =
            spec.shape_rule.parse().map_err(|error: pavior_kernel::BadName| bad(error.reason))?;
        Ok(Board {
            spec: spec.clone(),
            grid,
            machine: Machine::with_seed(grid, &strategy, seed)
                .map_err(|error| bad(error.to_string()))?,
            shaper: Shaper::new(&rule, &grid, seed, 0),
            scheduler,
            queue: Queue::new(),
            running: Running::new(),
            settled: None,
            failed: BTreeSet::new(),
            drained: BTreeSet::new(),
        })
    }

    /// Whether requests can wait.
    pub(crate) fn orders(&self) -> bool {
        self.scheduler.is_some()
    }

    /// The request of the machine's strategy for what a caller asks.
    pub(crate) fn request(&mut self, ask: Ask) -> Request {
        ask.request(&mut self.shaper)
    }

    /// Puts a lease on its nodes. Nothing changes if they are not free.
    pub(crate) fn place(&mut self, lease: &Lease) -> Result<(), String> {
        let parts = lease.cuboids();
        let placement = match parts[..] {
            [whole] => Placement::Whole(whole),
            _ => Placement::Parts(parts.clone()),
        };
        let placed = self.machine.allocate_at(JobId(lease.id), placement).map(drop);
        // The box that is in the way is looked for only where there is one.
        placed.map_err(|error| self.check(&parts).err().unwrap_or_else(|| error.to_string()))
    }

    /// Whether boxes lie on the machine, apart, and on free nodes.
    pub(crate) fn check(&self, parts: &[Cuboid]) -> Result<(), String> {
        if parts.is_empty() {
            return Err("a lease holds at least one box".to_string());
        }
        let mut free: Occupancy = self.machine.free().clone();
        for part in parts {
            let (base, sides) = (self.cut(part.base), self.cut(part.sides));
            free.take(part).map_err(|error| match error {
                OccupancyError::NotFree(_) => {
                    format!("the box at {base:?} of {sides:?} is not free")
                }
                _ => format!("the box at {base:?} of {sides:?} does not lie on {}", self.grid),
            })?;
        }
        Ok(())
    }

    fn cut(&self, numbers: [u16; 3]) -> Vec<u16> {
        numbers[..self.grid.axes()].to_vec()
    }

    /// Tells the scheduler's list of a lease that has begun.
    pub(crate) fn began(&mut self, lease: &Lease) {
        if self.orders() {
            let start = micros(lease.start_ms);
            let request = request(lease.requested, lease.shape);
            self.running.start(job(lease.id, request, start, estimate(lease)), start);
        }
    }

    /// Tells it of one that is no more; the lease is as it was when the list was last told of it.
    pub(crate) fn ended(&mut self, lease: &Lease) {
        self.settled = None;
        if self.orders() {
            let end = micros(lease.start_ms).saturating_add(estimate(lease));
            self.running.depart(end, JobId(lease.id));
        }
    }

    /// The most nodes that a request may be granted: what it counts for while it waits.
    pub(crate) fn books(&self, waiting: &WaitingRequest) -> u64 {
        self.machine.most(&waiting.request())
    }

    /// Adds a request to the queue; what it counts for ([`Board::books`]).
    pub(crate) fn wait(&mut self, waiting: &WaitingRequest) -> u64 {
        self.settled = None;
        let estimate = waiting.estimate();
        let asked = micros(waiting.asked_ms);
        self.queue.push(job(waiting.id, waiting.request(), asked, estimate));
        self.books(waiting)
    }

    /// Takes a request out of the queue, wherever it stands. O(n).
    pub(crate) fn leave(&mut self, id: u64) {
        self.settled = None;
        let index = self.queue.iter().position(|job| job.id.0 == id);
        if let Some(index) = index {
            self.queue.withdraw(index);
        }
    }

    /// The number of the next waiting request to start now, and the boxes that it gets: the machine
    /// has granted them, and the request has left the queue.
    pub(crate) fn next_start(&mut self, now_ms: u64) -> Option<(u64, Vec<Cuboid>)> {
        if self.queue.is_empty() {
            return None;
        }
        let scheduler = self.scheduler.as_mut()?;
        let mut unwatched = Unwatched;
        let mut asked = MachineView::new(&mut self.machine, &mut unwatched);
        let start = scheduler.next(micros(now_ms), &self.queue, &self.running, &mut asked);
        let Some(Start { index, placement }) = start else {
            self.settled = Some(self.machine.state());
            return None;
        };
        let job = self.queue.take(index).expect("a scheduler starts jobs of the queue");
        let granted = match placement {
            Some(placement) => self.machine.allocate_at(job.id, placement).is_ok(),
            None => self.machine.allocate(job.id, &job.request).is_ok(),
        };
        assert!(granted, "a scheduler starts jobs that fit, on free nodes");
        let placement = self.machine.placement(job.id).expect("it was just granted");
        Some((job.id.0, placement.parts().to_vec()))
    }

    /// What the scheduler has in mind for the waiting requests, and whether nothing was granted
    /// beside it since it was asked; none if it was not asked in this state, or does not say. O(n).
    pub(crate) fn standing(&self, now_ms: u64) -> Option<(Standing, bool)> {
        let settled = self.settled.filter(|_| !self.queue.is_empty())?;
        let scheduler = self.scheduler.as_ref()?;
        let standing = scheduler.standing(micros(now_ms), &self.queue, &self.machine)?;
        Some((standing, settled == self.machine.state()))
    }

    /// The numbers of the waiting requests, the oldest first.
    pub(crate) fn waiting(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.queue.iter().map(|job| job.id.0)
    }

    /// The state of a node.
    pub(crate) fn node(&self, node: NodeId) -> NodeState {
        if self.failed.contains(&node) {
            NodeState::Failed
        } else if self.drained.contains(&node) {
            NodeState::Drained
        } else {
            NodeState::Healthy
        }
    }

    /// Changes the state of a node.
    pub(crate) fn set_node(&mut self, node: NodeId, state: NodeState) {
        self.settled = None;
        self.failed.remove(&node);
        self.drained.remove(&node);
        match state {
            NodeState::Healthy => {
                self.machine.repair(node).expect("callers look the node up on the grid");
                return;
            }
            NodeState::Failed => self.failed.insert(node),
            NodeState::Drained => self.drained.insert(node),
        };
        self.machine.fail(node).expect("callers look the node up on the grid");
    }

    /// The node at some coordinates, if they lie on the machine.
    pub(crate) fn node_at(&self, coordinates: &[u16]) -> Option<NodeId> {
        let mut point = [0; 3];
        point.get_mut(..coordinates.len())?.copy_from_slice(coordinates);
        let right = coordinates.len() == self.grid.axes() && self.grid.contains(point);
        right.then(|| self.grid.id(point))
    }
}

/// The estimate of a lease: up to its end if it has one.
fn estimate(lease: &Lease) -> Time {
    let until = lease.expires_ms.map(|end| end.saturating_sub(lease.start_ms));
    micros(lease.estimate_ms.or(until).unwrap_or(FOREVER_MS))
}

impl WaitingRequest {
    /// How long it is taken to run.
    pub(crate) fn estimate(&self) -> Time {
        micros(self.estimate_ms.or(self.ttl_ms).unwrap_or(FOREVER_MS))
    }

    /// What the machine is asked.
    pub(crate) fn request(&self) -> Request {
        request(self.requested, self.shape).with_freedom(self.freedom)
    }
}

fn request(nodes: u32, shape: Option<Sides>) -> Request {
    shape.map_or_else(|| Request::nodes(nodes), |shape| Request::hinted(nodes, shape))
}

fn job(id: u64, request: Request, arrival: Time, estimate: Time) -> Job {
    let service = Service::Run(estimate);
    Job { id: JobId(id), number: id, arrival, request, service, estimate }
}

fn micros(ms: u64) -> Time {
    Time(ms.saturating_mul(1000))
}
