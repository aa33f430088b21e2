//! Which waiting Job gets which nodes, and why the others wait.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use pavior::answers::{PlannedStart, Queued, Shape, Snapshot, Why};
use pavior::scheduling::{Standing, run_forward};
use pavior::text::shown;
use pavior::workload::{Job as Told, Service};
use pavior::{Cuboid, JobId, NodeId, Occupancy, Placement as Held, Request, Time};

use super::act::{Act, Seen};
use super::forecast::{Question, kind, seconds};
use super::hold::{Holder, State};
use super::records::Record;
use super::site::Refused;
use super::{Asker, Depth, Memory, Plot, order, words};
use crate::objects::{Job, Known as _, PlacementSpec};
use crate::unit::Unit;
use crate::world::Index;

/// An estimate for Jobs that do not say how long they run: a year.
pub(super) const ENDLESS: u64 = 365 * 86_400;

/// How long after its newest Job a set may be incomplete before that is told, in seconds.
const SET_S: i64 = 10;

/// Whether Jobs of a set may still be being made.
fn is_being_made(unit: &Unit<'_>, now: i64) -> bool {
    let newest = unit.jobs().iter().map(|job| job.created()).max();
    newest.is_some_and(|made| now < made + SET_S)
}

/// A Job that waits, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) job: Seen,
    pub(crate) why: String,
    /// It waits for ever if it is not changed.
    pub(crate) never: bool,
    /// When it starts if all Jobs run as long as they say, in seconds since 1970.
    pub(crate) starts: Option<u64>,
    /// What it asks for, in nodes, if that can be read.
    pub(crate) request: Option<Request>,
    /// When it was made, in seconds since 1970.
    pub(crate) created: u64,
}

/// Nodes that are held together.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    /// `Job NAMESPACE/NAME`, or what else holds them.
    pub(crate) name: String,
    pub(crate) namespace: String,
    /// Since when they are held, in seconds since 1970.
    pub(crate) start: u64,
    /// When it ends if it runs as long as it says, in seconds since 1970.
    pub(crate) end: Option<u64>,
    pub(crate) parts: Vec<Cuboid>,
}

impl Waiting {
    pub(super) fn new(job: &Job, why: String) -> Waiting {
        Waiting {
            job: Seen::of(job),
            why,
            never: false,
            starts: None,
            request: None,
            created: job.created().max(0) as u64,
        }
    }
}

/// The Jobs that are placed, those that wait, and the nodes.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) proposals: Vec<Act>,
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) free: Occupancy,
    pub(crate) busy: u32,
    pub(crate) unavailable: u32,
    pub(crate) overlaps: Vec<NodeId>,
    /// For the picture alone, as are the failed nodes.
    pub(crate) held: Vec<Holding>,
    pub(crate) failed: Vec<NodeId>,
    pub(crate) question: Option<Question>,
}

