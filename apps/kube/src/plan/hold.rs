//! The machine with those that hold nodes of it: Jobs by their records, and who else has a pod
//! there.

use std::collections::{BTreeMap, HashMap};

use pavior_allocation::Placement as Held;
use pavior_kernel::{Time, shown};
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Request, tile};
use pavior_workload::{Job as Told, Service};

use super::floor::Floor;
use super::queue::{ENDLESS, Holding};
use super::records::Record;
use super::{Memory, Plot};
use crate::objects::{Known as _, Node, Placement, Pod};
use crate::rest::Quiet;
use crate::unit::Unit;
use crate::world::Index;

/// The numbers of those that hold nodes: a confirmed record has that of its version. These are
/// added to those of proposals and strangers, and waiting Jobs begin with the last. So they are the
/// same whether a record sleeps or is read anew, and ties are broken by age.
const PROPOSED: u64 = 1 << 61;
const STRANGERS: u64 = 2 << 61;
pub(super) const WAITING: u64 = 3 << 61;

/// The machine, with those that hold nodes.
pub(super) struct State<'a> {
    pub(super) floor: Floor,
    pub(super) index: &'a Index<'a>,
    pub(super) now: u64,
    /// Those that are awake.
    holders: BTreeMap<JobId, Holder<'a>>,
    /// Whether who has a node is confirmed, of the nodes of those that are awake.
    owners: HashMap<NodeId, bool>,
    pub(super) overlaps: Vec<NodeId>,
}

impl<'a> State<'a> {
    pub(super) fn of(
        plot: &Plot<'_>,
        index: &'a Index<'a>,
        records: &[Record<'a>],
        memory: &mut Memory,
        now: i64,
    ) -> Result<State<'a>, String> {
        let floor = Floor::of(plot, index, memory.floor.take())?;
        let now = now.max(0) as u64;
        let (holders, owners, overlaps) = (BTreeMap::new(), HashMap::new(), Vec::new());
        let mut state = State { floor, index, now, holders, owners, overlaps };
        // What is confirmed has its nodes before what is proposed.
        let (confirmed, proposed): (Vec<&Record<'_>>, Vec<&Record<'_>>) =
            records.iter().partition(|record| record.placement.status.confirmed);
        let mut all: Vec<_> = confirmed.iter().map(|one| (one.placement, Some(*one))).collect();
        if state.floor.anew {
            // Some strategies ask in which order nodes were given.
            all.extend(asleep(plot, index).map(|placement| (placement, None)));
            all.sort_by_cached_key(|(one, _)| (one.version_number(), one.id()));
        }
        for (placement, record) in all {
            match record {
                Some(record) => state.hold(plot, record),
                None => state.lay(plot, placement),
            }
        }
        for record in proposed {
            state.hold(plot, record);
        }
        state.hold_strangers(plot);
        state.mark(plot);
        Ok(state)
    }

    /// A record that sleeps holds its nodes.
    fn lay(&mut self, plot: &Plot<'_>, placement: &'a Placement) {
        let nodes = placement.spec.nodes.iter();
        let mut nodes = nodes.filter_map(|name| plot.places.ids.get(name).copied()).collect();
        let holder = holder_of(self.index, placement);
        let created = placement.created().max(0) as u64;
        if let Some(id) = self.take(plot, &mut nodes, holder, created, number(placement)) {
            self.floor.note_asleep(&placement.uid(), id);
            self.holders.remove(&id);
        }
    }

    /// Whether who has a node is confirmed; none if it is free.
    fn owner(&self, plot: &Plot<'_>, node: NodeId) -> Option<bool> {
        let asleep = || {
            let name = plot.places.names[node.index()].as_ref()?;
            self.index.rest?.record_on(name).map(|_| true)
        };
        self.owners.get(&node).copied().or_else(asleep)
    }

