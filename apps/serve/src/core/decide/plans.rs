//! Plans that make room by a time, carried out step by step.

use std::collections::HashSet;
use std::sync::Arc;

use pavior_mesh::{Cuboid, NodeId, Occupancy};

use super::{Deciding, Stop};
use crate::core::lease::boxes;
use crate::core::{
    Event, Instant, Lease, Outcome, Plan, PlanRequest, Problem, Reason, Reply, Reservation, Step,
    WaitingRequest, Why, epoch, reply,
};

/// The most plans that are under way at a time: each command looks at all of them.
const MOST: usize = 16;

fn bad(detail: String) -> Problem {
    Problem::new(Reason::BadValue, detail)
}

impl Deciding<'_> {
    pub(super) fn begin_plan(&mut self, asked: &PlanRequest) -> Result<Reply, Stop> {
        self.operator("have plans carried out")?;
        let board = self.board(asked.machine.as_deref())?;
        if asked.by_ms <= self.now_ms {
            let detail = format!("\"by\" has passed: the time is {}", Instant(self.now_ms));
            return Err(bad(detail).into());
        }
        if self.state.under_way().count() >= MOST {
            let detail = format!("{MOST} plans are under way already");
            return Err(Problem::new(Reason::TooLarge, detail).into());
        }
        self.room_for_reservations(1 + asked.moves.len())?;
        let leases = self.asked_leases(board, asked)?;
        self.leads_to_room(board, asked, &leases)?;
        let plan = self.planned(board, asked, &leases);
        let (id, machine) = (plan.id, plan.machine.clone());
        let name = Some(format!("plan {id}"));
        let keep = |id: u64, parts, from_ms, to_ms| {
            let (machine, name) = (machine.clone(), name.clone());
            Reservation { id, machine, parts, from_ms, to_ms, name }
        };
        let end = asked.by_ms.saturating_add(asked.for_ms);
        let mut kept = vec![keep(plan.reservation, plan.room.clone(), plan.by_ms, end)];
        kept.extend(plan.steps.iter().filter_map(|step| {
            let to = (step.to.clone(), self.now_ms, plan.by_ms);
            step.reservation.map(|id| keep(id, to.0, to.1, to.2))
        }));
        let grid = self.state.boards[board].grid;
        kept.iter().try_for_each(|one| one.ahead(&grid).map(drop)).map_err(bad)?;
        self.record(Event::Planned { plan: Arc::new(plan) });
        for reservation in kept {
            self.record(Event::Reserved { reservation: Arc::new(reservation) });
        }
        // What was planned before is void.
        self.schedule(board);
        Ok(Reply::Planned(self.shown_plan(id)))
    }

    /// The leases that a plan speaks of, the moved ones first; each is on the machine, and once.
    fn asked_leases(&self, board: usize, asked: &PlanRequest) -> Result<Vec<Lease>, Problem> {
        let name = &self.state.boards[board].spec.name;
        let moved = asked.moves.iter().map(|step| step.lease);
        let ids: Vec<u64> = moved.chain(asked.requeued.iter().copied()).collect();
        if !asked.requeued.is_empty() && !self.state.boards[board].orders() {
            let detail = "requests cannot wait: the service was started without --scheduler";
            return Err(Problem::new(Reason::NoScheduler, detail));
        }
        if ids.iter().collect::<HashSet<_>>().len() < ids.len() {
            return Err(bad("a lease stands twice in the plan".to_string()));
        }
        let mut leases = Vec::new();
        for id in ids {
            if self.state.asked_of(id).is_some() {
                return Err(bad(format!("another plan asks lease {id} already")));
            }
            let lease = self.state.leases.get(&id).filter(|lease| lease.machine == *name);
            let unknown =
                || Problem::new(Reason::UnknownLease, format!("there is no lease {id} on {name}"));
            leases.push(Lease::clone(lease.ok_or_else(unknown)?));
        }
        Ok(leases)
    }

    /// Holds a plan against the state: once all that end by its time are gone, and its steps are
    /// done, the room is free.
    fn leads_to_room(
        &self,
        board: usize,
        asked: &PlanRequest,
        leases: &[Lease],
    ) -> Result<(), Problem> {
        let served = &self.state.boards[board];
        let grid = served.grid;
        let mut then = Occupancy::all_free(grid);
        let take = |free: &mut Occupancy, nodes: &mut dyn Iterator<Item = NodeId>| {
            for node in nodes {
                free.take_node(node);
            }
        };
        let each = |part: &Cuboid| part.nodes(&grid);
        take(&mut then, &mut served.failed.iter().copied());
        let stays = |lease: &&Arc<Lease>| {
            let leaves = leases.iter().any(|asked| asked.id == lease.id);
            lease.machine == served.spec.name && !leaves && lease.said_end_ms() > asked.by_ms
        };
        for lease in self.state.leases.values().filter(stays) {
            take(&mut then, &mut lease.cuboids().iter().flat_map(each));
        }
        // Nodes of the room may be drained, but no lease goes to one.
        let mut places = then.clone();
        take(&mut places, &mut served.drained.iter().copied());
        let not_free = |what: String| {
            let detail = format!("{what} is not free by {}", Instant(asked.by_ms));
            Problem::new(Reason::NotFree, detail)
        };
        for (step, lease) in asked.moves.iter().zip(leases) {
            let id = lease.id;
            if step.from.as_ref().is_some_and(|from| boxes(from) != lease.parts) {
                let detail = format!("lease {id} is not where the plan says that it is");
                return Err(Problem::new(Reason::Changed, detail));
            }
            let nodes: u32 = step.to.iter().map(Cuboid::volume).sum();
            if nodes != lease.nodes() {
                return Err(bad(format!("lease {id} has {} nodes, not {nodes}", lease.nodes())));
            }
            let taken = places.take_all(&step.to);
            taken.map_err(|_| not_free(format!("the place for lease {id}")))?;
            take(&mut then, &mut step.to.iter().flat_map(each));
        }
        let room = asked.room.iter().all(|part| then.is_free(part));
        room.then_some(()).ok_or_else(|| not_free("the room".to_string()))
    }

    fn planned(&self, board: usize, asked: &PlanRequest, leases: &[Lease]) -> Plan {
        let id = self.state.next_id;
        let mut numbers = id + 2..;
        let step = |(place, lease): (usize, &Lease)| {
            let to = asked.moves.get(place).map_or(Vec::new(), |step| boxes(&step.to));
            let reservation = if to.is_empty() { None } else { numbers.next() };
            Step { lease: lease.id, epoch: lease.epoch, to, reservation, done: false }
        };
        Plan {
            id,
            machine: self.state.boards[board].spec.name.clone(),
            room: boxes(&asked.room),
            by_ms: asked.by_ms,
            reservation: id + 1,
            steps: leases.iter().enumerate().map(step).collect(),
            outcome: None,
        }
    }

    /// Does what a plan asks of a lease: its holder has stopped on its nodes.
    pub(super) fn take_step(&mut self, id: u64, epoch: Option<u64>) -> Result<Reply, Stop> {
        let lease = self.held(id, epoch)?.clone();
        let board = self.board(Some(&lease.machine))?;
        let Some((plan, step)) = self.state.asked_of(id) else {
            let detail = format!("no plan asks lease {id} to go elsewhere");
            return Err(Problem::new(Reason::NotAsked, detail).into());
        };
        if self.state.epoch + 1 >= epoch::MOST {
            return Err(Problem::new(Reason::NoEpochs, "there is no epoch left below 2^53").into());
        }
        let (plan, step) = (plan.id, step.clone());
        if step.to.is_empty() {
            return Ok(self.requeue(board, &lease)?);
        }
        let mut free = self.state.boards[board].machine().free().clone();
        free.give_all(&lease.cuboids()).expect("a lease holds its nodes");
        if !step.cuboids().iter().all(|part| free.is_free(part)) {
            let detail = format!("the nodes where lease {id} is to go are still held: ask again");
            return Err(Problem::new(Reason::NotFree, detail).into());
        }
        if let Some(reservation) = step.reservation {
            self.record_unreserved(reservation, Why::Ended);
        }
        let lease = Lease { epoch: self.state.epoch + 1, parts: step.to, ..lease };
        let reply = reply::Lease::of(&self.state.boards[board].grid, &lease);
        self.record(Event::Moved { plan, lease: Arc::new(lease) });
        self.schedule(board);
        Ok(Reply::Moved(reply))
    }

    /// Ends a lease, and lets its request wait again as the last of the queue.
    fn requeue(&mut self, board: usize, lease: &Lease) -> Result<Reply, Problem> {
        self.place_in_queue(board, &lease.tenant)?;
        self.record_end(lease.id, Why::Requeued);
        let waiting = WaitingRequest {
            id: self.state.next_id,
            epoch: self.state.epoch + 1,
            machine: lease.machine.clone(),
            requested: lease.requested,
            shape: lease.shape,
            freedom: lease.freedom,
            tenant: lease.tenant.clone(),
            job: lease.job.clone(),
            asked_ms: self.now_ms,
            ttl_ms: lease.ttl_ms,
            estimate_ms: lease.estimate_ms,
        };
        let (id, grid) = (waiting.id, self.state.boards[board].grid);
        let shown = reply::Waiting::of(&grid, &waiting);
        self.record(Event::Queued { waiting: waiting.into() });
        self.schedule(board);
        Ok(match self.state.leases.get(&id) {
            Some(lease) => Reply::Granted(reply::Lease::of(&grid, lease)),
            None => Reply::Waiting(shown),
        })
    }

    pub(super) fn cancel_plan(&mut self, id: u64) -> Result<Reply, Stop> {
        self.operator("give up plans")?;
        if !self.state.under_way().any(|plan| plan.id == id) {
            let detail = format!("there is no plan {id} under way");
            return Err(Problem::new(Reason::UnknownPlan, detail).into());
        }
        self.end_plan(id, Outcome::GivenUp("the operator gave it up".to_string()));
        Ok(Reply::PlanOver(self.shown_plan(id)))
    }

    /// Ends the plans that have reached their end, or that the state no longer allows.
    pub(super) fn judge_plans(&mut self) {
        let plans: Vec<Arc<Plan>> = self.state.under_way().cloned().collect();
        for plan in plans {
            if let Some(outcome) = self.state.outcome(&plan, self.now_ms) {
                self.end_plan(plan.id, outcome);
            }
        }
    }

    /// Ends a plan. Nothing is kept free any longer but the room that was made.
    fn end_plan(&mut self, id: u64, outcome: Outcome) {
        let plan = self.state.plans[&id].clone();
        let room = (outcome != Outcome::Free).then_some(plan.reservation);
        let kept = plan.left().filter_map(|step| step.reservation).chain(room);
        let kept: Vec<u64> = kept.filter(|one| self.state.reservations.contains_key(one)).collect();
        self.record(Event::PlanOver { id, outcome });
        for reservation in kept {
            self.record_unreserved(reservation, Why::Cancelled);
        }
        if let Some(board) = self.state.board_index(Some(&plan.machine)) {
            self.schedule(board);
        }
    }

    fn shown_plan(&self, id: u64) -> reply::Plan {
        let plan = &self.state.plans[&id];
        let board = self.state.board_index(Some(&plan.machine)).unwrap_or_default();
        reply::Plan::of(&self.state.boards[board].grid, plan, self.caller, |lease| {
            self.state.tenant_of(lease)
        })
    }
}