/// Places what the scheduler chooses, and says why the others wait.
pub(super) fn place<'a>(
    plot: &Plot<'_>,
    index: &'a Index<'a>,
    records: &[Record<'a>],
    units: Vec<Unit<'a>>,
    memory: &mut Memory,
    now: i64,
    depth: Depth,
) -> Result<Placed, String> {
    let mut state = State::of(plot, index, records, now)?;
    let held = order::held(records);
    let waiting = order::waiting(plot, index, &held, units, memory);
    let queue = Queue::of(plot, index, held, waiting, memory, &mut state);
    for waits in &queue.jobs {
        state.submit(waits);
    }
    let (started, proposals) = start(plot, &mut state, &queue)?;
    let question = depth.forecast.then(|| state.question(plot, &queue, &started, memory));
    let question = question.transpose()?;
    let starts = if depth.starts { state.starts(plot)? } else { HashMap::new() };
    let still = queue.jobs.iter().filter(|waits| !started.contains(&waits.id));
    // One picture for all that are told why they wait, and one reason for those that ask the same.
    let snapshot = LazyCell::new(|| Snapshot::of(state.dispatcher.machine()));
    let standing = state.dispatcher.standing(Time(state.now));
    let mut reasons = HashMap::new();
    let told = still.enumerate().flat_map(|(place, waits)| {
        let why = if place < depth.told {
            let planned = state.planned(standing.as_ref(), waits.id);
            let find = || state.reason(&snapshot, waits, (depth.moved, planned));
            // What is reserved for one of them is an answer of its own.
            let why = if planned.is_some() {
                find()
            } else {
                let shared = reasons.entry((waits.request, waits.within));
                shared.or_insert_with(find).clone()
            };
            why.map_or(String::new(), |why| state.words(plot, &why, waits, depth.asker))
        } else {
            format!("{place} wait before it")
        };
        let starts = starts.get(&waits.id).copied();
        // The number of a pool means nothing elsewhere.
        let request = Some(Request { pool: None, ..waits.request });
        let each = waits.unit.jobs().iter();
        each.map(move |job| Waiting { starts, request, ..Waiting::new(job, why.clone()) })
    });
    let waiting = told.chain(queue.refused).collect();
    let machine = state.dispatcher.machine();
    let (free, unavailable) = (machine.free().clone(), machine.failed_nodes());
    let busy = plot.site.grid.nodes() - free.count() - unavailable;
    let (held, failed) =
        if depth.pictured { pictured(&state, &queue.jobs, &started) } else { Default::default() };
    let overlaps = std::mem::take(&mut state.overlaps);
    Ok(Placed { proposals, waiting, free, busy, unavailable, overlaps, held, failed, question })
}

/// Starts what the scheduler chooses; the Jobs, and the records that are proposed for them.
fn start(
    plot: &Plot<'_>,
    state: &mut State<'_>,
    queue: &Queue<'_>,
) -> Result<(HashSet<JobId>, Vec<Act>), String> {
    let (mut started, mut proposals) = (HashSet::new(), Vec::new());
    let now = Time(state.now);
    let first = state.first();
    let dispatcher = &mut state.dispatcher;
    while let Some(start) =
        dispatcher.start_next(now, &mut ()).map_err(|error| error.to_string())?
    {
        let id = start.job.id;
        started.insert(id);
        let Held::Whole(cuboid) = start.placement else { continue };
        let waits = &queue.jobs[(id.0 - first) as usize];
        proposals.extend(proposal(plot, &waits.unit, cuboid));
    }
    Ok((started, proposals))
}

/// Who holds nodes once this is done, and the nodes that are failed.
fn pictured(
    state: &State<'_>,
    jobs: &[Candidate<'_>],
    started: &HashSet<JobId>,
) -> (Vec<Holding>, Vec<NodeId>) {
    let held = state.holdings(started.iter().map(|id| {
        let job = jobs[(id.0 - state.first()) as usize].unit.first();
        let (namespace, name) = (job.namespace(), job.name());
        (*id, Holder { kind: "Job", namespace, name, end: None })
    }));
    (held, state.dispatcher.machine().failed().collect())
}

/// The record that is proposed for a Job.
fn proposal(plot: &Plot<'_>, unit: &Unit<'_>, cuboid: &Cuboid) -> Option<Act> {
    let job = unit.first();
    let uids = unit.jobs().iter().map(|job| job.uid());
    let nodes = cuboid.nodes(&plot.site.grid).map(|node| plot.places.nodes[node.index()]);
    let names = nodes.map(|node| Some(node?.name().to_string()));
    let placement = PlacementSpec {
        machine: plot.name.to_string(),
        job: job.name().to_string(),
        job_uid: job.uid(),
        set: if unit.is_set() { uids.collect() } else { Vec::new() },
        shape: job.shape().unwrap_or_default().to_string(),
        at: plot.site.words(cuboid),
        nodes: names.collect::<Option<Vec<String>>>()?,
    };
    Some(Act::Propose { job: Seen::of(job), placement })
}

/// A Job that could be placed.
struct Candidate<'a> {
    unit: Unit<'a>,
    id: JobId,
    request: Request,
    /// The nodes outside its pool count as failed for it.
    within: Option<usize>,
}

