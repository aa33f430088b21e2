//! The machine as Slurm says it is, and what each job is to the daemon.

use std::collections::HashSet;

use pavior::answers::{PlannedStart, Snapshot};
use pavior::boxes::{orientations, tile, volume};
use pavior::scheduling::{Dispatcher, Standing};
use pavior::workload::{Job, Service, Shaper};
use pavior::{Cuboid, JobId, Machine, NodeId, Occupancy, Placement, Request, Sides, Time};

use crate::candidates::Candidates;
use crate::ledger::{Condition, Ledger, Phase, SlurmJob};
use crate::names::{JobName, NodeName};
use crate::records::CONTROL_CHARACTERS;
use crate::site::Site;
use crate::{Config, SlurmError, preempt, shape};

/// What a job is to the daemon in this cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It holds nodes.
    Holds,
    /// Its gate is open, on nodes that are still there for it.
    Opened,
    /// Its gate is open on nodes that Slurm may free for it by preemption.
    Preempting,
    /// Its gate is open, or there is none, and it is held.
    Held,
    /// Its gate is open on nodes that it cannot get, or in vain; why.
    Obstructed(&'static str),
    /// It was requeued while open: it would start again by itself, too early.
    Requeued,
    /// Its gate is neither open nor shut: it has no licence to wait for.
    Ungated,
    /// It waits for a box.
    Waits(Request),
    /// It is not to be placed now: held, not yet eligible, or of a shape that cannot be read.
    Apart,
}

/// Why a job is not placed whose candidates have no box of its shape.
const NO_CANDIDATES: &str = "no box of its shape has only nodes that satisfy what it demands";

/// An estimate for jobs without a time limit: a year.
pub(crate) const ENDLESS: u64 = 365 * 86_400;

/// How soon a node may be free that Slurm powers off, in seconds. It is not known, so nothing is
/// started that would keep it from the first job.
const SOON: Time = Time(1);

/// Whether a job waits for a licence or for nodes, in Slurm's words for it. The daemon knows the
/// nodes itself; Slurm may not have looked again since one came back.
fn is_for_nodes(reason: &str) -> bool {
    let down = ["Nodes required for job are DOWN", "ReqNodeNotAvail"];
    matches!(reason, "Licenses" | "Priority" | "Resources")
        || down.iter().any(|words| reason.replace('_', " ").starts_with(words))
}

/// The machine of a cycle, with the jobs that hold nodes; none waits yet. A job's number on it is
/// its place in the ledger.
pub(crate) struct State {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) roles: Vec<Role>,
    /// Nodes that two jobs hold: must never be.
    pub(crate) overlaps: Vec<NodeId>,
    /// Jobs that hold something else than a box of their shape.
    pub(crate) misplaced: Vec<usize>,
    /// The nodes of the machine's pools, by number.
    pools: Vec<Occupancy>,
    /// Waiting jobs that cannot be placed now, whoever runs.
    pub(crate) unplaceable: Vec<(usize, Unplaced)>,
}

/// Why a waiting job cannot be placed, whoever runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unplaced {
    /// Reservations that end some day keep its boxes from it.
    Reserved,
    /// For ever: what is wrong with it.
    Never(String),
}

impl State {
    pub(crate) fn machine(&self) -> &Machine {
        self.dispatcher.machine()
    }

    /// The machine as it is for a request: nodes outside its pool count as failed.
    pub(crate) fn snapshot(&self, request: &Request) -> Snapshot {
        let whole = Snapshot::of(self.machine());
        match request.pool.and_then(|pool| self.pools.get(pool.0 as usize)) {
            Some(nodes) => whole.within(nodes),
            None => whole,
        }
    }

    /// When and where the scheduler plans to start a waiting job; none if it waits for jobs of
    /// which nobody knows when they end, such as suspended ones.
    pub(crate) fn planned(
        &self,
        ledger: &Ledger,
        standing: Option<&Standing>,
        index: usize,
        now: u64,
    ) -> Option<PlannedStart> {
        let end = Time(now.saturating_add(ENDLESS / 2));
        let planned = PlannedStart::of(standing, JobId(index as u64), end)?;
        let grid = self.machine().grid();
        let meets = |part: &Cuboid| planned.place.is_none_or(|at| part.intersects(grid, &at));
        let held = self.machine().held();
        let mut there = held.iter().filter(|(_, held)| held.parts().iter().any(meets));
        there.all(|(job, _)| State::end(ledger, *job, now).is_some()).then_some(planned)
    }

