//! The queue: chooses nodes for waiting Jobs, and explains why the others are waiting.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use pavior::answers::{Queued, Snapshot};
use pavior::{Cuboid, JobId, NodeId, Occupancy, Request};
use pavior_cluster::Context;

use super::Picture;
use super::action::Action;
use super::config::Rejection;
use super::forecast::Question;
use super::holder::Holder;
use super::layout::{Audience, Detail, Layout};
use super::memory::Memory;
use super::order::{self, WaitingGroup};
use super::records::Record;
use super::state::MachineState;
use super::waiting::{Prospect, Waiting};
use crate::objects::{Job, Object as _, ObjectRef, PlacementSpec};
use crate::world::{Index, JobGroup};

/// The time after the creation of its newest Job when an incomplete set is reported.
const INCOMPLETE_SET_S: i64 = 10;

/// Returns true if more Jobs of a set may still be created.
fn may_grow(group: &JobGroup<'_>, now: i64) -> bool {
    let newest = group.jobs().iter().map(|job| job.created()).max();
    newest.is_some_and(|created| now < created + INCOMPLETE_SET_S)
}

/// The result of the queue: proposals, waiting Jobs and nodes.
#[derive(Debug)]
pub(crate) struct Schedule {
    pub(crate) proposals: Vec<Action>,
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) free: Occupancy,
    pub(crate) busy: u32,
    pub(crate) unavailable: u32,
    pub(crate) overlaps: Vec<NodeId>,
    pub(crate) picture: Option<Picture>,
    pub(crate) question: Option<Question>,
}

/// Starts the Jobs chosen by the scheduler, and explains why the others are waiting.
pub(super) fn place<'a>(
    layout: &Layout<'_>,
    index: &'a Index<'a>,
    records: &[Record<'a>],
    groups: Vec<JobGroup<'a>>,
    memory: &mut Memory,
    now: i64,
    detail: Detail,
) -> Result<Schedule, String> {
    let mut state = MachineState::of(layout, index, records, now)?;
    let held = order::held(records);
    let waiting = order::waiting(layout, index, &held, groups, memory);
    let queue = Queue::of(layout, index, held, waiting, memory, &mut state);
    for (place, one) in queue.candidates.iter().enumerate() {
        state.planner.submit(one.id.0, place, one.request, one.group.seconds());
    }
    let (started, proposals) = start(layout, &mut state, &queue.candidates)?;
    let question = detail
        .forecast
        .then(|| Question::of(layout, &memory.past, &state, &queue.candidates, &started));
    let question = question.transpose()?;
    let starts = detail.starts.then(|| state.planner.starts(&layout.config.scheduler));
    let starts = starts.transpose()?.unwrap_or_default();
    let unstarted = queue.candidates.iter().filter(|one| !started.contains(&one.id));
    let unstarted: Vec<&Candidate<'_>> = unstarted.collect();
    let explained = unstarted.iter().take(detail.explained);
    let maintenance: Vec<Option<Queued>> = explained
        .map(|one| state.maintenance_in_the_way(&one.request, one.group.seconds()))
        .collect();
    // All Jobs share one snapshot, and Jobs with the same request share one explanation.
    let snapshot = LazyCell::new(|| Snapshot::of(state.planner.machine()));
    let standing = state.planner.standing();
    let mut reasons = HashMap::new();
    let explained = unstarted.into_iter().enumerate().flat_map(|(place, one)| {
        let why = if let Some(&maintenance) = maintenance.get(place) {
            let planned = state.planner.planned(standing.as_ref(), one.id);
            let queued = maintenance.unwrap_or(Queued::Kept);
            let context = Context { moved: detail.moves, queued, planned };
            let find = || {
                let snapshot = state.planner.within(&snapshot, &one.request);
                let anyone = ("", Audience::Operator);
                state.explainer(layout, anyone, |all| all.why(&snapshot, &one.request, &context))
            };
            // A Job with a reservation, or ahead of maintenance, has its own explanation.
            let why = if planned.is_some() || maintenance.is_some() {
                find()
            } else {
                reasons.entry(one.request).or_insert_with(find).clone()
            };
            let reader = (one.group.first().namespace(), detail.audience);
            state.explainer(layout, reader, |all| all.lines(why.as_ref())).join(" ")
        } else {
            format!("{place} are ahead of it in the queue")
        };
        let starts_at = starts.get(&one.id).copied();
        // Pool numbers are local to this function.
        let request = Some(Request { pool: None, ..one.request });
        let jobs = one.group.jobs().iter();
        jobs.map(move |job| Waiting { starts_at, request, ..Waiting::new(job, why.clone()) })
    });
    let waiting = explained.chain(queue.refused).collect();
    let machine = state.planner.machine();
    let (free, unavailable) = (machine.free().clone(), machine.failed_nodes());
    let busy = layout.config.grid.nodes() - free.count() - unavailable;
    let picture = detail.picture.then(|| picture(layout, &state, &queue.candidates, &started));
    let overlaps = std::mem::take(&mut state.overlaps);
    Ok(Schedule { proposals, waiting, free, busy, unavailable, overlaps, picture, question })
}

