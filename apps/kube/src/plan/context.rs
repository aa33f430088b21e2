//! The inputs that all parts of a plan share.

use super::config::{MachineConfig, RESOURCE};
use super::detail::{Audience, Detail};
use super::node_map::NodeMap;
use crate::objects::Node;
use crate::world::Index;

/// A machine and its nodes.
pub(super) struct Layout<'a> {
    pub(super) name: &'a str,
    pub(super) config: MachineConfig,
    pub(super) map: NodeMap<'a>,
}

/// A machine and the state of the cluster at the time of a plan.
#[derive(Clone, Copy)]
pub(super) struct PlanContext<'a> {
    pub(super) layout: &'a Layout<'a>,
    pub(super) index: &'a Index<'a>,
    /// The time in seconds since 1970.
    pub(super) now: i64,
    pub(super) detail: Detail,
}

impl PlanContext<'_> {
    /// Returns true if a node accepts new pods and has the resource that they request. An observer
    /// assumes that a daemon will add our resource.
    pub(super) fn can_use(&self, node: &Node) -> bool {
        let resource = &self.layout.config.resource;
        let is_added = self.detail.audience == Audience::Observer && resource == RESOURCE;
        node.accepts_pods() && (is_added || node.offers(resource))
    }
}