    pub(crate) fn of(
        config: &Config,
        ledger: &Ledger,
        shaper: &mut Shaper,
        seen: &Seen<'_>,
    ) -> Result<State, SlurmError> {
        let mut building = Building::new(config, ledger, seen)?;
        // Slurm may start a job where the one that it preempts has not ended altogether: the node
        // is the one's that runs.
        for phase in [Phase::Running, Phase::Completing] {
            for (index, job) in ledger.jobs.iter().enumerate() {
                if job.phase == phase {
                    building.hold(index, job, shaper);
                }
            }
        }
        building.wait_for_power();
        let mut roles = vec![Role::Holds; ledger.jobs.len()];
        for (index, job) in ledger.jobs.iter().enumerate() {
            if job.phase == Phase::Pending {
                roles[index] = building.pending(index, job, shaper);
            }
        }
        Ok(building.finish(roles))
    }

    /// When the holders end, as far as Slurm says.
    pub(crate) fn end(ledger: &Ledger, job: JobId, now: u64) -> Option<Time> {
        match ledger.jobs.get(job.0 as usize) {
            Some(job) => job.until(now).map(Time),
            None => Some(Time(now + SOON.0)),
        }
    }
}

/// What a state depends on beside the ledger.
pub(crate) struct Seen<'a> {
    pub(crate) now: u64,
    pub(crate) site: &'a Site,
    /// Jobs for which others are being preempted, with their submission.
    pub(crate) preempting: &'a HashSet<(JobName, u64)>,
}

struct Building<'a> {
    config: &'a Config,
    ledger: &'a Ledger,
    seen: &'a Seen<'a>,
    now: u64,
    dispatcher: Dispatcher,
    conditions: Vec<Condition>,
    owners: Vec<Option<usize>>,
    overlaps: Vec<NodeId>,
    misplaced: Vec<usize>,
    unplaceable: Vec<(usize, Unplaced)>,
    candidates: Candidates<'a>,
}