/// The Jobs that wait, in order, and those that are not looked at.
struct Queue<'a> {
    jobs: Vec<Candidate<'a>>,
    refused: Vec<Waiting>,
}

impl<'a> Queue<'a> {
    fn of(
        plot: &Plot<'_>,
        index: &Index<'a>,
        mut nodes: HashMap<&'a str, u32>,
        waiting: Vec<(Unit<'a>, bool)>,
        memory: &mut Memory,
        state: &mut State<'a>,
    ) -> Queue<'a> {
        let mut queue = Queue { jobs: Vec::new(), refused: Vec::new() };
        memory.unfinished = false;
        let mut queued: HashMap<&str, usize> = HashMap::new();
        for (unit, ready) in waiting {
            let job = unit.first();
            if unit.is_kueues(index) {
                queue.refuse(&unit, true, order::KUEUES);
                continue;
            }
            let request = match plot.site.request(&unit) {
                Ok(request) => request,
                Err(Refused::Incomplete(why)) => {
                    if is_being_made(&unit, state.now as i64) {
                        memory.unfinished = true;
                    } else {
                        queue.refuse(&unit, false, &why);
                    }
                    continue;
                }
                Err(Refused::Never(why)) => {
                    queue.refuse(&unit, true, &why);
                    continue;
                }
            };
            if !ready {
                continue;
            }
            let place = queued.entry(job.namespace()).or_default();
            let held = nodes.entry(job.namespace()).or_default();
            if *place >= plot.site.queued || *held + request.nodes > plot.site.held {
                let most = if *place >= plot.site.queued { "waiting Jobs" } else { "nodes" };
                let why = format!("its namespace has the most {most} already");
                queue.refuse(&unit, false, &why);
                continue;
            }
            let (request, within) = match state.confined(plot, memory, &unit, request) {
                Ok(found) => found,
                Err(why) => {
                    queue.refuse(&unit, true, &why);
                    continue;
                }
            };
            *place += 1;
            *held += request.nodes;
            let id = JobId(state.first() + queue.jobs.len() as u64);
            queue.jobs.push(Candidate { unit, id, request, within });
        }
        queue
    }

    /// Tells each Job of a unit why it is not looked at.
    fn refuse(&mut self, unit: &Unit<'_>, never: bool, why: &str) {
        let told = |job: &&Job| Waiting { never, ..Waiting::new(job, why.to_string()) };
        self.refused.extend(unit.jobs().iter().map(told));
    }
}

