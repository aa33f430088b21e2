//! One of the service's machines, with its queue and scheduler.

use std::collections::BTreeSet;

use pavior::scheduling::{AdvanceReservation, Dispatcher, GrantError, Standing};
use pavior::strategies::Selection;
use pavior::workload::{Job, Service, ShapeRule, Shaper};
use pavior::{
    BadName, Cuboid, Grid, JobId, Machine, NodeId, Occupancy, OccupancyError, Placement, Refusal,
    Request, Time,
};

use super::{
    Ask, BoardView, Lease, MachineSpec, NodeState, Reservation, StateError, StateView,
    WaitingRequest,
};

/// The duration assumed for a job without an estimate: a century.
pub(crate) const UNLIMITED: Time = Time(100 * 365 * 24 * 3600 * 1_000_000);

/// A machine with its queue and running jobs. Each job has the same number as its lease.
pub(crate) struct ServedMachine {
    pub(crate) spec: MachineSpec,
    pub(crate) grid: Grid,
    pub(super) dispatcher: Dispatcher,
    shaper: Shaper,
    pub(crate) failed: BTreeSet<NodeId>,
    pub(crate) drained: BTreeSet<NodeId>,
}

impl ServedMachine {
    /// Returns an empty machine. `seed` is for strategies that use random numbers.
    pub(crate) fn new(spec: &MachineSpec, seed: u64) -> Result<ServedMachine, StateError> {
        let bad = |reason| StateError::new(&spec.name, reason);
        let unknown = |error: BadName| bad(error.reason);
        let grid: Grid = spec.machine.parse().map_err(unknown)?;
        let strategy: Selection = spec.strategy.parse().map_err(unknown)?;
        // Without a scheduler, no requests wait, so this default is never used.
        let scheduler = spec.scheduler.as_deref().unwrap_or("fcfs");
        let scheduler: pavior::scheduling::Selection = scheduler.parse().map_err(unknown)?;
        if pavior::scheduling::weighs_messages(&scheduler) {
            let reason = "this scheduler depends on jobs' messages, which the service does \
                          not know; specify a freedom in each request instead";
            return Err(bad(reason.into()));
        }
        let scheduler = scheduler.build(()).map_err(|error| bad(error.to_string()))?;
        let rule: pavior::workload::Selection<ShapeRule> =
            spec.shape_rule.parse().map_err(unknown)?;
        let machine = Machine::with_seed(grid, &strategy, seed);
        let machine = machine.map_err(|error| bad(error.to_string()))?;
        Ok(ServedMachine {
            spec: spec.clone(),
            grid,
            dispatcher: Dispatcher::new(machine, scheduler),
            shaper: Shaper::new(&rule, &grid, seed, 0),
            failed: BTreeSet::new(),
            drained: BTreeSet::new(),
        })
    }

    /// Returns a copy of a machine in a view.
    ///
    /// # Errors
    /// Returns an error if the view is inconsistent.
    #[cfg(feature = "http")]
    pub(crate) fn of(view: &StateView, board: &BoardView, seed: u64) -> Result<Self, String> {
        let empty = ServedMachine::new(&board.spec, seed);
        let mut machine = empty.map_err(|error| error.to_string())?;
        machine.fill(view, board)?;
        Ok(machine)
    }

    /// Copies a machine's leases, unavailable nodes, advance reservations and queue from a view to
    /// this machine, which must be empty.
    ///
    /// # Errors
    /// Returns an error if the view is inconsistent.
    pub(super) fn fill(&mut self, view: &StateView, board: &BoardView) -> Result<(), String> {
        for lease in view.leases_on(board) {
            self.hold(lease)?;
        }
        for (nodes, state) in
            [(&board.failed, NodeState::Failed), (&board.drained, NodeState::Drained)]
        {
            for &node in nodes {
                self.set_node(NodeId(node), state)?;
            }
        }
        for reservation in view.reservations_on(board) {
            self.reserve(reservation)?;
        }
        for waiting in view.waiting_on(board) {
            self.enqueue(waiting)?;
        }
        Ok(())
    }