    /// Nodes that take no pod and have no holder are failed. Those who hold one go on as long as
    /// the cluster lets them.
    fn mark(&mut self, plot: &Plot<'_>) {
        let right = |node: &Node| node.is_ready() && plot.site.has_its_resource(node);
        let mut wrong = Vec::new();
        if self.floor.anew {
            let nodes = plot.places.nodes(plot.nodes).into_iter().enumerate();
            let bad = nodes.filter(|(_, node)| !node.is_some_and(right));
            wrong.extend(bad.map(|(at, _)| NodeId(at as u32)));
        }
        for node in std::mem::take(&mut self.floor.doubtful) {
            if plot.node(node).is_some_and(right) {
                let _ = self.floor.dispatcher.machine_mut().repair(node);
            } else {
                wrong.push(node);
            }
        }
        wrong.retain(|&node| self.owner(plot, node).is_none());
        for node in wrong {
            let _ = self.floor.dispatcher.machine_mut().fail(node);
        }
    }

    /// Who has a number, asleep or not.
    pub(super) fn holder(&self, id: JobId) -> Option<Holder<'a>> {
        let asleep = || {
            let placement = self.index.world.placements.get(self.floor.asleep(id)?)?;
            Some(holder_of(self.index, placement))
        };
        self.holders.get(&id).copied().or_else(asleep)
    }

    /// All that hold nodes, by number: the oldest record first. O(n log n) for n of them.
    pub(super) fn holders(&self) -> Vec<(JobId, Holder<'a>)> {
        let mut ids: Vec<JobId> =
            self.floor.all_asleep().chain(self.holders.keys().copied()).collect();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| Some((id, self.holder(id)?))).collect()
    }

    /// What holds nodes: the holders, and Jobs that are about to start.
    pub(super) fn holdings(
        &self,
        starts: impl Iterator<Item = (JobId, Holder<'a>)>,
    ) -> Vec<Holding> {
        let holding = |(id, holder): (JobId, Holder<'_>)| {
            let parts = self.floor.dispatcher.machine().placement(id)?.parts().to_vec();
            let start = self.floor.dispatcher.running().get(id)?.start.0;
            let name = holder.named();
            let namespace = shown(holder.namespace).to_string();
            Some(Holding { name, namespace, start, end: holder.end, parts })
        };
        self.holders().into_iter().chain(starts).filter_map(holding).collect()
    }

    /// The Job of a record holds its nodes.
    fn hold(&mut self, plot: &Plot<'_>, record: &Record<'a>) {
        let confirmed = record.placement.status.confirmed;
        let held = record.held().map(|node| (node, self.owner(plot, node)));
        let (mut free, mut many) = (Vec::new(), 0);
        for (node, owner) in held.collect::<Vec<_>>() {
            many += 1;
            match owner {
                None => free.push(node),
                Some(true) if confirmed => self.overlaps.push(node),
                Some(_) => {}
            }
        }
        let created = record.placement.created().max(0) as u64;
        let number = number(record.placement);
        let holder = holder_with(record.placement, record.unit.as_ref());
        let id = self.take(plot, &mut free, holder, created, number);
        // One that has all its nodes may sleep.
        if let Some(id) = id.filter(|_| free.len() == many) {
            self.floor.note_awake(&record.placement.uid(), id);
        }
        self.owners.extend(free.into_iter().map(|node| (node, confirmed)));
    }

    /// Pods that have a node without a record hold it, those of one owner together.
    fn hold_strangers(&mut self, plot: &Plot<'_>) {
        let mut on: Vec<NodeId> = self
            .index
            .nodes_with_pods()
            .filter_map(|name| plot.places.ids.get(name).copied())
            .filter(|&node| self.owner(plot, node).is_none())
            .collect();
        on.sort_unstable();
        let mut strangers: BTreeMap<Holder<'_>, Vec<NodeId>> = BTreeMap::new();
        for node in on {
            let Some(name) = &plot.places.names[node.index()] else { continue };
            let pod = self.index.pods_on(name).find(|pod| super::occupies(pod));
            if let Some(pod) = pod {
                strangers.entry(Holder::of(pod)).or_default().push(node);
                self.owners.insert(node, true);
            }
        }
        let now = self.now;
        for (at, (holder, mut nodes)) in strangers.into_iter().enumerate() {
            self.take(plot, &mut nodes, holder, now, STRANGERS | at as u64);
        }
    }

    /// Gives nodes to a holder, each of them once; its number, if there are some.
    fn take(
        &mut self,
        plot: &Plot<'_>,
        nodes: &mut Vec<NodeId>,
        holder: Holder<'a>,
        start: u64,
        number: u64,
    ) -> Option<JobId> {
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.is_empty() {
            return None;
        }
        let grid = plot.site.grid;
        let around = around(&grid, nodes);
        let placement = if around.volume() as usize == nodes.len() {
            Held::Whole(around)
        } else {
            Held::Parts(tile(&grid, &around, |node| nodes.binary_search(&node).is_ok()))
        };
        for &node in nodes.iter() {
            // Of a free node, or one that is not failed, this is nothing.
            let _ = self.floor.dispatcher.machine_mut().repair(node);
        }
        let start = start.min(self.now);
        let taken = |id: &u64| self.floor.dispatcher.running().get(JobId(*id)).is_some();
        let number = (number..=u64::MAX).find(|id| !taken(id))?;
        let estimate = Time(holder.end.map_or(ENDLESS, |end| end.saturating_sub(start).max(1)));
        let job = Told {
            id: JobId(number),
            number,
            arrival: Time(start),
            request: Request::nodes(nodes.len() as u32),
            service: Service::Run(estimate),
            estimate,
        };
        let id = job.id;
        if self.floor.dispatcher.hold(job, Time(start), placement).is_err() {
            self.floor.doubtful.extend(nodes.iter());
            return None;
        }
        self.holders.insert(id, holder);
        Some(id)
    }

    /// The records that may sleep: nothing of them can change a plan before an object of them
    /// changes.
    pub(super) fn quiet(&self, plot: &Plot<'_>, records: &[Record<'a>]) -> Vec<Quiet> {
        let (index, now) = (self.index, self.now as i64);
        let alone = |record: &&Record<'_>| {
            index.rest.is_some()
                && self.floor.has_awake(&record.placement.uid())
                && record.placement.created() <= now
                && record.is_quiet(plot, index)
        };
        let quiet = |record: &Record<'_>| Quiet {
            placement: record.placement.uid(),
            machine: plot.name.to_string(),
            namespace: record.namespace().to_string(),
            created: record.placement.created(),
            jobs: record.placement.spec.jobs().to_vec(),
            nodes: record.placement.spec.nodes.clone(),
        };
        records.iter().filter(alone).map(quiet).collect()
    }

    /// Keeps the machine for the next turn, of a world that rests.
    pub(super) fn leave(mut self, started: impl Iterator<Item = JobId>, memory: &mut Memory) {
        self.floor.leave(self.holders.into_keys().chain(started));
        memory.floor = self.index.rest.and_then(|rest| self.floor.kept(rest));
    }
}