impl<'a> Building<'a> {
    fn new(
        config: &'a Config,
        ledger: &'a Ledger,
        seen: &'a Seen<'a>,
    ) -> Result<Building<'a>, SlurmError> {
        let machine = Machine::with_seed(config.grid, &config.strategy, 1)
            .map_err(|error| SlurmError::Config(error.to_string()))?;
        let scheduler = config.scheduler.build(());
        let scheduler = scheduler.map_err(|error| SlurmError::Config(error.to_string()))?;
        let dispatcher = Dispatcher::new(machine, scheduler);
        let nodes = config.grid.nodes() as usize;
        let mut conditions = vec![Condition::Unavailable; nodes];
        for node in &ledger.nodes {
            if let Some(id) = config.nodes.get(&node.name) {
                conditions[id.index()] = node.condition;
            }
        }
        // Whatever Slurm says of them: a job that cannot be read holds them, or is to have them.
        for name in ledger.unreadable.iter().flat_map(|record| &record.nodes) {
            if let Some(id) = config.nodes.get(name) {
                conditions[id.index()] = Condition::Unavailable;
            }
        }
        Ok(Building {
            config,
            ledger,
            seen,
            now: seen.now,
            dispatcher,
            conditions,
            owners: vec![None; nodes],
            overlaps: Vec::new(),
            misplaced: Vec::new(),
            unplaceable: Vec::new(),
            candidates: Candidates::new(config, ledger, seen.now),
        })
    }

    /// The nodes of these names; those of no name that is known are left out.
    fn ids(&self, names: &[NodeName]) -> Vec<NodeId> {
        let mut ids: Vec<NodeId> =
            names.iter().filter_map(|name| self.config.nodes.get(name)).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// A job that runs or ends keeps its nodes, whatever they are.
    fn hold(&mut self, index: usize, job: &SlurmJob, shaper: &mut Shaper) {
        let mut ids = self.ids(&job.held);
        // One that asks for no box of the machine has none: it started before there was a gate.
        let is_box = request(self.config, job, shaper).is_ok_and(|request| {
            box_of(self.config, &ids, request.shape.unwrap_or([1; 3])).is_some()
        });
        let ours = self.config.partitions.contains(&job.partition);
        if job.phase == Phase::Running && !is_box && !job.bad_comment && ours {
            self.misplaced.push(index);
        }
        let taken = |id: &NodeId| self.owners[id.index()].is_some();
        let twice: Vec<NodeId> = ids.iter().copied().filter(taken).collect();
        ids.retain(|id| !twice.contains(id));
        if job.phase == Phase::Running {
            self.overlaps.extend(twice);
        }
        self.take(index, job, &ids, None);
    }

    fn take(&mut self, index: usize, job: &SlurmJob, ids: &[NodeId], whole: Option<Cuboid>) {
        if ids.is_empty() {
            return;
        }
        let grid = self.config.grid;
        let held = |node: NodeId| ids.binary_search(&node).is_ok();
        let placement = match whole {
            Some(cuboid) => Placement::Whole(cuboid),
            None => Placement::Parts(tile(&grid, &Cuboid::whole(&grid), held)),
        };
        let start = Time(match job.phase {
            Phase::Running => job.start.unwrap_or(self.now).min(self.now),
            Phase::Pending | Phase::Completing => self.now,
        });
        let mut told = told(index, job, start, Request::nodes(ids.len() as u32));
        if let Some(until) = job.until(self.now) {
            told.estimate = Time(until.saturating_sub(start.0).max(1));
        }
        if self.dispatcher.hold(told, start, placement).is_ok() {
            for id in ids {
                self.owners[id.index()] = Some(index);
            }
        }
    }

    /// Nodes that Slurm powers off are held for a moment, by one job that the ledger does not have.
    fn wait_for_power(&mut self) {
        let off = |node: NodeId| {
            let index = node.index();
            self.conditions[index] == Condition::PoweringOff && self.owners[index].is_none()
        };
        let grid = self.config.grid;
        let parts = tile(&grid, &Cuboid::whole(&grid), off);
        if parts.is_empty() {
            return;
        }
        let number = self.ledger.jobs.len() as u64;
        let (id, now, service) = (JobId(number), Time(self.now), Service::Run(SOON));
        let request = Request::nodes(parts.iter().map(Cuboid::volume).sum());
        let job = Job { id, index: id.0, number, arrival: now, request, service, estimate: SOON };
        let held = self.dispatcher.hold(job, now, Placement::Parts(parts));
        debug_assert!(held.is_ok(), "no job holds them");
    }

    fn pending(&mut self, index: usize, job: &'a SlurmJob, shaper: &mut Shaper) -> Role {
        let now = self.now;
        let waits_for_time =
            job.reason == "BeginTime" && job.start.is_some_and(|start| start > now);
        if !job.licences.gated(&self.config.licence) {
            if job.priority == 0 {
                return Role::Held;
            }
            return match (job.named.is_empty(), waits_for_time) {
                (true, _) => Role::Ungated,
                (false, true) => Role::Requeued,
                (false, false) => self.opened(index, job, shaper),
            };
        }
        // A job that Slurm has not looked at since it was changed has no reason yet; its start may
        // lie in the future all the same.
        let eligible = match job.reason.as_str() {
            "None" | "BeginTime" => job.start.is_none_or(|start| start <= now),
            reason => is_for_nodes(reason),
        };
        match self.confined(job, shaper) {
            Ok(request) if eligible => Role::Waits(request),
            Ok(_) => Role::Apart,
            Err(fault) => {
                self.unplaceable.push((index, fault));
                Role::Apart
            }
        }
    }

    /// What a job asks for, confined to the nodes that it may have.
    fn confined(&mut self, job: &'a SlurmJob, shaper: &mut Shaper) -> Result<Request, Unplaced> {
        let request = request(self.config, job, shaper).map_err(Unplaced::Never)?;
        let machine = &mut self.dispatcher;
        let pool = self.candidates.pool_of(job, machine);
        let confined = request.within(pool.map_err(|fault| Unplaced::Never(fault.into()))?);
        if confined.pool.is_none() || machine.could_ever_fit(&confined).is_ok() {
            return Ok(confined);
        }
        let whenever = request.within(self.candidates.whenever(job, machine));
        match machine.could_ever_fit(&whenever) {
            Ok(()) => Err(Unplaced::Reserved),
            Err(_) => Err(Unplaced::Never(NO_CANDIDATES.into())),
        }
    }

    fn opened(&mut self, index: usize, job: &'a SlurmJob, shaper: &mut Shaper) -> Role {
        let ids = self.ids(&job.named);
        let Ok(request) = request(self.config, job, shaper) else {
            return Role::Obstructed("its shape cannot be read");
        };
        let sides = request.shape.unwrap_or([1; 3]);
        let Some(cuboid) = box_of(self.config, &ids, sides) else {
            return Role::Obstructed("its nodes are not a box of its shape");
        };
        let machine = &mut self.dispatcher;
        match self.candidates.pool_of(job, machine) {
            Ok(pool) if self.candidates.has_all(pool, &ids) => {}
            _ => return Role::Obstructed("a node is none that it may have now"),
        }
        if ids.iter().any(|id| self.owners[id.index()].is_some())
            || self.seen.preempting.contains(&(job.name, job.submitted))
        {
            if let Some(free) = self.to_be_freed(job, &ids) {
                self.take(index, job, &free, None);
                return Role::Preempting;
            }
            if ids.iter().any(|id| self.owners[id.index()].is_some()) {
                return Role::Obstructed("a node is taken");
            }
        }
        let reserved = !job.reservation.is_empty();
        let free = |id: &NodeId| match self.conditions[id.index()] {
            Condition::Idle => true,
            Condition::Reserved => reserved,
            Condition::Taken | Condition::PoweringOff | Condition::Unavailable => false,
        };
        if !ids.iter().all(free) {
            return Role::Obstructed("a node is not available");
        }
        self.take(index, job, &ids, Some(cuboid));
        Role::Opened
    }

    /// Whether every node that is taken will be free when jobs have ended that Slurm may preempt
    /// for this one; if so, and there is one, the others.
    fn to_be_freed(&self, job: &SlurmJob, ids: &[NodeId]) -> Option<Vec<NodeId>> {
        let Seen { now, site, preempting } = self.seen;
        let known = preempting.contains(&(job.name, job.submitted));
        let mut free = Vec::new();
        for id in ids {
            let owner = self.owners[id.index()].map(|owner| &self.ledger.jobs[owner]);
            match (self.conditions[id.index()], owner) {
                (Condition::Unavailable, _)
                | (Condition::Reserved | Condition::PoweringOff, None) => return None,
                (_, Some(owner)) => {
                    let ends = owner.phase == Phase::Completing;
                    if !ends && !preempt::may(site, job, owner, *now) {
                        return None;
                    }
                }
                (Condition::Idle, None) => free.push(*id),
                (Condition::Taken, None) if known => {}
                (Condition::Taken, None) => return None,
            }
        }
        (free.len() < ids.len()).then_some(free)
    }

    fn finish(mut self, roles: Vec<Role>) -> State {
        for (index, condition) in self.conditions.iter().enumerate() {
            let stranger = *condition == Condition::Taken && self.owners[index].is_none();
            if stranger || *condition == Condition::Unavailable {
                // What a failed node's job does is Slurm's affair; new ones go elsewhere.
                let _ = self.dispatcher.fail(NodeId(index as u32));
            }
        }
        let Building { dispatcher, overlaps, misplaced, unplaceable, candidates, .. } = self;
        let pools = candidates.into_pools();
        State { dispatcher, roles, overlaps, misplaced, pools, unplaceable }
    }
}

