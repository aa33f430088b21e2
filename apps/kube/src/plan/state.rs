//! The machine as occupied by placed Jobs and by other pods.

use std::collections::{BTreeMap, HashMap};

use pavior::answers::Queued;
use pavior::scheduling::AdvanceReservation;
use pavior::text::shown;
use pavior::{Cuboid, JobId, NodeId, Occupancy, Pool, Request, Time};
use pavior_cluster::{ENDLESS_S, Holding, Planner};

use super::demands::Demands;
use super::layout::Layout;
use super::records::Record;
use crate::objects::{Node, Object as _, Pod};
use crate::world::{Index, JobGroup};

/// The occupied machine.
pub(super) struct MachineState<'a> {
    pub(super) planner: Planner,
    pub(super) now: u64,
    /// The holders by number, oldest placement first. The numbers of waiting Jobs follow.
    holders: Vec<Holder<'a>>,
    pub(super) overlaps: Vec<NodeId>,
    known: HashMap<Vec<u32>, Option<Pool>>,
    /// Nodes that pods with given requirements cannot use, now and under any condition of the
    /// nodes.
    excluded: Vec<(Vec<Demands<'a>>, [Vec<u32>; 2])>,
}

impl<'a> MachineState<'a> {
    /// Creates the machine, and assigns nodes to placements and other pods.
    ///
    /// # Errors
    /// Returns an error if the machine or its scheduler cannot be created.
    pub(super) fn of(
        layout: &Layout<'_>,
        index: &Index<'a>,
        records: &[Record<'a>],
        now: i64,
    ) -> Result<MachineState<'a>, String> {
        let config = &layout.config;
        let now = now.max(0) as u64;
        let mut state = MachineState {
            planner: Planner::new(config.grid, &config.strategy, &config.scheduler, now)?,
            now,
            holders: Vec::new(),
            overlaps: Vec::new(),
            known: HashMap::new(),
            excluded: Vec::new(),
        };
        // The value is true for nodes of confirmed holders.
        let mut owners: Vec<Option<bool>> = vec![None; layout.map.nodes.len()];
        // Confirmed placements take precedence over proposals.
        let (confirmed, proposed): (Vec<&Record<'_>>, Vec<&Record<'_>>) =
            records.iter().partition(|record| record.placement.is_confirmed());
        for record in confirmed.into_iter().chain(proposed) {
            state.hold(record, &mut owners);
        }
        state.hold_foreign_pods(layout, index, &mut owners);
        // Nodes that have no holder and do not accept pods count as failed. Existing holders keep
        // running.
        let right = |node: &Node| node.is_ready() && config.has_its_resource(node);
        for (at, node) in layout.map.nodes.iter().enumerate() {
            if owners[at].is_none() && !node.is_some_and(right) {
                let _ = state.planner.dispatcher.fail(NodeId(at as u32));
            }
        }
        state.reserve(layout);
        Ok(state)
    }

    /// Reserves nodes for maintenance that has not yet ended.
    fn reserve(&mut self, layout: &Layout<'_>) {
        let grid = layout.config.grid;
        for (number, one) in layout.config.maintenance.iter().enumerate() {
            let ids = one.nodes.iter().filter_map(|name| layout.map.ids.get(name.as_str()));
            let nodes = ids.map(|&id| Cuboid::new(grid.point(id), [1; 3]));
            let boxes = one.at.into_iter().chain(nodes).collect();
            let times = (Time(one.from), Time(one.to));
            // Unknown node names reserve nothing.
            let reservation = AdvanceReservation::new(number as u64, &grid, boxes, times);
            if let Some(reservation) = reservation.ok().filter(|_| one.to > self.now) {
                let _ = self.planner.dispatcher.reserve(reservation);
            }
        }
    }

    /// Returns the maintenance that a waiting request would run into if placed now.
    pub(super) fn ahead(&mut self, request: &Request, limit: Option<u64>) -> Option<Queued> {
        let estimate = Time(limit.unwrap_or(ENDLESS_S));
        let dispatcher = &mut self.planner.dispatcher;
        if dispatcher.calendar().is_empty() {
            return None;
        }
        let placement = dispatcher.probe_unreserved(request).ok()?;
        let calendar = dispatcher.calendar();
        let met = calendar.in_the_way(Time(self.now), estimate, &placement)?;
        Some(Queued::Ahead { reservation: met.number(), from: met.from(), until: met.to() })
    }

    /// Returns the number of the first waiting Job.
    pub(super) fn first(&self) -> u64 {
        self.holders.len() as u64
    }

