//! The queue, which chooses nodes for waiting Jobs and explains why the other Jobs are waiting.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use pavior::answers::{Queued, Snapshot};
use pavior::{Cuboid, JobId, NodeId, Occupancy, Request};
use pavior_cluster::{Context, Explainer};

use super::Picture;
use super::action::Action;
use super::context::{Layout, PlanContext};
use super::detail::Audience;
use super::eligibility::{self, Refusal, Rejection};
use super::forecast::Question;
use super::holder::Holder;
use super::memory::Memory;
use super::order::{self, WaitingGroup};
use super::records::Record;
use super::state::MachineState;
use super::waiting::{Prospect, Waiting};
use crate::objects::{Job, Object as _, ObjectRef, PlacementSpec};
use crate::world::JobGroup;

/// The reason given for a Job that is left to Kueue.
const TOPOLOGY: &str =
    "Kueue's topology-aware scheduling chooses its nodes; disable that or remove pavior.dev/shape";

/// The queue's proposals, the Jobs that are still waiting, and the node counts.
#[derive(Debug)]
pub(super) struct QueueOutcome {
    pub(super) proposals: Vec<Action>,
    pub(super) waiting: Vec<Waiting>,
    pub(super) free: Occupancy,
    pub(super) busy: u32,
    pub(super) unavailable: u32,
    /// Nodes that are in two confirmed placements.
    pub(super) overlaps: Vec<NodeId>,
    pub(super) picture: Option<Picture>,
    /// The forecast to compute, if requested.
    pub(super) question: Option<Question>,
    /// True if more Jobs in a set may still be created.
    pub(super) has_growing_set: bool,
}

/// Starts the Jobs that the scheduler chooses and explains why the others are waiting.
pub(super) fn place<'a>(
    context: PlanContext<'a>,
    records: &[Record<'a>],
    groups: Vec<JobGroup<'a>>,
    memory: &Memory,
) -> Result<QueueOutcome, String> {
    let PlanContext { layout, detail, .. } = context;
    let mut state = MachineState::of(context, records)?;
    let held = order::held(records);
    let groups = order::waiting(context, &held, groups, memory);
    let queue = Queue::of(context, &held, groups, memory, &mut state);
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
    let mut waiting = explain(context, &mut state, &unstarted, &starts);
    let picture = detail.picture.then(|| picture(layout, &state, &queue, &started));
    waiting.extend(queue.refused);
    let machine = state.planner.machine();
    let (free, unavailable) = (machine.free().clone(), machine.failed_nodes());
    Ok(QueueOutcome {
        proposals,
        waiting,
        busy: layout.config.grid.nodes() - free.count() - unavailable,
        free,
        unavailable,
        overlaps: state.overlaps,
        picture,
        question,
        has_growing_set: queue.has_growing_set,
    })
}

