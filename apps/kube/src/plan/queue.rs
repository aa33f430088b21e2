//! Which waiting Job gets which nodes, and why the others wait.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use pavior_allocation::{Machine as Engine, Placement as Held};
use pavior_kernel::{Time, shown};
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Occupancy, Pool, Request, tile};
use pavior_planning::{Shape, Snapshot};
use pavior_scheduling::{Dispatcher, run_forward};
use pavior_workload::{Job as Told, Service};

use super::act::{Act, Seen};
use super::demands::Demands;
use super::foretold::{Question, kind};
use super::records::Record;
use super::site::Refused;
use super::{Asker, Depth, Memory, Plot, order, words};
use crate::objects::{Job, Known as _, Node, PlacementSpec, Pod};
use crate::unit::Unit;
use crate::world::Index;

/// An estimate for Jobs that do not say how long they run: a year.
pub(super) const ENDLESS: u64 = 365 * 86_400;

/// How long after its newest Job a set may be incomplete before that is told, in seconds.
const SET_S: i64 = 10;

/// Whether Jobs of a set may still be being made.
pub(super) fn is_being_made(unit: &Unit<'_>, now: i64) -> bool {
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
    index: &Index<'a>,
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
    let (mut started, mut proposals) = (HashSet::new(), Vec::new());
    while let Some(start) =
        state.dispatcher.start_next(Time(state.now), &mut ()).map_err(|error| error.to_string())?
    {
        let id = start.job.id;
        started.insert(id);
        let Held::Whole(cuboid) = start.placement else { continue };
        let waits = &queue.jobs[(id.0 - state.first) as usize];
        proposals.extend(proposal(plot, &waits.unit, cuboid));
    }
    let question = depth.foretold.then(|| state.question(plot, &queue, &started, memory));
    let question = question.transpose()?;
    let starts = if depth.starts { state.starts(plot)? } else { HashMap::new() };
    let still = queue.jobs.iter().filter(|waits| !started.contains(&waits.id));
    // One picture for all that are told why they wait, and one answer for those that ask the same.
    let snapshot = LazyCell::new(|| Snapshot::of(state.dispatcher.machine()));
    let mut answers = HashMap::new();
    let told = still.enumerate().flat_map(|(place, waits)| {
        let why = if place < depth.told {
            let asked = (waits.request, waits.within, waits.unit.first().namespace());
            let answer = || state.why(plot, &snapshot, waits, &depth);
            answers.entry(asked).or_insert_with(answer).clone()
        } else {
            format!("{place} wait before it")
        };
        let starts = starts.get(&waits.id).copied();
        let request = Some(waits.request);
        let each = waits.unit.jobs().iter();
        each.map(move |job| Waiting { starts, request, ..Waiting::new(job, why.clone()) })
    });
    let waiting = told.chain(queue.refused).collect();
    let machine = state.dispatcher.machine();
    let (free, unavailable) = (machine.free().clone(), machine.failed_nodes());
    let busy = plot.site.grid.nodes() - free.count() - unavailable;
    let (mut held, mut failed) = (Vec::new(), Vec::new());
    if depth.pictured {
        held = state.holdings(started.iter().map(|id| {
            let job = queue.jobs[(id.0 - state.first) as usize].unit.first();
            let (namespace, name) = (job.namespace(), job.name());
            (*id, Holder { kind: "Job", namespace, name, end: None })
        }));
        failed = machine.failed().collect();
    }
    let overlaps = std::mem::take(&mut state.overlaps);
    Ok(Placed { proposals, waiting, free, busy, unavailable, overlaps, held, failed, question })
}

