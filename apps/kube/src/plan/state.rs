//! A machine that is occupied by placed Jobs and other pods.

use std::collections::BTreeMap;

use pavior::answers::Queued;
use pavior::scheduling::AdvanceReservation;
use pavior::text::shown;
use pavior::{Cuboid, JobId, NodeId, Request, Time};
use pavior_cluster::{Explainer, Holding, Planner};

use super::candidates::NodePools;
use super::context::{Layout, PlanContext};
use super::holder::Holder;
use super::records::Record;
use crate::objects::Object as _;
use crate::time::unsigned;
use crate::world::{Index, JobGroup};

/// An occupied machine. `candidates.rs` restricts requests to the nodes that a group may use.
pub(super) struct MachineState<'a> {
    pub(super) planner: Planner,
    pub(super) now: u64,
    /// The holders by number, starting with the oldest placement. Waiting Jobs have higher numbers.
    holders: Vec<Holder<'a>>,
    /// Nodes that are in two confirmed placements.
    pub(super) overlaps: Vec<NodeId>,
    pub(super) pools: NodePools<'a>,
}

/// The kind of holder to which a node is assigned.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Confirmed,
    /// A proposal, or pods without a placement.
    Other,
}

impl<'a> MachineState<'a> {
    /// Creates the machine and assigns nodes to placements and other pods.
    ///
    /// # Errors
    /// Returns an error if the machine or its scheduler cannot be created.
    pub(super) fn of(
        context: PlanContext<'a>,
        records: &[Record<'a>],
    ) -> Result<MachineState<'a>, String> {
        let PlanContext { layout, index, .. } = context;
        let (config, now) = (&layout.config, unsigned(context.now));
        let mut state = MachineState {
            planner: Planner::new(config.grid, &config.strategy, &config.scheduler, now)?,
            now,
            holders: Vec::new(),
            overlaps: Vec::new(),
            pools: NodePools::default(),
        };
        let mut owners: Vec<Option<Owner>> = vec![None; layout.map.nodes.len()];
        // Confirmed placements take precedence over proposals.
        let (confirmed, proposed): (Vec<&Record<'_>>, Vec<&Record<'_>>) =
            records.iter().partition(|record| record.placement.is_confirmed());
        for record in confirmed.into_iter().chain(proposed) {
            state.hold_placement(record, &mut owners);
        }
        state.hold_foreign_pods(layout, index, &mut owners);
        // Nodes that have no holder and do not accept pods count as failed. Existing holders
        // continue to run.
        for (id, node) in layout.map.nodes.iter().enumerate() {
            if owners[id].is_none() && !node.is_some_and(|node| context.can_use(node)) {
                let node = NodeId(id as u32);
                state.planner.fail(node).expect("the map has the machine's nodes");
            }
        }
        state.reserve(layout);
        Ok(state)
    }

    /// Reserves nodes for maintenance that has not ended yet.
    fn reserve(&mut self, layout: &Layout<'_>) {
        let grid = layout.config.grid;
        let periods = layout.config.maintenance.iter().enumerate();
        for (number, period) in periods.filter(|(_, period)| period.to > self.now) {
            let ids = period.nodes.iter().filter_map(|name| layout.map.ids.get(name.as_str()));
            let nodes = ids.map(|&id| Cuboid::new(grid.point(id), [1; 3]));
            let boxes = period.at.into_iter().chain(nodes).collect();
            let times = (Time(period.from), Time(period.to));
            let reservation = AdvanceReservation::new(number as u64, &grid, boxes, times);
            // This can fail only if the period has no known nodes. Such a period reserves nothing.
            if let Ok(reservation) = reservation {
                self.planner.reserve(reservation);
            }
        }
    }

    /// Returns the maintenance period that a waiting request would run into if it were placed now.
    pub(super) fn maintenance_in_the_way(
        &mut self,
        request: &Request,
        limit: Option<u64>,
    ) -> Option<Queued> {
        let period = self.planner.reservation_in_the_way(request, limit)?;
        Some(Queued::Ahead {
            reservation: period.number(),
            from: period.from(),
            until: period.to(),
        })
    }

    pub(super) fn first_waiting_number(&self) -> u64 {
        self.holders.len() as u64
    }