    pub(crate) fn machine(&self) -> &Machine {
        self.dispatcher.machine()
    }

    /// Returns the machine, queue and running jobs, for simulation.
    #[cfg(feature = "http")]
    pub(crate) fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Checks that a request could be granted if the machine were empty and all nodes available.
    ///
    /// # Errors
    /// Returns the reason if the request could never fit.
    pub(crate) fn could_ever_fit(&mut self, request: &Request) -> Result<(), Refusal> {
        self.dispatcher.could_ever_fit(request)
    }

    /// Returns true if the machine has a queue.
    pub(crate) fn has_queue(&self) -> bool {
        self.spec.scheduler.is_some()
    }

    /// Converts a command's demand to a request for the strategy.
    pub(crate) fn request(&mut self, ask: Ask) -> Request {
        ask.request(&mut self.shaper)
    }

    /// Returns the placement that the strategy would choose for a request that does not wait.
    ///
    /// # Errors
    /// Returns the reason if there is no placement.
    pub(crate) fn probe(
        &mut self,
        request: &Request,
        now_ms: u64,
        estimate: Time,
    ) -> Result<Placement, Refusal> {
        let now = micros(now_ms);
        self.dispatcher.probe(&job(JobId(0), *request, now, estimate), now)
    }

    /// Returns the first advance reservation that keeps a request from being granted now.
    pub(crate) fn blocking_reservation(
        &mut self,
        request: &Request,
        now_ms: u64,
        estimate: Time,
    ) -> Option<u64> {
        let placed = self.dispatcher.probe_unreserved(request).ok()?;
        let calendar = self.dispatcher.calendar();
        let reservation = calendar.in_the_way(micros(now_ms), estimate, &placed);
        reservation.map(AdvanceReservation::number)
    }

    pub(crate) fn reserve(&mut self, reservation: &Reservation) -> Result<(), String> {
        let reserved = self.dispatcher.reserve(reservation.calendar_entry(&self.grid)?);
        reserved.map_err(|error| error.to_string())
    }

    pub(crate) fn unreserve(&mut self, id: u64) {
        self.dispatcher.give_up(id);
    }

    /// Has the strategy allocate nodes for a request that does not wait. Returns the boxes.
    pub(crate) fn grant(
        &mut self,
        id: u64,
        request: Request,
        now_ms: u64,
        estimate: Time,
    ) -> Result<Vec<Cuboid>, GrantError> {
        let start = micros(now_ms);
        let placement = self.dispatcher.grant(job(JobId(id), request, start, estimate), start)?;
        Ok(placement.parts().to_vec())
    }

    /// Allocates a lease's nodes, unless the scheduler or the strategy has just allocated them. If
    /// the nodes are not free, changes nothing.
    pub(crate) fn hold(&mut self, lease: &Lease) -> Result<(), String> {
        if self.dispatcher.running().get(JobId(lease.id)).is_some() {
            return Ok(());
        }
        let start = micros(lease.start_ms);
        let job = job(JobId(lease.id), lease.request(), start, lease.estimate());
        let held = self.dispatcher.hold(job, start, lease.placement()).map(drop);
        // Determine which box is occupied only if the allocation has failed.
        let occupied = || self.check_free(&lease.cuboids()).err();
        held.map_err(|error| occupied().unwrap_or_else(|| error.to_string()))
    }

    /// Checks that the boxes are disjoint and on the machine, and that all their nodes are free.
    pub(crate) fn check_free(&self, parts: &[Cuboid]) -> Result<(), String> {
        if parts.is_empty() {
            return Err("a lease must have at least one box".to_string());
        }
        let mut free: Occupancy = self.machine().free().clone();
        for part in parts {
            let (base, sides) = (self.on_axes(part.base), self.on_axes(part.sides));
            free.take(part).map_err(|error| match error {
                OccupancyError::NotFree(_) => {
                    format!("the box at {base:?} with sides {sides:?} is not free")
                }
                _ => format!("the box at {base:?} with sides {sides:?} is not on {}", self.grid),
            })?;
        }
        Ok(())
    }

    fn on_axes(&self, numbers: [u16; 3]) -> Vec<u16> {
        numbers[..self.grid.axes()].to_vec()
    }

