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

/// The queue's proposals, waiting Jobs and node counts.
#[derive(Debug)]
pub(crate) struct QueueOutcome {
    pub(crate) proposals: Vec<Action>,
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) free: Occupancy,
    pub(crate) busy: u32,
    pub(crate) unavailable: u32,
    /// Nodes in two confirmed placements.
    pub(crate) overlaps: Vec<NodeId>,
    pub(crate) picture: Option<Picture>,
    /// The forecast to compute, if requested.
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
) -> Result<QueueOutcome, String> {
    let mut state = MachineState::of(layout, index, records, now)?;
    let held = order::held(records);
    let groups = order::waiting(layout, index, &held, groups, memory);
    let queue = Queue::of(layout, index, &held, groups, memory, &mut state);
    for (position, candidate) in queue.candidates.iter().enumerate() {
        let Candidate { group, id, request } = candidate;
        state.planner.submit(id.0, position, *request, group.seconds());
    }
    let (started, proposals) = start(layout, &mut state, &queue)?;
    let question = detail
        .forecast
        .then(|| Question::of(layout, &memory.past, &state, &queue.candidates, &started));
    let question = question.transpose()?;
    let starts = detail.starts.then(|| state.planner.starts(&layout.config.scheduler));
    let starts = starts.transpose()?.unwrap_or_default();
    let unstarted = queue.candidates.iter().filter(|candidate| !started.contains(&candidate.id));
    let unstarted: Vec<&Candidate<'_>> = unstarted.collect();
    let mut waiting = explain(layout, &mut state, &unstarted, &starts, detail);
    let picture = detail.picture.then(|| picture(layout, &state, &queue, &started));
    waiting.extend(queue.refused);
    let machine = state.planner.machine();
    let (free, unavailable) = (machine.free().clone(), machine.failed_nodes());
    let busy = layout.config.grid.nodes() - free.count() - unavailable;
    let overlaps = state.overlaps;
    Ok(QueueOutcome { proposals, waiting, free, busy, unavailable, overlaps, picture, question })
}

/// Explains why candidates are waiting, in queue order.
fn explain(
    layout: &Layout<'_>,
    state: &mut MachineState<'_>,
    unstarted: &[&Candidate<'_>],
    starts: &HashMap<JobId, u64>,
    detail: Detail,
) -> Vec<Waiting> {
    let maintenance: Vec<Option<Queued>> = unstarted
        .iter()
        .take(detail.explained)
        .map(|one| state.maintenance_in_the_way(&one.request, one.group.seconds()))
        .collect();
    let state = &*state;
    // All Jobs share one snapshot, and Jobs with the same request share one explanation.
    let snapshot = LazyCell::new(|| Snapshot::of(state.planner.machine()));
    let standing = state.planner.standing();
    let mut reasons = HashMap::new();
    let mut waiting = Vec::new();
    for (position, &Candidate { group, id, request }) in unstarted.iter().enumerate() {
        let why = if let Some(&maintenance) = maintenance.get(position) {
            let planned = state.planner.planned(standing.as_ref(), *id);
            let queued = maintenance.unwrap_or(Queued::Kept);
            let context = Context { moved: detail.moves, queued, planned };
            let find = || {
                let snapshot = state.planner.within(&snapshot, request);
                let anyone = ("", Audience::Operator);
                state.explainer(layout, anyone, |all| all.why(&snapshot, request, &context))
            };
            // A Job with a reservation, or ahead of maintenance, has its own explanation.
            let why = if planned.is_some() || maintenance.is_some() {
                find()
            } else {
                reasons.entry(*request).or_insert_with(find).clone()
            };
            let reader = (group.first().namespace(), detail.audience);
            state.explainer(layout, reader, |all| all.lines(why.as_ref())).join(" ")
        } else {
            format!("{position} requests are ahead of it in the queue")
        };
        let starts_at = starts.get(id).copied();
        // Pool numbers are valid only in this plan.
        let request = Some(Request { pool: None, ..*request });
        let jobs = group.jobs().iter();
        waiting.extend(jobs.map(|job| Waiting {
            starts_at,
            request,
            ..Waiting::new(job, why.clone())
        }));
    }
    waiting
}

/// Starts the Jobs chosen by the scheduler. Returns these Jobs and the proposals. A placement that
/// is not a box cannot be proposed.
fn start(
    layout: &Layout<'_>,
    state: &mut MachineState<'_>,
    queue: &Queue<'_>,
) -> Result<(HashSet<JobId>, Vec<Action>), String> {
    let (mut started, mut proposals) = (HashSet::new(), Vec::new());
    let mut next = || state.planner.start_next().map_err(|error| error.to_string());
    while let Some((id, cuboid)) = next()? {
        started.insert(id);
        let Some(cuboid) = cuboid else { continue };
        proposals.extend(proposal(layout, &queue.candidate(id).group, &cuboid));
    }
    Ok((started, proposals))
}

fn picture(
    layout: &Layout<'_>,
    state: &MachineState<'_>,
    queue: &Queue<'_>,
    started: &HashSet<JobId>,
) -> Picture {
    let held = state.holdings(started.iter().map(|&id| {
        let job = queue.candidate(id).group.first();
        (id, Holder { kind: "Job", namespace: job.namespace(), name: job.name(), end: None })
    }));
    let failed = state.planner.machine().failed().collect();
    Picture { config: layout.config.clone(), held, failed }
}

/// Returns the proposal for a placement, or `None` if it contains a node without a Node object.
/// Such nodes count as failed, so the planner does not choose them.
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

/// The waiting groups in order, and the Jobs that cannot be queued.
struct Queue<'a> {
    /// The number of the first candidate.
    first: u64,
    candidates: Vec<Candidate<'a>>,
    refused: Vec<Waiting>,
    /// Each namespace's number of queued groups, and of held and requested nodes.
    usage: HashMap<&'a str, (usize, u32)>,
}

