//! Determines the nodes that a group may use.

use std::collections::HashMap;

use pavior::{NodeId, Occupancy, Pool, Request};

use super::context::Layout;
use super::eligibility::Refusal;
use super::memory::Memory;
use super::requirements::NodeRequirements;
use super::state::MachineState;
use super::waiting::Prospect;
use crate::objects::{Node, Object as _};
use crate::world::JobGroup;

/// Results that are shared by groups with the same requirements.
#[derive(Default)]
pub(super) struct NodePools<'a> {
    /// Pools by excluded nodes.
    pools: HashMap<Vec<NodeId>, Option<Pool>>,
    /// The nodes that each distinct set of requirements excludes.
    excluded: Vec<(Vec<NodeRequirements<'a>>, Excluded)>,
}

/// The nodes that a set of requirements excludes.
#[derive(Clone, Default)]
pub(super) struct Excluded {
    now: Vec<NodeId>,
    /// Nodes that are excluded for reasons other than temporary taints.
    always: Vec<NodeId>,
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
        if !self.could_fit(&request) {
            let why = format!("its shape does not fit on {}", layout.config.grid);
            return Err(Refusal::invalid(why));
        }
        let avoided = memory.avoided.get(group.first().id());
        let Excluded { now: mut excluded, always } = self.excluded(layout, group);
        if let Some(avoided) = avoided {
            excluded.extend(avoided.keys().filter_map(|name| layout.map.ids.get(name.as_str())));
            excluded.sort_unstable();
            excluded.dedup();
        }
        if excluded.is_empty() {
            return Ok(request);
        }
        let confined = request.within(self.pool(excluded));
        // Avoided nodes and nodes with temporary taints may become usable, so the Job can wait.
        if self.could_fit(&confined) || avoided.is_some() {
            return Ok(confined);
        }
        let later = request.within(self.pool(always));
        if self.could_fit(&later) {
            return Ok(confined);
        }
        let why = "no box of its shape satisfies its selectors, affinity and tolerations";
        Err(Refusal { prospect: Prospect::Blocked, why: why.to_string() })
    }

    /// Returns true if a request would fit on the machine without any other jobs.
    fn could_fit(&mut self, request: &Request) -> bool {
        self.planner.could_ever_fit(request)
    }

    /// Returns the nodes that a group's requirements exclude. The results are cached.
    fn excluded(&mut self, layout: &Layout<'_>, group: &JobGroup<'a>) -> Excluded {
        let requirements = NodeRequirements::distinct(group.jobs());
        if let Some((_, known)) =
            self.pools.excluded.iter().find(|(known, _)| *known == requirements)
        {
            return known.clone();
        }
        let nodes_without = |allows: fn(&NodeRequirements<'a>, &Node) -> bool| {
            let is_excluded =
                |node: &Node| !requirements.iter().all(|required| allows(required, node));
            let nodes = layout.map.nodes.iter().enumerate();
            let excluded = nodes.filter(|(_, node)| node.is_some_and(is_excluded));
            excluded.map(|(id, _)| NodeId(id as u32)).collect()
        };
        let excluded = Excluded {
            now: nodes_without(NodeRequirements::allows),
            always: nodes_without(NodeRequirements::could_allow),
        };
        self.pools.excluded.push((requirements, excluded.clone()));
        excluded
    }

    /// Returns the pool that contains all nodes except `without`.
    fn pool(&mut self, without: Vec<NodeId>) -> Option<Pool> {
        if let Some(&known) = self.pools.pools.get(&without) {
            return known;
        }
        let mut nodes = Occupancy::all_free(*self.planner.machine().grid());
        for &node in &without {
            nodes.take_node(node);
        }
        let pool = self.planner.pool(nodes);
        self.pools.pools.insert(without, pool);
        pool
    }
}