impl<'a> State<'a> {
    /// What a Job asks for, confined to the nodes that it may have.
    fn confined(
        &mut self,
        plot: &Plot<'_>,
        memory: &Memory,
        unit: &Unit<'a>,
        request: Request,
    ) -> Result<(Request, Option<usize>), String> {
        let fits = |state: &mut State<'_>, request: &Request| {
            state.dispatcher.could_ever_fit(request).is_ok()
        };
        if !fits(self, &request) {
            return Err(format!("no box of {} has its shape", plot.site.grid));
        }
        let avoided = memory.avoided.get(unit.first().id());
        let mut bad = self.barred(plot, unit).to_vec();
        if let Some(avoided) = avoided {
            let ids = avoided.keys().filter_map(|name| plot.places.ids.get(name.as_str()));
            bad.extend(ids.map(|id| id.0));
            bad.sort_unstable();
            bad.dedup();
        }
        if bad.is_empty() {
            return Ok((request, None));
        }
        let (pool, within) = if let Some(known) = self.known.get(&bad) {
            *known
        } else {
            let grid = plot.site.grid;
            let mut nodes = Occupancy::all_free(grid);
            for &node in &bad {
                nodes.take_node(NodeId(node));
            }
            let machine = &mut self.dispatcher;
            let pool = machine.add_pool(nodes.clone()).map_err(|error| error.to_string())?;
            self.pools.push(nodes);
            self.known.insert(bad, (pool, self.pools.len() - 1));
            (pool, self.pools.len() - 1)
        };
        let confined = request.within(pool);
        if fits(self, &confined) || avoided.is_some() {
            return Ok((confined, Some(within)));
        }
        Err("no box of its shape has only nodes that its pods may have".to_string())
    }

    fn submit(&mut self, waits: &Candidate<'_>) {
        let estimate = Time(waits.unit.seconds().unwrap_or(ENDLESS));
        let arrival = Time(self.now + (waits.id.0 - self.first()));
        let submitted = self.dispatcher.submit(Told {
            id: waits.id,
            index: waits.id.0,
            number: waits.id.0,
            arrival,
            request: waits.request,
            service: Service::Run(estimate),
            estimate,
        });
        submitted.expect("each candidate has a number of its own");
    }

    /// When each waiting Job starts if all run as long as they say. Those that say nothing run for
    /// a year, so what waits for them has no time.
    fn starts(&self, plot: &Plot<'_>) -> Result<HashMap<JobId, u64>, String> {
        let scheduler = plot.site.scheduler.build(()).map_err(|error| error.to_string())?;
        let fork = self.dispatcher.fork(scheduler, |job| job.estimate);
        let run = run_forward(fork, Time(self.now), Vec::new());
        let starts = run.map_err(|error| error.to_string())?.into_iter();
        let known = starts.filter(|(_, at)| at.0 < self.now + ENDLESS / 2);
        Ok(known.map(|(job, at)| (job, at.0)).collect())
    }

    /// When those that still wait will probably start.
    fn question(
        &self,
        plot: &Plot<'_>,
        queue: &Queue<'_>,
        started: &HashSet<JobId>,
        memory: &Memory,
    ) -> Result<Question, String> {
        let said = |unit: &Unit<'_>| unit.seconds().map(seconds);
        let waits = queue.jobs.iter().filter(|waits| !started.contains(&waits.id));
        let uids = |waits: &Candidate<'_>| waits.unit.jobs().iter().map(|job| job.uid()).collect();
        let waiting = waits.map(|waits| (waits.id, uids(waits))).collect();
        let asked = queue.jobs.iter().map(|waits| {
            let namespace = waits.unit.first().namespace();
            (waits.id, kind(namespace, waits.request.nodes, said(&waits.unit)))
        });
        let held = self.holders().filter_map(|(id, holder)| {
            let job = &self.dispatcher.running().get(id)?.job;
            let said = holder.end.map(|_| seconds(job.estimate.0));
            Some((job.id, kind(holder.namespace, job.request.nodes, said)))
        });
        let known = held.chain(asked);
        Question::of(plot, &memory.past, &self.dispatcher, self.now, known, waiting)
    }

    /// Returns the start that the scheduler has reserved for a Job, if it is within half a year. A
    /// Job that says nothing of its length counts as a year.
    fn planned(&self, standing: Option<&Standing>, job: JobId) -> Option<PlannedStart> {
        PlannedStart::of(standing, job, Time(self.now + ENDLESS / 2))
    }

    /// Why a Job does not start, if it asks for a shape.
    fn reason(
        &self,
        snapshot: &Snapshot,
        waits: &Candidate<'_>,
        (moved, planned): (usize, Option<PlannedStart>),
    ) -> Option<Why> {
        let sides = waits.request.shape?;
        let within = waits.within.map(|within| snapshot.clone().within(&self.pools[within]));
        let snapshot = within.as_ref().unwrap_or(snapshot);
        let turned = waits.request.freedom.is_none();
        let shape = if turned { Shape::new(sides) } else { Shape::fixed(sides) };
        let end = |job: JobId| self.holder(job)?.end;
        Some(words::reason(snapshot, shape, (moved, Queued::Kept, planned), &end))
    }

    /// The same in sentences. Who has a plan made may not see all names.
    fn words(&self, plot: &Plot<'_>, why: &Why, waits: &Candidate<'_>, asker: Asker) -> String {
        let own = waits.unit.first().namespace();
        let name = |job: JobId| match self.holder(job) {
            Some(holder) if asker != Asker::Daemon || holder.namespace == own => holder.named(),
            Some(holder) => format!("a {} of another namespace", shown(holder.kind)),
            None => "a Job that is about to start".to_string(),
        };
        words::lines(&plot.site, why, &name).join(" ")
    }
}
