//! Objects read from the cluster.

use std::collections::{BTreeMap, HashMap};

use super::kueue::Kueue;
use crate::objects::{Job, Machine, Node, Placement, Pod, Uid};

/// Objects read from the cluster. The set of objects of each kind is complete.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) machines: BTreeMap<String, Machine>,
    pub(crate) nodes: BTreeMap<String, Node>,
    pub(crate) jobs: BTreeMap<Uid, Job>,
    pub(crate) pods: BTreeMap<Uid, Pod>,
    pub(crate) placements: BTreeMap<Uid, Placement>,
    /// The known start times of Jobs, in seconds since 1970, for forecasts.
    pub(crate) start_times: HashMap<Uid, i64>,
    pub(crate) kueue: Kueue,
}