/// The record that is proposed for a Job.
fn proposal(plot: &Plot<'_>, unit: &Unit<'_>, cuboid: &Cuboid) -> Option<Act> {
    let job = unit.first();
    let uids = unit.jobs().iter().map(|job| job.uid());
    let names = cuboid.nodes(&plot.site.grid).map(|node| plot.places.names[node.index()].clone());
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
            let id = JobId(state.first + queue.jobs.len() as u64);
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

/// The machine, with those that hold nodes. A holder's number is its place in `holders`; those of
/// waiting Jobs follow.
struct State<'a> {
    dispatcher: Dispatcher,
    now: u64,
    holders: Vec<Holder<'a>>,
    /// The number of the first waiting Job.
    first: u64,
    overlaps: Vec<NodeId>,
    pools: Vec<Occupancy>,
    known: HashMap<Vec<u32>, (Pool, usize)>,
    /// The nodes that pods with given demands may not have.
    barred: Vec<(Vec<Demands<'a>>, Vec<u32>)>,
}

impl<'a> State<'a> {
    fn of(
        plot: &Plot<'_>,
        index: &Index<'a>,
        records: &[Record<'a>],
        now: i64,
    ) -> Result<State<'a>, String> {
        let site = &plot.site;
        let engine = Engine::with_seed(site.grid, &site.strategy, 1);
        let engine = engine.map_err(|error| error.to_string())?;
        let scheduler = site.scheduler.build(()).map_err(|error| error.to_string())?;
        let mut state = State {
            dispatcher: Dispatcher::new(engine, scheduler),
            now: now.max(0) as u64,
            holders: Vec::new(),
            first: 0,
            overlaps: Vec::new(),
            pools: Vec::new(),
            known: HashMap::new(),
            barred: Vec::new(),
        };
        let mut owners: Vec<Option<bool>> = vec![None; site.grid.nodes() as usize];
        // What is confirmed has its nodes before what is proposed.
        for confirmed in [true, false] {
            for record in records {
                if record.placement.status.confirmed == confirmed {
                    state.hold(plot, record, &mut owners);
                }
            }
        }
        state.hold_strangers(plot, index, &mut owners);
        let right = |node: &Node| node.is_ready() && site.has_its_resource(node);
        for (at, node) in plot.nodes.iter().enumerate() {
            if owners[at].is_none() && !node.is_some_and(right) {
                // Those that hold it go on as long as the cluster lets them.
                let _ = state.dispatcher.machine_mut().fail(NodeId(at as u32));
            }
        }
        state.first = state.holders.len() as u64;
        Ok(state)
    }

    /// What holds nodes: the holders, and Jobs that are about to start.
    fn holdings(&self, starts: impl Iterator<Item = (JobId, Holder<'a>)>) -> Vec<Holding> {
        let known = self.holders.iter().copied().enumerate();
        let known = known.map(|(id, holder)| (JobId(id as u64), holder));
        let holding = |(id, holder): (JobId, Holder<'_>)| {
            let parts = self.dispatcher.machine().placement(id)?.parts().to_vec();
            let start = self.dispatcher.running().get(id)?.start.0;
            let name = holder.named();
            let namespace = shown(holder.namespace).to_string();
            Some(Holding { name, namespace, start, end: holder.end, parts })
        };
        known.chain(starts).filter_map(holding).collect()
    }

    /// The Job of a record holds its nodes.
    fn hold(&mut self, plot: &Plot<'_>, record: &Record<'a>, owners: &mut [Option<bool>]) {
        let confirmed = record.placement.status.confirmed;
        let taken = |node: &NodeId| owners[node.index()].is_some();
        let twice = record.held().filter(|node| owners[node.index()] == Some(true));
        self.overlaps.extend(twice.filter(|_| confirmed));
        let mut free: Vec<NodeId> = record.held().filter(|id| !taken(id)).collect();
        let created = record.placement.created().max(0) as u64;
        let seconds = record.unit.as_ref().and_then(Unit::seconds);
        let end = seconds.map(|run| created.saturating_add(run));
        let (namespace, name) = (record.placement.namespace(), &record.placement.spec.job);
        self.take(plot, &mut free, Holder { kind: "Job", namespace, name, end }, created);
        for node in free {
            owners[node.index()] = Some(confirmed);
        }
    }

    /// Pods that have a node without a record hold it, those of one owner together.
    fn hold_strangers(&mut self, plot: &Plot<'_>, index: &Index<'a>, owners: &mut [Option<bool>]) {
        let mut strangers: BTreeMap<Holder<'_>, Vec<NodeId>> = BTreeMap::new();
        for (at, name) in plot.places.names.iter().enumerate() {
            let Some(name) = name.as_ref().filter(|_| owners[at].is_none()) else { continue };
            let pod = index.pods_on(name).find(|pod| super::occupies(pod));
            if let Some(pod) = pod {
                strangers.entry(Holder::of(pod)).or_default().push(NodeId(at as u32));
                owners[at] = Some(true);
            }
        }
        let now = self.now;
        for (holder, mut nodes) in strangers {
            self.take(plot, &mut nodes, holder, now);
        }
    }

    fn take(&mut self, plot: &Plot<'_>, nodes: &mut Vec<NodeId>, holder: Holder<'a>, start: u64) {
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.is_empty() {
            return;
        }
        let grid = plot.site.grid;
        let around = around(&grid, nodes);
        let placement = if around.volume() as usize == nodes.len() {
            Held::Whole(around)
        } else {
            Held::Parts(tile(&grid, &around, |node| nodes.binary_search(&node).is_ok()))
        };
        let start = start.min(self.now);
        let number = self.holders.len() as u64;
        let estimate = Time(holder.end.map_or(ENDLESS, |end| end.saturating_sub(start).max(1)));
        let job = Told {
            id: JobId(number),
            number,
            arrival: Time(start),
            request: Request::nodes(nodes.len() as u32),
            service: Service::Run(estimate),
            estimate,
        };
        if self.dispatcher.hold(job, Time(start), placement).is_ok() {
            self.holders.push(holder);
        }
    }

    /// What a Job asks for, confined to the nodes that it may have.
    fn confined(
        &mut self,
        plot: &Plot<'_>,
        memory: &Memory,
        unit: &Unit<'a>,
        request: Request,
    ) -> Result<(Request, Option<usize>), String> {
        let fits = |state: &mut State<'_>, request: &Request| {
            state.dispatcher.machine_mut().could_ever_fit(request).is_ok()
        };
        if !fits(self, &request) {
            return Err(format!("no box of {} has its shape", plot.site.grid));
        }
        let avoided = memory.avoided.get(unit.first().id());
        let mut bad = self.barred(plot, unit).clone();
        if let Some(avoided) = avoided {
            let ids = avoided.keys().filter_map(|name| plot.places.ids.get(name));
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
            let machine = self.dispatcher.machine_mut();
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

    /// The nodes that the pods of a Job may not have by what they demand, in order.
    fn barred(&mut self, plot: &Plot<'_>, unit: &Unit<'a>) -> &Vec<u32> {
        let demands = Demands::of_all(unit.jobs());
        let same = |(known, _): &(Vec<Demands<'a>>, _)| {
            known.len() == demands.len()
                && known.iter().zip(&demands).all(|(one, own)| one.are(own))
        };
        let at = self.barred.iter().position(same).unwrap_or_else(|| {
            let bars = |node: &Node| !demands.iter().all(|one| one.allow(node));
            let nodes = plot.nodes.iter().enumerate();
            let barred = nodes.filter(|(_, node)| node.is_some_and(bars));
            let barred = barred.map(|(at, _)| at as u32).collect();
            self.barred.push((demands, barred));
            self.barred.len() - 1
        });
        &self.barred[at].1
    }

    fn submit(&mut self, waits: &Candidate<'_>) {
        let estimate = Time(waits.unit.seconds().unwrap_or(ENDLESS));
        let arrival = Time(self.now + (waits.id.0 - self.first));
        self.dispatcher.submit(Told {
            id: waits.id,
            number: waits.id.0,
            arrival,
            request: waits.request,
            service: Service::Run(estimate),
            estimate,
        });
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
        let said = |unit: &Unit<'_>| unit.seconds().map(Time);
        let waits = queue.jobs.iter().filter(|waits| !started.contains(&waits.id));
        let uids = |waits: &Candidate<'_>| waits.unit.jobs().iter().map(|job| job.uid()).collect();
        let waiting = waits.map(|waits| (waits.id, uids(waits))).collect();
        let asked = queue.jobs.iter().map(|waits| {
            let namespace = waits.unit.first().namespace();
            (waits.id, kind(namespace, waits.request.nodes, said(&waits.unit)))
        });
        let held = self.holders.iter().enumerate().filter_map(|(id, holder)| {
            let job = &self.dispatcher.running().get(JobId(id as u64))?.job;
            let said = holder.end.map(|_| job.estimate);
            Some((job.id, kind(holder.namespace, job.request.nodes, said)))
        });
        let known = held.chain(asked);
        Question::of(plot, &memory.past, &self.dispatcher, self.now, known, waiting)
    }

    /// Why a Job does not start, in sentences.
    fn why(
        &self,
        plot: &Plot<'_>,
        snapshot: &Snapshot,
        waits: &Candidate<'_>,
        depth: &Depth,
    ) -> String {
        let Some(sides) = waits.request.shape else { return String::new() };
        let within = waits.within.map(|within| snapshot.clone().within(&self.pools[within]));
        let snapshot = within.as_ref().unwrap_or(snapshot);
        let turned = waits.request.freedom.is_none();
        let shape = if turned { Shape::new(sides) } else { Shape::fixed(sides) };
        let holder = |job: JobId| match self.holders.get(job.0 as usize) {
            Some(holder)
                if depth.asker != Asker::Daemon
                    || holder.namespace == waits.unit.first().namespace() =>
            {
                (holder.named(), holder.end)
            }
            Some(holder) => (format!("a {} of another namespace", shown(holder.kind)), holder.end),
            None => ("a Job that is about to start".to_string(), None),
        };
        words::told(&plot.site, snapshot, shape, depth.moved, &holder).1.join(" ")
    }
}

/// The smallest box around nodes that does not run over an end of the grid.
fn around(grid: &Grid, nodes: &[NodeId]) -> Cuboid {
    let (mut low, mut high) = ([u16::MAX; 3], [0; 3]);
    for &node in nodes {
        for (axis, at) in grid.point(node).into_iter().enumerate() {
            (low[axis], high[axis]) = (at.min(low[axis]), at.max(high[axis]));
        }
    }
    Cuboid::new(low, [0, 1, 2].map(|axis| high[axis] - low[axis] + 1))
}

/// What holds nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Holder<'a> {
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
    /// When it ends, if that is known.
    end: Option<u64>,
}

impl<'a> Holder<'a> {
    /// What a pod belongs to.
    fn of(pod: &'a Pod) -> Holder<'a> {
        let owners = pod.metadata.owner_references.iter().flatten();
        let (kind, name) = match owners.into_iter().next() {
            Some(owner) => (owner.kind.as_str(), owner.name.as_str()),
            None => ("pod", pod.name()),
        };
        Holder { kind, namespace: pod.namespace(), name, end: None }
    }

    fn named(&self) -> String {
        format!("{} {}/{}", shown(self.kind), shown(self.namespace), shown(self.name))
    }
}
