//! The queue, which chooses nodes for waiting Jobs and explains why the other Jobs are waiting.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use pavior::answers::{Queued, Snapshot, Why};
use pavior::scheduling::Standing;
use pavior::{Cuboid, JobId, NodeId, Occupancy, Request};
use pavior_cluster::Context;

use super::Picture;
use super::action::Action;
use super::context::{Layout, PlanContext};
use super::detail::{Audience, Detail};
use super::eligibility::{self, Ineligible, Refusal};
use super::forecast::Question;
use super::holder::Holder;
use super::memory::Memory;
use super::order::{self, WaitingGroup};
use super::records::Record;
use super::state::MachineState;
use super::waiting::{Prospect, Waiting};
use crate::objects::{Job, Object as _, ObjectRef, PlacementSpec};
use crate::world::JobGroup;

/// The reason shown for a Job whose nodes Kueue chooses.
const TOPOLOGY: &str = "Kueue's topology-aware scheduling chooses the Job's nodes; disable it or \
                        remove pavior.dev/shape";

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
    let started = start(layout, &mut state, &queue)?;
    let question = detail
        .forecast
        .then(|| Question::of(layout, &memory.past, &state, &queue.candidates, &started.jobs))
        .transpose()?;
    let starts = detail.starts.then(|| state.planner.starts(&layout.config.scheduler));
    let starts = starts.transpose()?.unwrap_or_default();
    let is_waiting = |candidate: &&Candidate<'_>| !started.jobs.contains(&candidate.id);
    let unstarted: Vec<&Candidate<'_>> = queue.candidates.iter().filter(is_waiting).collect();
    let mut waiting = explain(context, &mut state, &unstarted, &starts);
    let picture = detail.picture.then(|| picture(&state, &queue, &started.jobs));
    waiting.extend(queue.refused);
    let machine = state.planner.machine();
    let (free, unavailable) = (machine.free().clone(), machine.failed_nodes());
    Ok(QueueOutcome {
        proposals: started.proposals,
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

/// Explains, in queue order, why candidates are waiting.
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
    let mut reasons = Reasons::of(state, layout, detail);
    let mut waiting: Vec<Waiting> = Vec::new();
    for (position, &candidate) in unstarted.iter().enumerate() {
        let why = if position < detail.explained {
            reasons.describe(candidate, maintenance[position])
        } else {
            format!("{} Jobs are ahead of it in the queue", waiting.len())
        };
        let starts_at = starts.get(&candidate.id).copied();
        // Pool numbers are valid only within this plan.
        let request = Some(Request { pool: None, ..candidate.request });
        let jobs = candidate.group.jobs().iter();
        waiting.extend(jobs.map(|job| Waiting {
            starts_at,
            request,
            ..Waiting::new(job, why.clone())
        }));
    }
    waiting
}

/// Reasons why candidates are waiting. Candidates with the same request share a reason.
struct Reasons<'s, 'a> {
    state: &'s MachineState<'a>,
    layout: &'s Layout<'a>,
    detail: Detail,
    snapshot: OnceCell<Snapshot>,
    standing: Option<Standing>,
    shared: HashMap<Request, Option<Why>>,
}

impl<'s, 'a> Reasons<'s, 'a> {
    fn of(state: &'s MachineState<'a>, layout: &'s Layout<'a>, detail: Detail) -> Reasons<'s, 'a> {
        let (snapshot, standing) = (OnceCell::new(), state.planner.standing());
        Reasons { state, layout, detail, snapshot, standing, shared: HashMap::new() }
    }

    /// Describes why a candidate is waiting, using only names that the audience may see.
    fn describe(&mut self, candidate: &Candidate<'_>, maintenance: Option<Queued>) -> String {
        let why = self.why(candidate, maintenance);
        let namespace = candidate.group.first().namespace();
        let reader = (self.detail.audience == Audience::Daemon).then_some(namespace);
        let lines = self.state.with_explainer(self.layout, reader, |all| all.lines(why.as_ref()));
        lines.join(" ")
    }

    /// Finds the reason why a candidate is waiting. A candidate that has a reservation or is
    /// blocked by maintenance gets its own reason.
    fn why(&mut self, candidate: &Candidate<'_>, maintenance: Option<Queued>) -> Option<Why> {
        let planned = self.state.planner.planned(self.standing.as_ref(), candidate.id);
        let is_shared = planned.is_none() && maintenance.is_none();
        if is_shared && let Some(known) = self.shared.get(&candidate.request) {
            return known.clone();
        }
        let queued = maintenance.unwrap_or(Queued::Kept);
        let context = Context { moved: self.detail.moves, queued, planned };
        let machine = self.state.planner.machine();
        let whole = self.snapshot.get_or_init(|| Snapshot::of(machine));
        let snapshot = self.state.planner.within(whole, &candidate.request);
        // Reasons refer to Jobs by number, so no names are needed.
        let why = self.state.with_explainer(self.layout, None, |all| {
            all.why(&snapshot, &candidate.request, &context)
        });
        if is_shared {
            self.shared.insert(candidate.request, why.clone());
        }
        why
    }
}

/// The candidates that start now, and the proposals for them.
#[derive(Default)]
struct StartList {
    jobs: HashSet<JobId>,
    proposals: Vec<Action>,
}

/// Starts the Jobs that the scheduler chooses.
///
/// # Errors
/// Returns an error if the scheduler or strategy fails, or if a placement cannot be proposed.
fn start(
    layout: &Layout<'_>,
    state: &mut MachineState<'_>,
    queue: &Queue<'_>,
) -> Result<StartList, String> {
    let mut list = StartList::default();
    while let Some((id, cuboid)) = state.planner.start_next().map_err(|error| error.to_string())? {
        let cuboid = cuboid.ok_or("the strategy chose nodes that do not form a box")?;
        let proposal = proposal(layout, &queue.candidate(id).group, &cuboid);
        list.proposals.push(proposal.ok_or("the strategy chose a node that has no Node object")?);
        list.jobs.insert(id);
    }
    Ok(list)
}

fn picture(state: &MachineState<'_>, queue: &Queue<'_>, started: &HashSet<JobId>) -> Picture {
    let held = state.holdings(started.iter().map(|&id| {
        let job = queue.candidate(id).group.first();
        (id, Holder { kind: "Job", namespace: job.namespace(), name: job.name(), end: None })
    }));
    Picture { held, failed: state.planner.machine().failed().collect() }
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
    /// The request. For the planner, nodes outside the request's pool count as failed.
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
    /// The number of held plus requested nodes.
    nodes: u64,
}

impl<'a> Queue<'a> {
    fn of(
        context: PlanContext<'a>,
        held: &HashMap<&'a str, u32>,
        groups: Vec<WaitingGroup<'a>>,
        memory: &Memory,
        state: &mut MachineState<'a>,
    ) -> Queue<'a> {
        let usage =
            |(&namespace, &nodes)| (namespace, Usage { queued_groups: 0, nodes: u64::from(nodes) });
        let mut queue = Queue {
            first: state.first_waiting_number(),
            candidates: Vec::new(),
            refused: Vec::new(),
            has_growing_set: false,
            usage: held.iter().map(usage).collect(),
        };
        for waiting in groups {
            match queue.admit(context, &waiting, memory, state) {
                Ok(Some(request)) => {
                    let id = JobId(queue.first + queue.candidates.len() as u64);
                    queue.candidates.push(Candidate { group: waiting.group, id, request });
                }
                Ok(None) => {}
                Err(Refusal { prospect, why }) => {
                    let jobs = waiting.group.jobs().iter();
                    let refused =
                        |job: &&Job| Waiting { prospect, ..Waiting::new(job, why.clone()) };
                    queue.refused.extend(jobs.map(refused));
                }
            }
        }
        queue
    }

    /// Returns a group's request, or `None` if the group is about to change.
    ///
    /// # Errors
    /// Returns the reason if the group cannot be queued.
    fn admit(
        &mut self,
        context: PlanContext<'a>,
        waiting: &WaitingGroup<'a>,
        memory: &Memory,
        state: &mut MachineState<'a>,
    ) -> Result<Option<Request>, Refusal> {
        let wait = |why: String| Err(Refusal::new(Prospect::Waits, why));
        let PlanContext { layout, index, now, .. } = context;
        let (config, group) = (&layout.config, &waiting.group);
        if group.uses_topology_scheduling(index) {
            return Err(Refusal::new(Prospect::Blocked, TOPOLOGY));
        }
        let request = match eligibility::request(config, group) {
            Ok(request) => request,
            Err(Ineligible::Incomplete(_)) if group.may_grow(now) => {
                self.has_growing_set = true;
                return Ok(None);
            }
            Err(Ineligible::Incomplete(why)) => return wait(why),
            Err(Ineligible::Refused(refusal)) => return Err(refusal),
        };
        if !waiting.is_ready {
            return Ok(None);
        }
        let job = group.first();
        if let Some(why) = memory.rejection(job.id()) {
            return wait(format!("the API server rejected its Placement: {why}"));
        }
        let (nodes, limit) = (request.nodes, config.nodes_per_namespace);
        if nodes > limit {
            let why = format!("its shape has {nodes} nodes, but a namespace may hold only {limit}");
            return Err(Refusal::new(Prospect::Blocked, why));
        }
        let usage = self.usage.entry(job.namespace()).or_default();
        if usage.queued_groups >= config.queued_per_namespace {
            return wait("its namespace has reached the limit on waiting Jobs".into());
        }
        if usage.nodes + u64::from(nodes) > limit.into() {
            return wait("it would exceed its namespace's node limit".into());
        }
        let request = state.confined(layout, memory, group, request)?;
        usage.queued_groups += 1;
        usage.nodes += u64::from(nodes);
        Ok(Some(request))
    }

    fn candidate(&self, id: JobId) -> &Candidate<'a> {
        &self.candidates[(id.0 - self.first) as usize]
    }
}