impl<'a> Queue<'a> {
    fn of(
        layout: &Layout<'_>,
        index: &Index<'a>,
        held: &HashMap<&'a str, u32>,
        groups: Vec<WaitingGroup<'a>>,
        memory: &mut Memory,
        state: &mut MachineState<'a>,
    ) -> Queue<'a> {
        let mut queue = Queue {
            first: state.first_waiting_number(),
            candidates: Vec::new(),
            refused: Vec::new(),
            usage: held.iter().map(|(&namespace, &nodes)| (namespace, (0, nodes))).collect(),
        };
        memory.has_growing_set = false;
        for waiting in groups {
            match queue.admit(layout, index, &waiting, memory, state) {
                Ok(request) => {
                    let id = JobId(queue.first + queue.candidates.len() as u64);
                    queue.candidates.push(Candidate { group: waiting.group, id, request });
                }
                Err(Some((prospect, why))) => {
                    let jobs = waiting.group.jobs().iter();
                    let refused =
                        |job: &&Job| Waiting { prospect, ..Waiting::new(job, why.clone()) };
                    queue.refused.extend(jobs.map(refused));
                }
                Err(None) => {}
            }
        }
        queue
    }

    /// Returns the request of a group that can be queued. Otherwise, returns the reason, or `None`
    /// if the group is about to change.
    fn admit(
        &mut self,
        layout: &Layout<'_>,
        index: &Index<'a>,
        waiting: &WaitingGroup<'a>,
        memory: &mut Memory,
        state: &mut MachineState<'a>,
    ) -> Result<Request, Option<(Prospect, String)>> {
        let (config, group) = (&layout.config, &waiting.group);
        let waits = |why: String| Err(Some((Prospect::Waits, why)));
        if group.uses_topology_scheduling(index) {
            return Err(Some((Prospect::Blocked, order::TOPOLOGY.to_string())));
        }
        let request = match config.request(group) {
            Ok(request) => request,
            Err(Rejection::Incomplete(_)) if group.may_grow(state.now as i64) => {
                memory.has_growing_set = true;
                return Err(None);
            }
            Err(Rejection::Incomplete(why)) => return waits(why),
            Err(Rejection::Stuck(prospect, why)) => return Err(Some((prospect, why))),
        };
        if !waiting.is_ready {
            return Err(None);
        }
        let job = group.first();
        if let Some(why) = memory.rejection(job.id()) {
            return waits(format!("the API server rejects its Placement: {why}"));
        }
        let (jobs, nodes) = self.usage.entry(job.namespace()).or_default();
        let has_too_many_jobs = *jobs >= config.queued_per_namespace;
        if has_too_many_jobs || *nodes + request.nodes > config.nodes_per_namespace {
            let limit = if has_too_many_jobs { "waiting Jobs" } else { "nodes" };
            return waits(format!("its namespace has reached its limit of {limit}"));
        }
        let request = state.confined(layout, memory, group, request).map_err(Some)?;
        *jobs += 1;
        *nodes += request.nodes;
        Ok(request)
    }

    fn candidate(&self, id: JobId) -> &Candidate<'a> {
        &self.candidates[(id.0 - self.first) as usize]
    }
}