/// The records that sleep on a machine, in no order.
fn asleep<'a>(plot: &Plot<'_>, index: &Index<'a>) -> impl Iterator<Item = &'a Placement> {
    let quiet = index.rest.into_iter().flat_map(|rest| rest.records_on(plot.name));
    quiet.filter_map(|quiet| index.world.placements.get(&quiet.placement))
}

/// The number of a record that holds nodes.
fn number(placement: &Placement) -> u64 {
    let version = placement.version_number().min(u128::from(PROPOSED - 1)) as u64;
    if placement.status.confirmed { version } else { PROPOSED | version }
}

/// The Job of a record that holds its nodes.
fn holder_of<'a>(index: &Index<'a>, placement: &'a Placement) -> Holder<'a> {
    holder_with(placement, index.unit_of(placement).as_ref())
}

fn holder_with<'a>(placement: &'a Placement, unit: Option<&Unit<'_>>) -> Holder<'a> {
    let created = placement.created().max(0) as u64;
    let end = unit.and_then(Unit::seconds).map(|run| created.saturating_add(run));
    Holder { kind: "Job", namespace: placement.namespace(), name: &placement.spec.job, end }
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
pub(super) struct Holder<'a> {
    pub(super) kind: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// When it ends, if that is known.
    pub(super) end: Option<u64>,
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

    pub(super) fn named(&self) -> String {
        format!("{} {}/{}", shown(self.kind), shown(self.namespace), shown(self.name))
    }
}
