//! A plan that makes room by a time, and is carried out step by step.
//!
//! The service moves no lease by itself. A lease goes to other nodes, or waits again, when its
//! holder says that it has stopped there. Until then the nodes that it goes to are kept free for
//! it. A plan is given up as soon as the state no longer allows it.

use std::sync::Arc;

use pavior_mesh::Cuboid;
use serde::{Deserialize, Serialize};

use super::lease::{Box3, cuboids};
use super::{Instant, Lease, NodeState, ServiceState};

/// Plans that are over and can still be read.
const REMEMBERED: usize = 64;

/// Room that is made by a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Its number, which no lease and no reservation ever bears.
    pub id: u64,
    /// The machine.
    pub machine: String,
    /// The boxes that are to be free: base and sides, three of each.
    pub room: Vec<Box3>,
    /// When they are to be free, in milliseconds since 1970.
    pub by_ms: u64,
    /// The reservation that keeps them free from then on.
    pub reservation: u64,
    /// Who moves or waits again, in an order in which it can be done.
    pub steps: Vec<Step>,
    /// How it ended; none while it is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// What a plan asks of the holder of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The lease.
    pub lease: u64,
    /// The epoch under which it was held when the plan was made.
    pub epoch: u64,
    /// The boxes that it goes to; none if it ends, and its request waits again.
    pub to: Vec<Box3>,
    /// The reservation that keeps them free until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<u64>,
    /// Whether it has been done.
    #[serde(default)]
    pub done: bool,
}

/// How a plan ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The room is free.
    Free,
    /// It was given up, with the reason as a sentence.
    GivenUp(String),
}

impl Plan {
    /// The boxes that are to be free.
    pub fn cuboids(&self) -> Vec<Cuboid> {
        cuboids(&self.room)
    }

    /// The steps that are still to be done.
    pub(crate) fn left(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| !step.done)
    }
}

impl Step {
    /// The boxes that the lease goes to.
    pub fn cuboids(&self) -> Vec<Cuboid> {
        cuboids(&self.to)
    }
}

