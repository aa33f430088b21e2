//! The queue: chooses nodes for waiting Jobs, and explains why the others are waiting.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use pavior::answers::{Queued, Snapshot, Why};
use pavior::text::shown;
use pavior::{Cuboid, JobId, NodeId, Occupancy, Request, Time};
use pavior_cluster::{Context, Explainer, Holding};

use super::action::Action;
use super::config::Rejection;
use super::forecast::{Question, kind, seconds};
use super::layout::{Audience, Detail, Layout};
use super::memory::Memory;
use super::order;
use super::records::Record;
use super::state::{Holder, MachineState};
use super::waiting::{Prospect, Waiting};
use crate::objects::{Job, Object as _, ObjectRef, PlacementSpec};
use crate::world::{Index, JobGroup};

/// The time in seconds after the creation of its newest Job when an incomplete set is reported.
const SET_S: i64 = 10;

/// Returns true if more Jobs of a set may still be created.
fn is_being_made(group: &JobGroup<'_>, now: i64) -> bool {
    let newest = group.jobs().iter().map(|job| job.created()).max();
    newest.is_some_and(|made| now < made + SET_S)
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
    /// Allocations and failed nodes, for the picture.
    pub(crate) held: Vec<Holding>,
    pub(crate) failed: Vec<NodeId>,
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
    for (place, waits) in queue.jobs.iter().enumerate() {
        state.planner.submit(waits.id.0, place, waits.request, waits.group.seconds());
    }
    let (started, proposals) = start(layout, &mut state, &queue)?;
    let question = detail.forecast.then(|| state.question(layout, &queue, &started, memory));
    let question = question.transpose()?;
    let starts = detail.starts.then(|| state.planner.starts(&layout.config.scheduler));
    let starts = starts.transpose()?.unwrap_or_default();
    let still: Vec<_> = queue.jobs.iter().filter(|one| !started.contains(&one.id)).collect();
    let ahead = |waits: &&Candidate<'_>| state.ahead(&waits.request, waits.group.seconds());
    let ahead: Vec<_> = still.iter().take(detail.explained).map(ahead).collect();
    // All Jobs share one snapshot, and Jobs with the same request share one explanation.
    let snapshot = LazyCell::new(|| Snapshot::of(state.planner.machine()));
    let standing = state.planner.standing();
    let mut reasons = HashMap::new();
    let explained = still.into_iter().enumerate().flat_map(|(place, waits)| {
        let why = if place < detail.explained {
            let planned = state.planner.planned(standing.as_ref(), waits.id);
            let queued = ahead[place].unwrap_or(Queued::Kept);
            let context = Context { moved: detail.moves, queued, planned };
            let find = || state.reason(layout, &snapshot, waits, &context);
            // A Job with a reservation, or ahead of maintenance, has its own explanation.
            let why = if planned.is_some() || ahead[place].is_some() {
                find()
            } else {
                let shared = reasons.entry(waits.request);
                shared.or_insert_with(find).clone()
            };
            let reader = (waits.group.first().namespace(), detail.audience);
            state.explainer(layout, reader, |one| one.lines(why.as_ref())).join(" ")
        } else {
            format!("{place} are ahead of it in the queue")
        };
        let starts = starts.get(&waits.id).copied();
        // Pool numbers are local to this function.
        let request = Some(Request { pool: None, ..waits.request });
        let each = waits.group.jobs().iter();
        each.map(move |job| Waiting { starts, request, ..Waiting::new(job, why.clone()) })
    });
    let waiting = explained.chain(queue.refused).collect();
    let machine = state.planner.machine();
    let (free, unavailable) = (machine.free().clone(), machine.failed_nodes());
    let busy = layout.config.grid.nodes() - free.count() - unavailable;
    let (held, failed) =
        if detail.picture { picture(&state, &queue.jobs, &started) } else { Default::default() };
    let overlaps = std::mem::take(&mut state.overlaps);
    Ok(Schedule { proposals, waiting, free, busy, unavailable, overlaps, held, failed, question })
}