/// A job as the scheduler is told of it: it runs as long as its time limit allows.
pub(crate) fn told(index: usize, job: &SlurmJob, arrival: Time, request: Request) -> Job {
    let (number, estimate) = (index as u64, Time(job.limit.unwrap_or(ENDLESS)));
    let service = Service::Run(estimate);
    Job { id: JobId(number), index: number, number, arrival, request, service, estimate }
}

/// What a job asks for: the shape of its comment, or the box that the shape rule makes of its
/// nodes.
pub(crate) fn request(
    config: &Config,
    job: &SlurmJob,
    shaper: &mut Shaper,
) -> Result<Request, String> {
    if job.bad_comment {
        return Err(CONTROL_CHARACTERS.into());
    }
    let Some(sides) =
        shape::read(&job.comment, config.grid.axes()).map_err(|bad| bad.to_string())?
    else {
        let request = shaper.request(job.nodes.max(1));
        return match request.shape.map(volume) {
            Some(nodes) if nodes == u64::from(job.nodes) => Ok(request),
            _ => Err(format!("{} nodes are no box of the machine", job.nodes)),
        };
    };
    if !orientations(sides).any(|turned| config.grid.fits(turned)) {
        return Err(format!("its shape does not fit {}", config.grid));
    }
    if volume(sides) != u64::from(job.nodes) {
        return Err(format!(
            "its shape has {} nodes, but it asks for {}",
            volume(sides),
            job.nodes
        ));
    }
    Ok(Request::shape(sides))
}

/// The box that a set of nodes (ascending) is, if it is one of these sides, turned or not.
pub(crate) fn box_of(config: &Config, ids: &[NodeId], sides: Sides) -> Option<Cuboid> {
    let grid = config.grid;
    if ids.is_empty() || ids.len() as u64 != volume(sides) {
        return None;
    }
    let is = |cuboid: &Cuboid| cuboid.nodes(&grid).all(|node| ids.binary_search(&node).is_ok());
    orientations(sides).filter(|&turned| grid.fits(turned)).find_map(|turned| {
        // The base is one of the nodes: their number bounds the search.
        ids.iter()
            .map(|&id| Cuboid::new(grid.point(id), turned).canonical(&grid))
            .find(|cuboid| cuboid.lies_on(&grid) && is(cuboid))
    })
}