    pub(crate) fn end(&mut self, id: u64) {
        self.dispatcher.end(JobId(id));
    }

    /// Notifies the scheduler that a lease was renewed.
    pub(crate) fn renew(&mut self, lease: &Lease) {
        self.dispatcher.estimate_anew(JobId(lease.id), lease.estimate());
    }

    /// Returns the maximum number of nodes that a waiting request could get. All these nodes count
    /// against the quota.
    pub(crate) fn quota_nodes(&self, waiting: &WaitingRequest) -> u64 {
        self.machine().most(&waiting.request())
    }

    /// Adds a request to the queue. Returns the number of nodes that count against the quota.
    pub(crate) fn enqueue(&mut self, waiting: &WaitingRequest) -> Result<u64, String> {
        let asked = micros(waiting.asked_ms);
        let job = job(JobId(waiting.id), waiting.request(), asked, waiting.estimate());
        self.dispatcher.submit(job).map_err(|error| error.to_string())?;
        Ok(self.quota_nodes(waiting))
    }

    /// Removes a request from the queue, unless it has just started. Takes O(n) time.
    pub(crate) fn withdraw(&mut self, id: u64) {
        let index = self.waiting().position(|other| other == id);
        if let Some(index) = index {
            self.dispatcher.withdraw(index);
        }
    }

    /// Starts one waiting request, if any can start now. Returns its number and its boxes.
    pub(crate) fn start_next(&mut self, now_ms: u64) -> Option<(u64, Vec<Cuboid>)> {
        if !self.has_queue() {
            return None;
        }
        let started = self.dispatcher.start_next(micros(now_ms), &mut ());
        // This cannot fail: all strategies and schedulers used here are built in.
        let started = started.expect("a scheduler starts only jobs that fit, on free nodes")?;
        Some((started.job.id.0, started.placement.parts().to_vec()))
    }

    /// Returns the scheduler's plans for the n waiting requests ([`Dispatcher::standing`]). Takes
    /// O(n) time.
    pub(crate) fn standing(&self, now_ms: u64) -> Option<Standing> {
        self.dispatcher.standing(micros(now_ms))
    }

    /// Returns the numbers of the waiting requests, oldest first.
    pub(crate) fn waiting(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.dispatcher.queue().iter().map(|job| job.id.0)
    }

    pub(crate) fn node_state(&self, node: NodeId) -> NodeState {
        if self.failed.contains(&node) {
            NodeState::Failed
        } else if self.drained.contains(&node) {
            NodeState::Drained
        } else {
            NodeState::Healthy
        }
    }

    pub(crate) fn set_node(&mut self, node: NodeId, state: NodeState) -> Result<(), String> {
        let changed = match state {
            NodeState::Healthy => self.dispatcher.repair(node),
            NodeState::Failed | NodeState::Drained => self.dispatcher.fail(node).map(drop),
        };
        changed.map_err(|error| error.to_string())?;
        self.failed.remove(&node);
        self.drained.remove(&node);
        match state {
            NodeState::Healthy => {}
            NodeState::Failed => _ = self.failed.insert(node),
            NodeState::Drained => _ = self.drained.insert(node),
        }
        Ok(())
    }

    /// Returns the node at the given coordinates, if they are on the machine.
    pub(crate) fn node_at(&self, coordinates: &[u16]) -> Option<NodeId> {
        let mut point = [0; 3];
        point.get_mut(..coordinates.len())?.copy_from_slice(coordinates);
        let is_inside = coordinates.len() == self.grid.axes() && self.grid.contains(point);
        is_inside.then(|| self.grid.id(point))
    }
}

/// Returns a job whose run time equals its estimate.
pub(crate) fn job(id: JobId, request: Request, arrival: Time, estimate: Time) -> Job {
    let service = Service::Run(estimate);
    Job { id, index: id.0, number: id.0, arrival, request, service, estimate }
}

/// Converts a time or duration from milliseconds to microseconds, the schedulers' unit.
pub(crate) fn micros(ms: u64) -> Time {
    Time(ms.saturating_mul(1000))
}