/// Explains why candidates are waiting, in queue order.
fn explain(
    context: PlanContext<'_>,
    state: &mut MachineState<'_>,
    unstarted: &[&Candidate<'_>],
    starts: &HashMap<JobId, u64>,
) -> Vec<Waiting> {
    let PlanContext { layout, detail, .. } = context;
    let maintenance: Vec<Option<Queued>> = unstarted
        .iter()
        .take(detail.explained)
        .map(|one| state.maintenance_in_the_way(&one.request, one.group.seconds()))
        .collect();
    let state = &*state;
    // All Jobs share a snapshot, and Jobs with the same request share an explanation.
    let snapshot = LazyCell::new(|| Snapshot::of(state.planner.machine()));
    let standing = state.planner.standing();
    let mut reasons = HashMap::new();
    let mut waiting = Vec::new();
    for (position, &Candidate { group, id, request }) in unstarted.iter().enumerate() {
        let why = if let Some(&maintenance) = maintenance.get(position) {
            let planned = state.planner.planned(standing.as_ref(), *id);
            let queued = maintenance.unwrap_or(Queued::Kept);
            let moves = Context { moved: detail.moves, queued, planned };
            let find = || {
                let snapshot = state.planner.within(&snapshot, request);
                let find = |all: &Explainer<'_>| all.why(&snapshot, request, &moves);
                state.with_explainer(layout, Audience::Operator, "", find)
            };
            // A Job that has a reservation or is blocked by maintenance gets its own explanation.
            let why = if planned.is_some() || maintenance.is_some() {
                find()
            } else {
                reasons.entry(*request).or_insert_with(find).clone()
            };
            let lines = |all: &Explainer<'_>| all.lines(why.as_ref());
            let namespace = group.first().namespace();
            state.with_explainer(layout, detail.audience, namespace, lines).join(" ")
        } else {
            format!("{position} requests are ahead of it in the queue")
        };
        let starts_at = starts.get(id).copied();
        // Pool numbers are valid only within this plan.
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

/// Starts the Jobs that the scheduler chooses. Returns these Jobs and the proposals for them. A
/// placement that is not a box cannot be proposed.
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

/// Returns the proposal for a placement, or `None` if one of its nodes has no Node object. Such
/// nodes count as failed, so the planner does not choose them.
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

/// A group that can be placed.
pub(super) struct Candidate<'a> {
    pub(super) group: JobGroup<'a>,
    pub(super) id: JobId,
    /// The request. Nodes outside its pool count as failed.
    pub(super) request: Request,
}

/// The waiting groups in queue order, and the Jobs that cannot be queued.
struct Queue<'a> {
    /// The number of the first candidate.
    first: u64,
    candidates: Vec<Candidate<'a>>,
    refused: Vec<Waiting>,
    has_growing_set: bool,
    usage: HashMap<&'a str, Usage>,
}

/// A namespace's usage.
#[derive(Default)]
struct Usage {
    queued_groups: usize,
    /// The number of nodes held and requested.
    nodes: u32,
}

/// A decision about a waiting group.
enum Verdict {
    Queue(Request),
    Refuse(Refusal),
    /// The group is about to change.
    Wait,
}

impl Verdict {
    /// Refuses a group for the time being.
    fn refuse(why: String) -> Verdict {
        Verdict::Refuse(Refusal { prospect: Prospect::Waits, why })
    }
}

impl<'a> Queue<'a> {
    fn of(
        context: PlanContext<'a>,
        held: &HashMap<&'a str, u32>,
        groups: Vec<WaitingGroup<'a>>,
        memory: &Memory,
        state: &mut MachineState<'a>,
    ) -> Queue<'a> {
        let usage = |(&namespace, &nodes)| (namespace, Usage { queued_groups: 0, nodes });
        let mut queue = Queue {
            first: state.first_waiting_number(),
            candidates: Vec::new(),
            refused: Vec::new(),
            has_growing_set: false,
            usage: held.iter().map(usage).collect(),
        };
        for waiting in groups {
            match queue.admit(context, &waiting, memory, state) {
                Verdict::Queue(request) => {
                    let id = JobId(queue.first + queue.candidates.len() as u64);
                    queue.candidates.push(Candidate { group: waiting.group, id, request });
                }
                Verdict::Refuse(Refusal { prospect, why }) => {
                    let jobs = waiting.group.jobs().iter();
                    let refused =
                        |job: &&Job| Waiting { prospect, ..Waiting::new(job, why.clone()) };
                    queue.refused.extend(jobs.map(refused));
                }
                Verdict::Wait => {}
            }
        }
        queue
    }

    /// Decides whether a group can be queued.
    fn admit(
        &mut self,
        context: PlanContext<'a>,
        waiting: &WaitingGroup<'a>,
        memory: &Memory,
        state: &mut MachineState<'a>,
    ) -> Verdict {
        let PlanContext { layout, index, now, .. } = context;
        let (config, group) = (&layout.config, &waiting.group);
        if group.uses_topology_scheduling(index) {
            let (prospect, why) = (Prospect::Blocked, TOPOLOGY.to_string());
            return Verdict::Refuse(Refusal { prospect, why });
        }
        let request = match eligibility::request(config, group) {
            Ok(request) => request,
            Err(Rejection::Incomplete(_)) if group.may_grow(now) => {
                self.has_growing_set = true;
                return Verdict::Wait;
            }
            Err(Rejection::Incomplete(why)) => return Verdict::refuse(why),
            Err(Rejection::Refused(refusal)) => return Verdict::Refuse(refusal),
        };
        if !waiting.is_ready {
            return Verdict::Wait;
        }
        let job = group.first();
        if let Some(why) = memory.rejection(job.id()) {
            return Verdict::refuse(format!("the API server rejected its Placement: {why}"));
        }
        let usage = self.usage.entry(job.namespace()).or_default();
        let has_too_many_groups = usage.queued_groups >= config.queued_per_namespace;
        if has_too_many_groups || usage.nodes + request.nodes > config.nodes_per_namespace {
            let limit = if has_too_many_groups { "waiting Jobs" } else { "nodes" };
            return Verdict::refuse(format!("its namespace has reached its limit on {limit}"));
        }
        match state.confined(layout, memory, group, request) {
            Ok(request) => {
                usage.queued_groups += 1;
                usage.nodes += request.nodes;
                Verdict::Queue(request)
            }
            Err(refusal) => Verdict::Refuse(refusal),
        }
    }

    fn candidate(&self, id: JobId) -> &Candidate<'a> {
        &self.candidates[(id.0 - self.first) as usize]
    }
}