    /// Returns the holder with a number.
    pub(super) fn holder(&self, id: JobId) -> Option<Holder<'a>> {
        self.holders.get(id.0 as usize).copied()
    }

    /// Returns all holders by number.
    pub(super) fn holders(&self) -> impl Iterator<Item = (JobId, Holder<'a>)> {
        self.holders.iter().enumerate().map(|(id, holder)| (JobId(id as u64), *holder))
    }

    /// Returns the nodes of holders and of Jobs that are about to start, for the page.
    pub(super) fn holdings(
        &self,
        starts: impl Iterator<Item = (JobId, Holder<'a>)>,
    ) -> Vec<Holding> {
        let holding = |(id, holder): (JobId, Holder<'_>)| {
            let name = holder.named();
            Some(Holding {
                id: name.clone(),
                job: Some(name.strip_prefix("Job ").unwrap_or(&name).to_string()),
                name,
                user: Some(shown(holder.namespace).to_string()),
                start: Some(self.planner.dispatcher.running().get(id)?.start.0),
                end: holder.end,
                parts: self.planner.machine().placement(id)?.parts().to_vec(),
            })
        };
        self.holders().chain(starts).filter_map(holding).collect()
    }

    /// Returns the nodes that a group's requirements exclude at present, and those excluded always.
    pub(super) fn excluded(&mut self, layout: &Layout<'_>, group: &JobGroup<'a>) -> [Vec<u32>; 2] {
        let demands = Demands::of_all(group.jobs());
        let same = |(known, _): &(Vec<Demands<'a>>, _)| {
            known.len() == demands.len()
                && known.iter().zip(&demands).all(|(one, own)| one.are(own))
        };
        let at = self.excluded.iter().position(same).unwrap_or_else(|| {
            let nodes_without = |allow: &dyn Fn(&Demands<'a>, &Node) -> bool| {
                let bars = |node: &Node| !demands.iter().all(|one| allow(one, node));
                let nodes = layout.map.nodes.iter().enumerate();
                let excluded = nodes.filter(|(_, node)| node.is_some_and(bars));
                excluded.map(|(at, _)| at as u32).collect::<Vec<u32>>()
            };
            let now = nodes_without(&|one, node| one.allow(node));
            let always = nodes_without(&|one, node| one.may_allow(node));
            self.excluded.push((demands, [now, always]));
            self.excluded.len() - 1
        });
        self.excluded[at].1.clone()
    }

    /// Returns the pool of all nodes except `without`.
    pub(super) fn pool(&mut self, without: Vec<u32>) -> Option<Pool> {
        if let Some(&known) = self.known.get(&without) {
            return known;
        }
        let mut nodes = Occupancy::all_free(*self.planner.machine().grid());
        for &node in &without {
            nodes.take_node(NodeId(node));
        }
        let pool = self.planner.pool(nodes);
        self.known.insert(without, pool);
        pool
    }

    /// Assigns the nodes of a record.
    fn hold(&mut self, record: &Record<'a>, owners: &mut [Option<bool>]) {
        let confirmed = record.placement.is_confirmed();
        let mut free = Vec::new();
        for node in record.held() {
            match owners[node.index()] {
                None => free.push(node),
                Some(true) if confirmed => self.overlaps.push(node),
                Some(_) => {}
            }
        }
        let created = record.placement.created().max(0) as u64;
        let run = record.group.as_ref().and_then(JobGroup::seconds);
        let holder = Holder {
            kind: "Job",
            namespace: record.namespace(),
            name: &record.placement.spec.job,
            end: run.map(|run| created.saturating_add(run)),
        };
        for node in &free {
            owners[node.index()] = Some(confirmed);
        }
        self.take(free, holder, created);
    }

    /// Assigns nodes to pods without a placement, grouped by owner.
    fn hold_foreign_pods(
        &mut self,
        layout: &Layout<'_>,
        index: &Index<'a>,
        owners: &mut [Option<bool>],
    ) {
        let mut foreign: BTreeMap<Holder<'_>, Vec<NodeId>> = BTreeMap::new();
        for (at, node) in layout.map.nodes.iter().enumerate() {
            let Some(node) = node.filter(|_| owners[at].is_none()) else { continue };
            let pod = index.pods_on(node.name()).find(|pod| pod.occupies_node());
            if let Some(pod) = pod {
                foreign.entry(Holder::of(pod)).or_default().push(NodeId(at as u32));
                owners[at] = Some(true);
            }
        }
        let now = self.now;
        for (holder, nodes) in foreign {
            self.take(nodes, holder, now);
        }
    }

    /// Assigns nodes to a holder. Does nothing if there are no nodes.
    fn take(&mut self, nodes: Vec<NodeId>, holder: Holder<'a>, start: u64) {
        if self.planner.hold(self.first(), nodes, start, holder.end) {
            self.holders.push(holder);
        }
    }
}

/// A holder of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Holder<'a> {
    pub(super) kind: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// The end according to the time limit, in seconds since 1970.
    pub(super) end: Option<u64>,
}

impl<'a> Holder<'a> {
    /// Returns a pod's controller as a holder.
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