    pub(super) fn holder(&self, id: JobId) -> Option<Holder<'a>> {
        self.holders.get(id.0 as usize).copied()
    }

    pub(super) fn holders(&self) -> impl Iterator<Item = (JobId, Holder<'a>)> {
        self.holders.iter().enumerate().map(|(id, holder)| (JobId(id as u64), *holder))
    }

    /// Calls `explain` with an explainer that knows the holders' names and end times. A reader in a
    /// namespace sees only that namespace's names.
    pub(super) fn with_explainer<T>(
        &self,
        layout: &Layout<'_>,
        reader: Option<&str>,
        explain: impl FnOnce(&Explainer<'_>) -> T,
    ) -> T {
        let name = |job: JobId| match self.holder(job) {
            Some(holder) if reader.is_none_or(|namespace| holder.namespace == namespace) => {
                holder.to_string()
            }
            Some(holder) => format!("a {} in another namespace", shown(holder.kind)),
            None => "a Job that is about to start".to_string(),
        };
        explain(&Explainer {
            grid: &layout.config.grid,
            strategy: &layout.config.strategy.to_string(),
            scheduler: &layout.config.scheduler.to_string(),
            name: &name,
            end: &|job| self.holder(job)?.end.map(Time),
            is_job: &|_| true,
        })
    }

    /// Returns the nodes of holders and of Jobs that are about to start, for the page to show.
    pub(super) fn holdings(
        &self,
        starts: impl Iterator<Item = (JobId, Holder<'a>)>,
    ) -> Vec<Holding> {
        let holding = |(id, holder): (JobId, Holder<'_>)| {
            let name = holder.to_string();
            Some(Holding {
                id: name.clone(),
                // Users refer to a Job by its path, without its kind.
                job: Some(if holder.kind == "Job" { holder.path() } else { name.clone() }),
                name,
                user: Some(shown(holder.namespace).to_string()),
                start: Some(self.planner.dispatcher().running().get(id)?.start.0),
                end: holder.end,
                parts: self.planner.machine().placement(id)?.parts().to_vec(),
            })
        };
        self.holders().chain(starts).filter_map(holding).collect()
    }

    /// Assigns to a placement those of its nodes that have no holder yet.
    fn hold_placement(&mut self, record: &Record<'a>, owners: &mut [Option<Owner>]) {
        let is_confirmed = record.placement.is_confirmed();
        let owner = if is_confirmed { Owner::Confirmed } else { Owner::Other };
        let mut free = Vec::new();
        for &node in &record.held {
            match owners[node.index()] {
                None => free.push(node),
                Some(Owner::Confirmed) if is_confirmed => self.overlaps.push(node),
                Some(_) => {}
            }
        }
        for node in &free {
            owners[node.index()] = Some(owner);
        }
        let created = unsigned(record.placement.created());
        let limit = record.group.as_ref().and_then(JobGroup::seconds);
        let holder = Holder {
            kind: "Job",
            namespace: record.namespace(),
            name: &record.placement.spec.job,
            end: limit.map(|limit| created.saturating_add(limit)),
        };
        self.add_holder(free, holder, created);
    }

    /// Assigns nodes to pods without a placement, grouped by owner.
    fn hold_foreign_pods(
        &mut self,
        layout: &Layout<'_>,
        index: &Index<'a>,
        owners: &mut [Option<Owner>],
    ) {
        let mut foreign: BTreeMap<Holder<'_>, Vec<NodeId>> = BTreeMap::new();
        for (id, node) in layout.map.nodes.iter().enumerate() {
            let Some(node) = node.filter(|_| owners[id].is_none()) else { continue };
            let pod = index.pods_on(node.name()).find(|pod| pod.occupies_node());
            if let Some(pod) = pod {
                foreign.entry(Holder::of(pod)).or_default().push(NodeId(id as u32));
                owners[id] = Some(Owner::Other);
            }
        }
        for (holder, nodes) in foreign {
            self.add_holder(nodes, holder, self.now);
        }
    }

    /// Assigns nodes to a holder. Does nothing if there are no nodes.
    fn add_holder(&mut self, nodes: Vec<NodeId>, holder: Holder<'a>, start: u64) {
        let number = self.holders.len() as u64;
        if self.planner.hold(number, nodes, start, holder.end) {
            self.holders.push(holder);
        }
    }
}