/// Starts the Jobs chosen by the scheduler. Returns the Jobs with their proposals.
fn start(
    layout: &Layout<'_>,
    state: &mut MachineState<'_>,
    queue: &Queue<'_>,
) -> Result<(HashSet<JobId>, Vec<Action>), String> {
    let (mut started, mut proposals) = (HashSet::new(), Vec::new());
    let first = state.first();
    let mut next = || state.planner.start_next().map_err(|error| error.to_string());
    while let Some((id, cuboid)) = next()? {
        started.insert(id);
        let Some(cuboid) = cuboid else { continue };
        let waits = &queue.jobs[(id.0 - first) as usize];
        proposals.extend(proposal(layout, &waits.group, &cuboid));
    }
    Ok((started, proposals))
}

/// Returns the allocations after the actions, and the failed nodes.
fn picture(
    state: &MachineState<'_>,
    jobs: &[Candidate<'_>],
    started: &HashSet<JobId>,
) -> (Vec<Holding>, Vec<NodeId>) {
    let held = state.holdings(started.iter().map(|id| {
        let job = jobs[(id.0 - state.first()) as usize].group.first();
        let (namespace, name) = (job.namespace(), job.name());
        (*id, Holder { kind: "Job", namespace, name, end: None })
    }));
    (held, state.planner.machine().failed().collect())
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
struct Candidate<'a> {
    group: JobGroup<'a>,
    id: JobId,
    /// The request; nodes outside its pool count as failed.
    request: Request,
}

/// The waiting groups in order, and Jobs that are not queued.
struct Queue<'a> {
    jobs: Vec<Candidate<'a>>,
    refused: Vec<Waiting>,
}

