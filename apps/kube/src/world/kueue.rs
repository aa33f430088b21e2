//! Assigns Kueue quota to Jobs.

use std::collections::BTreeMap;

use super::state::World;
use crate::objects::{
    AdmissionCheck, CheckState, Object as _, ObjectRef, Quota, ResourceFlavor, Uid, Workload,
};

/// The Kueue objects in the cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kueue {
    pub(crate) workloads: BTreeMap<Uid, Workload>,
    pub(crate) checks: BTreeMap<String, AdmissionCheck>,
    pub(crate) flavors: BTreeMap<String, ResourceFlavor>,
    /// The reason why the objects cannot be read.
    pub(crate) fault: Option<String>,
}

impl World {
    /// Sets each Job's quota. If several Workloads have our check, prefers those that are not being
    /// deleted, and among these one that holds quota.
    pub(crate) fn join_quota(&mut self) {
        for job in self.jobs.values_mut() {
            job.quota = None;
        }
        let workloads = self.kueue.workloads.values();
        let (old, current): (Vec<_>, Vec<_>) = workloads.partition(|one| one.is_terminating());
        for workload in current.into_iter().chain(old) {
            if let Some(job) = workload.job().and_then(|uid| self.jobs.get_mut(&uid))
                && job.metadata.namespace == workload.metadata.namespace
                && (job.quota.is_none() || !workload.is_terminating())
            {
                let quotas = job.quota.take().into_iter().chain(quota(&self.kueue, workload));
                job.quota = quotas.max_by_key(|quota| quota.reserved);
            }
        }
    }
}

/// Returns the quota for a Workload that has our check.
pub(crate) fn quota(kueue: &Kueue, workload: &Workload) -> Option<Quota> {
    let checks = workload.status.admission_checks.iter().enumerate();
    let ours = |name: &str| kueue.checks.get(name).is_some_and(AdmissionCheck::is_ours);
    let (index, check) = checks.into_iter().find(|(_, check)| ours(&check.name))?;
    let admission = workload.status.admission.as_ref();
    let sets = admission.map_or(&[][..], |admission| &admission.pod_set_assignments);
    let names: Vec<&String> = sets.iter().flat_map(|set| set.flavors.values()).collect();
    let flavors = names.iter().filter_map(|name| kueue.flavors.get(*name));
    let flavors: Vec<_> = flavors.map(|flavor| &flavor.spec).collect();
    let ended = workload.status.reclaimable_pods.iter().map(|pods| Some(pods.count));
    let mut counts = sets.iter().map(|set| set.count).chain(ended);
    Some(Quota {
        workload: ObjectRef::of(workload),
        check: check.clone(),
        index,
        priority: workload.spec.priority.unwrap_or(0),
        // An unread flavor may restrict the nodes, so quota counts only once all flavors are read.
        reserved: workload.is_reserved()
            && !matches!(check.state, CheckState::Retry | CheckState::Rejected)
            && flavors.len() == names.len(),
        pods: counts.try_fold(0, |all: u32, count| Some(all.saturating_add(count?))),
        topology: sets.iter().any(|set| set.topology.is_some()),
        selector: flavors.iter().flat_map(|flavor| flavor.node_labels.clone()).collect(),
        tolerations: flavors.iter().flat_map(|flavor| flavor.tolerations.clone()).collect(),
    })
}