impl ServiceState {
    /// The plans that are under way.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = &Arc<Plan>> {
        self.plans.values().filter(|plan| plan.outcome.is_none())
    }

    /// The next thing that a plan asks of the holder of a lease.
    pub(crate) fn asked_of(&self, lease: u64) -> Option<(&Plan, &Step)> {
        self.under_way().find_map(|plan| {
            let step = plan.left().find(|step| step.lease == lease)?;
            Some((&**plan, step))
        })
    }

    /// A plan is begun.
    pub(crate) fn begin_plan(&mut self, plan: &Arc<Plan>) -> Result<(), String> {
        self.board_of(&plan.machine)?;
        self.next_id = self.next_id.max(plan.id + 1);
        self.plans.insert(plan.id, plan.clone());
        Ok(())
    }

    /// A plan is over.
    pub(crate) fn end_plan(&mut self, id: u64, outcome: &Outcome) -> Result<(), String> {
        let plan = self.plans.get_mut(&id).filter(|plan| plan.outcome.is_none());
        let plan = plan.ok_or_else(|| format!("plan {id} is not under way"))?;
        Arc::make_mut(plan).outcome = Some(outcome.clone());
        let others = self.plans.values().filter(|plan| plan.outcome.is_some() && plan.id != id);
        let others: Vec<u64> = others.map(|plan| plan.id).collect();
        for other in others.iter().take((others.len() + 1).saturating_sub(REMEMBERED)) {
            self.plans.remove(other);
        }
        Ok(())
    }

    /// What a plan asked of a lease has been done.
    pub(crate) fn tick_off(&mut self, lease: u64) {
        let asked = self.asked_of(lease).map(|(plan, _)| plan.id);
        let Some(plan) = asked.and_then(|id| self.plans.get_mut(&id)) else { return };
        let steps = &mut Arc::make_mut(plan).steps;
        if let Some(step) = steps.iter_mut().find(|step| step.lease == lease && !step.done) {
            step.done = true;
        }
    }

    /// Whether a plan is over now, and how.
    pub(crate) fn outcome(&self, plan: &Plan, now_ms: u64) -> Option<Outcome> {
        let late = now_ms >= plan.by_ms && self.doubted.is_none();
        let steps = plan.left().find_map(|step| self.prevented(plan, step, late));
        steps.or_else(|| self.hindered(plan, late)).map(Outcome::GivenUp).or_else(|| {
            let free = plan.left().next().is_none() && self.holders(plan).next().is_none();
            free.then_some(Outcome::Free)
        })
    }

    /// Why a step cannot be done any more.
    fn prevented(&self, plan: &Plan, step: &Step, late: bool) -> Option<String> {
        let Step { lease: id, epoch, .. } = *step;
        let Some(lease) = self.leases.get(&id) else {
            return Some(format!("lease {id} has ended"));
        };
        if lease.epoch != epoch {
            return Some(format!("lease {id} has gone elsewhere"));
        }
        if late {
            let by = Instant(plan.by_ms);
            return Some(format!("lease {id} has not done its step by {by}"));
        }
        if let Some(gone) = step.reservation.filter(|id| !self.reservations.contains_key(id)) {
            return Some(format!("reservation {gone} of the nodes for lease {id} was given up"));
        }
        let board = &self.boards[self.board_index(Some(&plan.machine))?];
        let to = step.cuboids();
        if to
            .iter()
            .flat_map(|part| part.nodes(&board.grid))
            .any(|node| board.node(node) != NodeState::Healthy)
        {
            return Some(format!("a node where lease {id} is to go is not available"));
        }
        let taken = self.late(plan, &to).find(|other| other.id != id)?;
        Some(format!("lease {} holds nodes where lease {id} is to go", taken.id))
    }

    /// Why the room will not be free.
    fn hindered(&self, plan: &Plan, late: bool) -> Option<String> {
        let room = plan.cuboids();
        if let Some(holder) = self.holders(plan).next().filter(|_| late) {
            let by = Instant(plan.by_ms);
            return Some(format!("lease {} still holds nodes of the room at {by}", holder.id));
        }
        if !late && !self.reservations.contains_key(&plan.reservation) {
            return Some(format!("reservation {} of the room was given up", plan.reservation));
        }
        let board = &self.boards[self.board_index(Some(&plan.machine))?];
        let mut nodes = room.iter().flat_map(|part| part.nodes(&board.grid));
        if nodes.any(|node| board.failed.contains(&node)) {
            return Some("a node of the room has failed".to_string());
        }
        let stays = self.late(plan, &room).next()?;
        Some(format!("lease {} holds nodes of the room beyond the time", stays.id))
    }

    /// The leases that hold nodes of the room.
    fn holders(&self, plan: &Plan) -> impl Iterator<Item = &Lease> {
        self.meeting(plan, plan.cuboids())
    }

    /// The leases that hold some of these nodes, are not asked to leave, and are said to end after
    /// the plan's time.
    fn late(&self, plan: &Plan, boxes: &[Cuboid]) -> impl Iterator<Item = &Lease> {
        let (by_ms, asked) = (plan.by_ms, plan.left().map(|step| step.lease).collect::<Vec<_>>());
        let holders = self.meeting(plan, boxes.to_vec());
        holders.filter(move |lease| lease.said_end_ms() > by_ms && !asked.contains(&lease.id))
    }

    /// The leases of the machine that hold some of these nodes.
    fn meeting(&self, plan: &Plan, boxes: Vec<Cuboid>) -> impl Iterator<Item = &Lease> {
        let board = self.board_index(Some(&plan.machine)).map(|index| &self.boards[index]);
        board.into_iter().flat_map(move |board| {
            let meets = |part: &Cuboid| boxes.iter().any(|own| own.intersects(&board.grid, part));
            let leases = self.leases.values().map(|lease| &**lease);
            let here = leases.filter(|lease| lease.machine == board.spec.name);
            here.filter(|lease| lease.cuboids().iter().any(meets)).collect::<Vec<_>>()
        })
    }
}
