//! Determines the nodes that a group may use.

use std::collections::HashMap;

use pavior::{NodeId, Occupancy, Pool, Request};
use pavior_cluster::Planner;

use super::context::Layout;
use super::eligibility::Refusal;
use super::memory::Memory;
use super::requirements::NodeRequirements;
use super::state::MachineState;
use super::waiting::Prospect;
use crate::objects::{Node, Object as _};
use crate::world::JobGroup;

/// The number of distinct sets of requirements that a namespace may add in each plan, in addition
/// to one set for each Job that the namespace may have in the queue.
const MAX_EXTRA_SETS: usize = 64;

/// Results that are shared by groups with the same requirements.
#[derive(Default)]
pub(super) struct NodePools<'a> {
    /// The nodes that each distinct set of requirements allows.
    allowed: HashMap<Vec<NodeRequirements<'a>>, AllowedNodes>,
    /// The number of sets that each namespace has added to `allowed`.
    added: HashMap<&'a str, usize>,
    pools: Vec<(Occupancy, Option<Pool>)>,
}

/// The nodes that requirements allow, marked as free in each `Occupancy`.
#[derive(Clone)]
struct AllowedNodes {
    current: Occupancy,
    /// The nodes that are allowed once temporary taints are removed.
    eventual: Occupancy,
}

impl<'a> MachineState<'a> {
    /// Restricts a request to the nodes that the group may use.
    ///
    /// # Errors
    /// Returns the reason if the request cannot be satisfied on those nodes.
    pub(super) fn confined(
        &mut self,
        layout: &Layout<'_>,
        memory: &Memory,
        group: &JobGroup<'a>,
        request: Request,
    ) -> Result<Request, Refusal> {
        if !self.planner.could_ever_fit(&request) {
            let why = format!("its shape does not fit on {}", layout.config.grid);
            return Err(Refusal::new(Prospect::Invalid, why));
        }
        let Some(AllowedNodes { mut current, eventual }) = self.pools.allowed(layout, group) else {
            let why = "the Jobs in its namespace have too many different node requirements";
            return Err(Refusal::new(Prospect::Waits, why));
        };
        let avoided = memory.avoided.get(group.first().id()).into_iter().flat_map(HashMap::keys);
        for node in avoided.filter_map(|name| layout.map.ids.get(name.as_str())) {
            current.take_node(*node);
        }
        if current.count() == layout.config.grid.nodes() {
            return Ok(request);
        }
        let confined = request.within(self.pools.pool(&mut self.planner, current));
        if self.planner.could_ever_fit(&confined) {
            return Ok(confined);
        }
        // Avoided nodes and nodes with temporary taints may become usable, so the Job can wait.
        let later = request.within(self.pools.pool(&mut self.planner, eventual));
        if self.planner.could_ever_fit(&later) {
            return Ok(confined);
        }
        let why = "no box of its shape satisfies its selectors, affinity and tolerations";
        Err(Refusal::new(Prospect::Blocked, why))
    }
}

impl<'a> NodePools<'a> {
    /// Returns the nodes that a group's requirements allow, or `None` if its namespace has too many
    /// different sets of requirements.
    fn allowed(&mut self, layout: &Layout<'_>, group: &JobGroup<'a>) -> Option<AllowedNodes> {
        let requirements = NodeRequirements::distinct(group.jobs());
        if let Some(known) = self.allowed.get(&requirements) {
            return Some(known.clone());
        }
        let added = self.added.entry(group.first().namespace()).or_default();
        if *added >= layout.config.queued_per_namespace.saturating_add(MAX_EXTRA_SETS) {
            return None;
        }
        *added += 1;
        let nodes_with = |allows: fn(&NodeRequirements<'a>, &Node) -> bool| {
            let mut nodes = Occupancy::all_free(layout.config.grid);
            for (id, node) in layout.map.nodes.iter().enumerate() {
                let mut all = requirements.iter();
                if node.is_some_and(|node| !all.all(|required| allows(required, node))) {
                    nodes.take_node(NodeId(id as u32));
                }
            }
            nodes
        };
        let allowed = AllowedNodes {
            current: nodes_with(NodeRequirements::allows),
            eventual: nodes_with(NodeRequirements::could_allow),
        };
        self.allowed.insert(requirements, allowed.clone());
        Some(allowed)
    }

    /// Returns the pool of these nodes, or `None` if they make up the whole machine.
    fn pool(&mut self, planner: &mut Planner, nodes: Occupancy) -> Option<Pool> {
        if let Some((_, known)) = self.pools.iter().find(|(known, _)| *known == nodes) {
            return *known;
        }
        let pool = planner.pool(nodes.clone());
        self.pools.push((nodes, pool));
        pool
    }
}