impl<'a> Queue<'a> {
    fn of(
        layout: &Layout<'_>,
        index: &Index<'a>,
        mut nodes: HashMap<&'a str, u32>,
        waiting: Vec<(JobGroup<'a>, bool)>,
        memory: &mut Memory,
        state: &mut MachineState<'a>,
    ) -> Queue<'a> {
        let mut queue = Queue { jobs: Vec::new(), refused: Vec::new() };
        memory.unfinished = false;
        let mut queued: HashMap<&str, usize> = HashMap::new();
        for (group, ready) in waiting {
            let job = group.first();
            if group.uses_topology_scheduling(index) {
                queue.refuse(&group, Prospect::Never, order::TOPOLOGY);
                continue;
            }
            let request = match layout.config.request(&group) {
                Ok(request) => request,
                Err(Rejection::Incomplete(why)) => {
                    if is_being_made(&group, state.now as i64) {
                        memory.unfinished = true;
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
            if !ready {
                continue;
            }
            if let Some(why) = memory.rejection(job.id()) {
                let why = format!("the API server rejects its Placement: {why}");
                queue.refuse(&group, Prospect::Waits, &why);
                continue;
            }
            let place = queued.entry(job.namespace()).or_default();
            let held = nodes.entry(job.namespace()).or_default();
            if *place >= layout.config.queued || *held + request.nodes > layout.config.held {
                let most = if *place >= layout.config.queued { "waiting Jobs" } else { "nodes" };
                let why = format!("its namespace is at its limit of {most}");
                queue.refuse(&group, Prospect::Waits, &why);
                continue;
            }
            let request = match state.confined(layout, memory, &group, request) {
                Ok(found) => found,
                Err(why) => {
                    queue.refuse(&group, why.0, &why.1);
                    continue;
                }
            };
            *place += 1;
            *held += request.nodes;
            let id = JobId(state.first() + queue.jobs.len() as u64);
            queue.jobs.push(Candidate { group, id, request });
        }
        queue
    }

    /// Reports why the Jobs of a group are not queued.
    fn refuse(&mut self, group: &JobGroup<'_>, prospect: Prospect, why: &str) {
        let rejected = |job: &&Job| Waiting { prospect, ..Waiting::new(job, why.to_string()) };
        self.refused.extend(group.jobs().iter().map(rejected));
    }
}

impl<'a> MachineState<'a> {
    /// Restricts a request to the nodes that the group may use.
    fn confined(
        &mut self,
        layout: &Layout<'_>,
        memory: &Memory,
        group: &JobGroup<'a>,
        request: Request,
    ) -> Result<Request, (Prospect, String)> {
        let fits = |state: &mut MachineState<'_>, request: &Request| {
            state.planner.dispatcher.could_ever_fit(request).is_ok()
        };
        if !fits(self, &request) {
            let why = format!("its shape does not fit on {}", layout.config.grid);
            return Err((Prospect::Impossible, why));
        }
        let avoided = memory.avoided.get(group.first().id());
        let [mut bad, always] = self.excluded(layout, group);
        if let Some(avoided) = avoided {
            let ids = avoided.keys().filter_map(|name| layout.map.ids.get(name.as_str()));
            bad.extend(ids.map(|id| id.0));
            bad.sort_unstable();
            bad.dedup();
        }
        if bad.is_empty() {
            return Ok(request);
        }
        let confined = request.within(self.pool(bad));
        if fits(self, &confined) || avoided.is_some() {
            return Ok(confined);
        }
        let always = request.within(self.pool(always));
        if fits(self, &always) {
            return Ok(confined);
        }
        let why = "no box of its shape matches its selectors, affinity and tolerations";
        Err((Prospect::Never, why.to_string()))
    }

    /// Prepares the forecast for the Jobs that are still waiting.
    fn question(
        &self,
        layout: &Layout<'_>,
        queue: &Queue<'_>,
        started: &HashSet<JobId>,
        memory: &Memory,
    ) -> Result<Question, String> {
        let said = |group: &JobGroup<'_>| group.seconds().map(seconds);
        let waits = queue.jobs.iter().filter(|waits| !started.contains(&waits.id));
        let uids = |waits: &Candidate<'_>| waits.group.jobs().iter().map(|job| job.uid()).collect();
        let waiting = waits.map(|waits| (waits.id, uids(waits))).collect();
        let asked = queue.jobs.iter().map(|waits| {
            let namespace = waits.group.first().namespace();
            (waits.id, kind(namespace, waits.request.nodes, said(&waits.group)))
        });
        let held = self.holders().filter_map(|(id, holder)| {
            let job = &self.planner.dispatcher.running().get(id)?.job;
            let said = holder.end.map(|_| seconds(job.estimate.0));
            Some((job.id, kind(holder.namespace, job.request.nodes, said)))
        });
        let known = held.chain(asked);
        Question::of(layout, &memory.past, &self.planner.dispatcher, self.now, known, waiting)
    }

    /// Calls a function with an explainer that knows the holders' names and ends. The audience
    /// determines which names are included; `own` is the waiting Job's namespace.
    fn explainer<T>(
        &self,
        layout: &Layout<'_>,
        (own, audience): (&str, Audience),
        ask: impl FnOnce(&Explainer<'_>) -> T,
    ) -> T {
        let name = |job: JobId| match self.holder(job) {
            Some(holder) if audience != Audience::Daemon || holder.namespace == own => {
                holder.named()
            }
            Some(holder) => format!("a {} in another namespace", shown(holder.kind)),
            None => "a Job that is about to start".to_string(),
        };
        ask(&Explainer {
            grid: &layout.config.grid,
            strategy: &layout.config.strategy.to_string(),
            scheduler: &layout.config.scheduler.to_string(),
            name: &name,
            end: &|job| self.holder(job)?.end.map(Time),
            is_job: &|_| true,
        })
    }

    /// Explains why a request does not start.
    fn reason(
        &self,
        layout: &Layout<'_>,
        snapshot: &Snapshot,
        waits: &Candidate<'_>,
        context: &Context,
    ) -> Option<Why> {
        let snapshot = self.planner.within(snapshot, &waits.request);
        let anyone = ("", Audience::Operator);
        self.explainer(layout, anyone, |one| one.why(&snapshot, &waits.request, context))
    }
}