/// Starts the Jobs chosen by the scheduler. Returns the Jobs with their proposals.
fn start(
    layout: &Layout<'_>,
    state: &mut MachineState<'_>,
    candidates: &[Candidate<'_>],
) -> Result<(HashSet<JobId>, Vec<Action>), String> {
    let (mut started, mut proposals) = (HashSet::new(), Vec::new());
    let first = state.first_waiting_number();
    let mut next = || state.planner.start_next().map_err(|error| error.to_string());
    while let Some((id, cuboid)) = next()? {
        started.insert(id);
        let Some(cuboid) = cuboid else { continue };
        let candidate = &candidates[(id.0 - first) as usize];
        proposals.extend(proposal(layout, &candidate.group, &cuboid));
    }
    Ok((started, proposals))
}

/// Returns the machine after the actions.
fn picture(
    layout: &Layout<'_>,
    state: &MachineState<'_>,
    candidates: &[Candidate<'_>],
    started: &HashSet<JobId>,
) -> Picture {
    let first = state.first_waiting_number();
    let held = state.holdings(started.iter().map(|id| {
        let job = candidates[(id.0 - first) as usize].group.first();
        (*id, Holder { kind: "Job", namespace: job.namespace(), name: job.name(), end: None })
    }));
    let failed = state.planner.machine().failed().collect();
    Picture { config: layout.config.clone(), held, failed }
}

/// Returns the proposal for a placement.
fn proposal(layout: &Layout<'_>, group: &JobGroup<'_>, cuboid: &Cuboid) -> Option<Action> {
    let job = group.first();
    let uids = group.jobs().iter().map(|job| job.uid());
    let nodes = cuboid.nodes(&layout.config.grid).map(|node| layout.map.nodes[node.index()]);
    let names = nodes.map(|node| Some(node?.name().to_string()));
    let placement = PlacementSpec {
        machine: layout.name.to_string(),
        job: job.name().to_string(),
        job_uid: job.uid(),
        set: if group.is_set() { uids.collect() } else { Vec::new() },
        shape: job.shape().unwrap_or_default().to_string(),
        at: layout.config.box_name(cuboid),
        nodes: names.collect::<Option<Vec<String>>>()?,
    };
    Some(Action::Propose { job: ObjectRef::of(job), placement })
}

/// A group that could be placed.
pub(super) struct Candidate<'a> {
    pub(super) group: JobGroup<'a>,
    pub(super) id: JobId,
    /// The request; nodes outside its pool count as failed.
    pub(super) request: Request,
}

/// The waiting groups in order, and Jobs that are not queued.
struct Queue<'a> {
    candidates: Vec<Candidate<'a>>,
    refused: Vec<Waiting>,
}

impl<'a> Queue<'a> {
    fn of(
        layout: &Layout<'_>,
        index: &Index<'a>,
        mut held: HashMap<&'a str, u32>,
        waiting: Vec<WaitingGroup<'a>>,
        memory: &mut Memory,
        state: &mut MachineState<'a>,
    ) -> Queue<'a> {
        let config = &layout.config;
        let mut queue = Queue { candidates: Vec::new(), refused: Vec::new() };
        memory.has_growing_set = false;
        let mut queued: HashMap<&str, usize> = HashMap::new();
        for WaitingGroup { group, is_ready, .. } in waiting {
            let job = group.first();
            if group.uses_topology_scheduling(index) {
                queue.refuse(&group, Prospect::Blocked, order::TOPOLOGY);
                continue;
            }
            let request = match config.request(&group) {
                Ok(request) => request,
                Err(Rejection::Incomplete(why)) => {
                    if may_grow(&group, state.now as i64) {
                        memory.has_growing_set = true;
                    } else {
                        queue.refuse(&group, Prospect::Waits, &why);
                    }
                    continue;
                }
                Err(Rejection::Stuck(prospect, why)) => {
                    queue.refuse(&group, prospect, &why);
                    continue;
                }
            };
            if !is_ready {
                continue;
            }
            if let Some(why) = memory.rejection(job.id()) {
                let why = format!("the API server rejects its Placement: {why}");
                queue.refuse(&group, Prospect::Waits, &why);
                continue;
            }
            let jobs = queued.entry(job.namespace()).or_default();
            let nodes = held.entry(job.namespace()).or_default();
            let has_too_many_jobs = *jobs >= config.queued_per_namespace;
            if has_too_many_jobs || *nodes + request.nodes > config.nodes_per_namespace {
                let limit = if has_too_many_jobs { "waiting Jobs" } else { "nodes" };
                let why = format!("its namespace is at its limit of {limit}");
                queue.refuse(&group, Prospect::Waits, &why);
                continue;
            }
            let request = match state.confined(layout, memory, &group, request) {
                Ok(request) => request,
                Err((prospect, why)) => {
                    queue.refuse(&group, prospect, &why);
                    continue;
                }
            };
            *jobs += 1;
            *nodes += request.nodes;
            let id = JobId(state.first_waiting_number() + queue.candidates.len() as u64);
            queue.candidates.push(Candidate { group, id, request });
        }
        queue
    }

    /// Reports why the Jobs of a group are not queued.
    fn refuse(&mut self, group: &JobGroup<'_>, prospect: Prospect, why: &str) {
        let refused = |job: &&Job| Waiting { prospect, ..Waiting::new(job, why.to_string()) };
        self.refused.extend(group.jobs().iter().map(refused));
    }
}
