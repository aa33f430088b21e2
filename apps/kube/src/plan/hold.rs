//! The machine with those that hold nodes of it: Jobs by their records, and who else has a pod
//! there.

use std::collections::{BTreeMap, HashMap};

use pavior::boxes::tile;
use pavior::scheduling::Dispatcher;
use pavior::text::shown;
use pavior::workload::{Job as Told, Service};
use pavior::{
    Cuboid, Grid, JobId, Machine as Engine, NodeId, Occupancy, Placement as Held, Pool, Request,
    Time,
};

use super::Plot;
use super::demands::Demands;
use super::queue::{ENDLESS, Holding};
use super::records::Record;
use crate::objects::{Known as _, Node, Pod};
use crate::unit::Unit;
use crate::world::Index;

/// The machine, with those that hold nodes.
pub(super) struct State<'a> {
    pub(super) dispatcher: Dispatcher,
    pub(super) now: u64,
    /// The holders by number, the oldest record first. Waiting Jobs have the numbers after theirs.
    holders: Vec<Holder<'a>>,
    pub(super) overlaps: Vec<NodeId>,
    pub(super) pools: Vec<Occupancy>,
    pub(super) known: HashMap<Vec<u32>, (Pool, usize)>,
    /// The nodes that pods with given demands may not have.
    barred: Vec<(Vec<Demands<'a>>, Vec<u32>)>,
}

impl<'a> State<'a> {
    /// Makes the machine, and gives the nodes of records and other pods to their holders.
    ///
    /// # Errors
    /// If the machine or its scheduler cannot be made.
    pub(super) fn of(
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
            overlaps: Vec::new(),
            pools: Vec::new(),
            known: HashMap::new(),
            barred: Vec::new(),
        };
        // True for each node whose holder is confirmed.
        let mut owners: Vec<Option<bool>> = vec![None; plot.places.nodes.len()];
        // What is confirmed has its nodes before what is proposed.
        let (confirmed, proposed): (Vec<&Record<'_>>, Vec<&Record<'_>>) =
            records.iter().partition(|record| record.placement.status.confirmed);
        for record in confirmed.into_iter().chain(proposed) {
            state.hold(plot, record, &mut owners);
        }
        state.hold_strangers(plot, index, &mut owners);
        // Nodes that take no pod and have no holder are failed. Those who hold one go on as long as
        // the cluster lets them.
        let right = |node: &Node| node.is_ready() && site.has_its_resource(node);
        for (at, node) in plot.places.nodes.iter().enumerate() {
            if owners[at].is_none() && !node.is_some_and(right) {
                let _ = state.dispatcher.fail(NodeId(at as u32));
            }
        }
        Ok(state)
    }

    /// The number of the first waiting Job.
    pub(super) fn first(&self) -> u64 {
        self.holders.len() as u64
    }

    /// The holder with a number.
    pub(super) fn holder(&self, id: JobId) -> Option<Holder<'a>> {
        self.holders.get(id.0 as usize).copied()
    }

    /// All that hold nodes, by number.
    pub(super) fn holders(&self) -> impl Iterator<Item = (JobId, Holder<'a>)> {
        self.holders.iter().enumerate().map(|(id, holder)| (JobId(id as u64), *holder))
    }

    /// What holds nodes: the holders, and Jobs that are about to start.
    pub(super) fn holdings(
        &self,
        starts: impl Iterator<Item = (JobId, Holder<'a>)>,
    ) -> Vec<Holding> {
        let holding = |(id, holder): (JobId, Holder<'_>)| {
            let parts = self.dispatcher.machine().placement(id)?.parts().to_vec();
            let start = self.dispatcher.running().get(id)?.start.0;
            let name = holder.named();
            let namespace = shown(holder.namespace).to_string();
            Some(Holding { name, namespace, start, end: holder.end, parts })
        };
        self.holders().chain(starts).filter_map(holding).collect()
    }

    /// Returns the nodes that the pods of a Job may not have by what they demand, in order.
    pub(super) fn barred(&mut self, plot: &Plot<'_>, unit: &Unit<'a>) -> &[u32] {
        let demands = Demands::of_all(unit.jobs());
        let same = |(known, _): &(Vec<Demands<'a>>, _)| {
            known.len() == demands.len()
                && known.iter().zip(&demands).all(|(one, own)| one.are(own))
        };
        let at = self.barred.iter().position(same).unwrap_or_else(|| {
            let bars = |node: &Node| !demands.iter().all(|one| one.allow(node));
            let nodes = plot.places.nodes.iter().enumerate();
            let barred = nodes.filter(|(_, node)| node.is_some_and(bars));
            let barred = barred.map(|(at, _)| at as u32).collect();
            self.barred.push((demands, barred));
            self.barred.len() - 1
        });
        &self.barred[at].1
    }

    /// The Job of a record holds its nodes.
    fn hold(&mut self, plot: &Plot<'_>, record: &Record<'a>, owners: &mut [Option<bool>]) {
        let confirmed = record.placement.status.confirmed;
        let mut free = Vec::new();
        for node in record.held() {
            match owners[node.index()] {
                None => free.push(node),
                Some(true) if confirmed => self.overlaps.push(node),
                Some(_) => {}
            }
        }
        let created = record.placement.created().max(0) as u64;
        let run = record.unit.as_ref().and_then(Unit::seconds);
        let holder = Holder {
            kind: "Job",
            namespace: record.namespace(),
            name: &record.placement.spec.job,
            end: run.map(|run| created.saturating_add(run)),
        };
        self.take(&plot.site.grid, &mut free, holder, created);
        for node in free {
            owners[node.index()] = Some(confirmed);
        }
    }

    /// Pods that have a node without a record hold it, those of one owner together.
    fn hold_strangers(&mut self, plot: &Plot<'_>, index: &Index<'a>, owners: &mut [Option<bool>]) {
        let mut strangers: BTreeMap<Holder<'_>, Vec<NodeId>> = BTreeMap::new();
        for (at, node) in plot.places.nodes.iter().enumerate() {
            let Some(node) = node.filter(|_| owners[at].is_none()) else { continue };
            let pod = index.pods_on(node.name()).find(|pod| super::occupies(pod));
            if let Some(pod) = pod {
                strangers.entry(Holder::of(pod)).or_default().push(NodeId(at as u32));
                owners[at] = Some(true);
            }
        }
        let now = self.now;
        for (holder, mut nodes) in strangers {
            self.take(&plot.site.grid, &mut nodes, holder, now);
        }
    }

    /// Gives nodes to a holder, each of them once. Nothing is done if there are none.
    fn take(&mut self, grid: &Grid, nodes: &mut Vec<NodeId>, holder: Holder<'a>, start: u64) {
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.is_empty() {
            return;
        }
        let around = around(grid, nodes);
        let placement = if around.volume() as usize == nodes.len() {
            Held::Whole(around)
        } else {
            Held::Parts(tile(grid, &around, |node| nodes.binary_search(&node).is_ok()))
        };
        let start = start.min(self.now);
        let number = self.first();
        let estimate = Time(holder.end.map_or(ENDLESS, |end| end.saturating_sub(start).max(1)));
        let job = Told {
            id: JobId(number),
            index: number,
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
