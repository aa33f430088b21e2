//! Objects read from the cluster.

use std::collections::{BTreeMap, HashMap};

use super::kueue::Kueue;
use crate::objects::{Job, Machine, Node, Object as _, Placement, Pod, Uid};

/// Objects read from the cluster; each kind is complete.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) machines: BTreeMap<String, Machine>,
    pub(crate) nodes: BTreeMap<String, Node>,
    pub(crate) jobs: BTreeMap<Uid, Job>,
    pub(crate) pods: BTreeMap<Uid, Pod>,
    pub(crate) placements: BTreeMap<Uid, Placement>,
    /// Start times of Jobs in seconds since 1970, where known, for forecasts.
    pub(crate) start_times: HashMap<Uid, i64>,
    pub(crate) kueue: Kueue,
}

impl World {
    /// Records the start time of the Jobs in a confirmed placement.
    pub(crate) fn note_start(&mut self, placement: &Placement) {
        if placement.is_confirmed() {
            let jobs = placement.spec.jobs().iter();
            self.start_times.extend(jobs.map(|job| (job.clone(), placement.created())));
        }
    }
}
