//! Adds the ledger's jobs to the machine and determines the role of each job.

use std::collections::HashSet;

use pavior::boxes::{orientations, volume};
use pavior::workload::Shaper;
use pavior::{Cuboid, NodeId, Request, Sides};
use pavior_cluster::Planner;

use crate::ledger::site::Site;
use crate::ledger::{Condition, JobKey, Phase, SlurmJob};
use crate::names::NodeName;
use crate::plan::candidates::Candidates;
use crate::plan::machine::{MachineState, Obstacle, Role};
use crate::plan::preemption;
use crate::plan::request::request;
use crate::plan::world::{POWER_OFF_S, World};
use crate::{Config, SlurmError};

/// The fault reported if every box of a job's shape contains a node that is not a candidate.
const NO_CANDIDATES: &str = "no box of its shape contains only nodes that meet its requirements";

/// A builder for the machine in a cycle. Running jobs must be added before waiting ones.
pub(super) struct Builder<'a> {
    world: World<'a>,
    site: &'a Site,
    evicting: &'a HashSet<JobKey>,
    planner: Planner,
    conditions: Vec<Condition>,
    owners: Vec<Option<usize>>,
    overlaps: Vec<NodeId>,
    misplaced: Vec<usize>,
    unplaceable: Vec<(usize, Obstacle)>,
    candidates: Candidates<'a>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        world: World<'a>,
        site: &'a Site,
        evicting: &'a HashSet<JobKey>,
    ) -> Result<Builder<'a>, SlurmError> {
        let World { config, ledger, .. } = world;
        let planner = Planner::new(config.grid, &config.strategy, &config.scheduler(), world.now)
            .map_err(SlurmError::Planner)?;
        let nodes = config.grid.nodes() as usize;
        let mut conditions = world.conditions();
        // These nodes are named in a malformed job record, so they count as unavailable even if
        // idle.
        for name in ledger.unreadable.iter().flat_map(|record| &record.nodes) {
            if let Some(id) = config.nodes.get(name) {
                conditions[id.index()] = Condition::Unavailable;
            }
        }
        Ok(Builder {
            world,
            site,
            evicting,
            planner,
            conditions,
            owners: vec![None; nodes],
            overlaps: Vec::new(),
            misplaced: Vec::new(),
            unplaceable: Vec::new(),
            candidates: Candidates::new(world),
        })
    }

    /// Returns the nodes with these names, in ascending order. Unknown names are ignored.
    fn ids(&self, names: &[NodeName]) -> Vec<NodeId> {
        let mut ids: Vec<NodeId> =
            names.iter().filter_map(|name| self.world.config.nodes.get(name)).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Marks the nodes of a running or completing job as in use, whether or not they form a box.
    pub(super) fn hold(&mut self, index: usize, job: &SlurmJob, shaper: &mut Shaper) {
        let ids = self.ids(&job.held_nodes);
        // A job without a valid request, such as a job submitted before the gate existed, has no
        // box.
        let has_box = request(self.world.config, job, shaper)
            .is_ok_and(|request| is_box(self.world.config, &ids, request.shape.unwrap_or([1; 3])));
        let is_ours = self.world.config.partitions.contains(&job.partition);
        if job.phase == Phase::Running && !has_box && job.comment.is_ok() && is_ours {
            self.misplaced.push(index);
        }
        let has_owner = |id: &NodeId| self.owners[id.index()].is_some();
        let (taken, ids): (Vec<_>, Vec<_>) = ids.into_iter().partition(has_owner);
        if job.phase == Phase::Running {
            self.overlaps.extend(taken);
        }
        self.assign(index, job, &ids);
    }

    fn assign(&mut self, index: usize, job: &SlurmJob, ids: &[NodeId]) {
        let now = self.world.now;
        let start = match job.phase {
            Phase::Running => job.start.unwrap_or(now),
            Phase::Pending | Phase::Completing => now,
        };
        if self.planner.hold(index as u64, ids.to_vec(), start, job.release_time(now)) {
            for id in ids {
                self.owners[id.index()] = Some(index);
            }
        }
    }

    /// Adds a placeholder job that briefly holds the nodes Slurm is powering off.
    pub(super) fn hold_for_power_off(&mut self) {
        let is_powering_off = |index: &usize| {
            self.conditions[*index] == Condition::PoweringOff && self.owners[*index].is_none()
        };
        let nodes =
            (0..self.owners.len()).filter(is_powering_off).map(|index| NodeId(index as u32));
        let (nodes, now) = (nodes.collect(), self.world.now);
        self.planner.hold(self.world.ledger.jobs.len() as u64, nodes, now, Some(now + POWER_OFF_S));
    }

    /// Determines a waiting job's role.
    pub(super) fn classify(
        &mut self,
        index: usize,
        job: &'a SlurmJob,
        shaper: &mut Shaper,
    ) -> Role {
        let now = self.world.now;
        let waits_for_time =
            job.reason == "BeginTime" && job.start.is_some_and(|start| start > now);
        if !job.licenses.has_gate(&self.world.config.license) {
            if job.priority == 0 {
                return Role::Held;
            }
            return match (job.requested_nodes.is_empty(), waits_for_time) {
                (true, _) => Role::Ungated,
                (false, true) => Role::Requeued,
                (false, false) => self.classify_open(index, job, shaper),
            };
        }
        // Until Slurm has examined a changed job, it reports the reason `None`, even if the job's
        // start is in the future.
        let is_eligible = match job.reason.as_str() {
            "None" | "BeginTime" => job.start.is_none_or(|start| start <= now),
            reason => awaits_nodes(reason),
        };
        match self.restricted_request(job, shaper) {
            Ok(request) if is_eligible => Role::Waits(request),
            Ok(_) => Role::Ineligible,
            Err(fault) => {
                self.unplaceable.push((index, fault));
                Role::Ineligible
            }
        }
    }

    /// Returns a job's request, restricted to its candidates.
    fn restricted_request(
        &mut self,
        job: &'a SlurmJob,
        shaper: &mut Shaper,
    ) -> Result<Request, Obstacle> {
        let request = request(self.world.config, job, shaper).map_err(Obstacle::Never)?;
        let planner = &mut self.planner;
        let pool = self.candidates.pool_of(job, planner);
        let restricted = request.within(pool.map_err(|fault| Obstacle::Never(fault.into()))?);
        if restricted.pool.is_none() || planner.could_ever_fit(&restricted) {
            return Ok(restricted);
        }
        let unreserved = request.within(self.candidates.pool_ignoring_reservations(job, planner));
        if planner.could_ever_fit(&unreserved) {
            return Err(Obstacle::Reserved);
        }
        Err(Obstacle::Never(NO_CANDIDATES.into()))
    }

    /// Determines the role of a job whose gate is open.
    fn classify_open(&mut self, index: usize, job: &'a SlurmJob, shaper: &mut Shaper) -> Role {
        let ids = self.ids(&job.requested_nodes);
        let Ok(request) = request(self.world.config, job, shaper) else {
            return Role::Obstructed("its shape cannot be parsed");
        };
        let sides = request.shape.unwrap_or([1; 3]);
        if !is_box(self.world.config, &ids, sides) {
            return Role::Obstructed("its nodes do not form the requested box");
        }
        match self.candidates.pool_of(job, &mut self.planner) {
            Ok(pool) if self.planner.has_all(pool, &ids) => {}
            _ => return Role::Obstructed("it is not currently allowed to use one of its nodes"),
        }
        if ids.iter().any(|id| self.owners[id.index()].is_some())
            || self.evicting.contains(&job.key())
        {
            if let Some(free) = self.free_before_preemption(job, &ids) {
                self.assign(index, job, &free);
                return Role::Preempting;
            }
            if ids.iter().any(|id| self.owners[id.index()].is_some()) {
                return Role::Obstructed("one of its nodes is taken");
            }
        }
        if !ids.iter().all(|id| self.is_idle(*id, job)) {
            return Role::Obstructed("one of its nodes is unavailable");
        }
        self.assign(index, job, &ids);
        Role::Opened
    }

    /// Returns true if Slurm reports that no job uses the node and that this job may use it.
    fn is_idle(&self, id: NodeId, job: &SlurmJob) -> bool {
        match self.conditions[id.index()] {
            Condition::Idle => true,
            Condition::Reserved => !job.reservation.is_empty(),
            Condition::Taken | Condition::PoweringOff | Condition::Unavailable => false,
        }
    }

    /// Returns the free nodes among `ids`. Returns `None` if all are free, if some node is
    /// unavailable, or if some node is in use by a job that is not completing and that this job
    /// cannot preempt.
    fn free_before_preemption(&self, job: &SlurmJob, ids: &[NodeId]) -> Option<Vec<NodeId>> {
        let is_evicting = self.evicting.contains(&job.key());
        let mut free = Vec::new();
        for id in ids {
            let owner = self.owners[id.index()].map(|owner| &self.world.ledger.jobs[owner]);
            match (self.conditions[id.index()], owner) {
                (Condition::Unavailable, _) => return None,
                (_, Some(owner)) => {
                    let is_ending = owner.phase == Phase::Completing;
                    if !is_ending && !preemption::may_preempt(self.site, job, owner, self.world.now)
                    {
                        return None;
                    }
                }
                (_, None) if self.is_idle(*id, job) => free.push(*id),
                (Condition::Taken, None) if is_evicting => {}
                (_, None) => return None,
            }
        }
        (free.len() < ids.len()).then_some(free)
    }

    /// Marks unavailable nodes as failed, and returns the finished machine.
    pub(super) fn finish(mut self, roles: Vec<Role>) -> MachineState {
        for (index, condition) in self.conditions.iter().enumerate() {
            let is_foreign = *condition == Condition::Taken && self.owners[index].is_none();
            if is_foreign || *condition == Condition::Unavailable {
                // Slurm handles the jobs on failed nodes, so the result is ignored.
                let _ = self.planner.fail(NodeId(index as u32));
            }
        }
        let Builder { planner, overlaps, misplaced, unplaceable, .. } = self;
        MachineState { planner, roles, overlaps, misplaced, unplaceable }
    }
}

/// Returns true if Slurm says that a job is waiting for a license or for nodes. The daemon tracks
/// nodes itself, because Slurm may not have examined the job since a node became free.
fn awaits_nodes(reason: &str) -> bool {
    let down = ["Nodes required for job are DOWN", "ReqNodeNotAvail"];
    matches!(reason, "Licenses" | "Priority" | "Resources")
        || down.iter().any(|words| reason.replace('_', " ").starts_with(words))
}

/// Returns true if the nodes form a box with these sides, in any orientation. The nodes must be in
/// ascending order.
fn is_box(config: &Config, ids: &[NodeId], sides: Sides) -> bool {
    let grid = config.grid;
    // The base must be one of the nodes.
    let has_base = |id: &NodeId, turned: Sides| {
        let cuboid = Cuboid::new(grid.point(*id), turned).canonical(&grid);
        let is_inside = |node: NodeId| ids.binary_search(&node).is_ok();
        cuboid.lies_on(&grid) && cuboid.nodes(&grid).all(is_inside)
    };
    let mut turned = orientations(sides).filter(|&turned| grid.fits(turned));
    ids.len() as u64 == volume(sides)
        && turned.any(|turned| ids.iter().any(|id| has_base(id, turned)))
}
