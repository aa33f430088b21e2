//! Decides which placements are confirmed, kept or deleted.
//!
//! A placement is confirmed if it overlaps neither a confirmed placement nor an older proposal. A
//! single watch delivers placements in the order in which they were written, so a replica that has
//! seen a placement has also seen all older ones. Therefore, at most one of two conflicting
//! proposals is confirmed, no matter how slow a replica is.

use std::collections::{HashMap, HashSet};

use pavior::NodeId;
use pavior::text::shown;

use super::action::{Absence, Action};
use super::context::PlanContext;
use super::memory::Memory;
use super::requirements::NodeRequirements;
use crate::objects::{Job, Node, Object as _, ObjectRef, Placement, Pod, Uid};
use crate::world::{Index, JobGroup};

/// A placement and its nodes.
pub(super) struct Record<'a> {
    pub(super) placement: &'a Placement,
    /// The Jobs, or `None` if one of them no longer exists.
    pub(super) group: Option<JobGroup<'a>>,
    /// The nodes that belong to the machine, in rank order. No other placement may contain them.
    pub(super) held: Vec<NodeId>,
    /// True if the placement is confirmed and kept. Only then may its pods be opened.
    pub(super) is_valid: bool,
}

impl<'a> Record<'a> {
    pub(super) fn namespace(&self) -> &'a str {
        self.placement.namespace()
    }

    /// Returns the nodes by rank, or no nodes if one of them does not belong to the machine.
    pub(super) fn ranked_nodes(&self) -> &[NodeId] {
        let is_complete = self.held.len() == self.placement.spec.nodes.len();
        if is_complete { &self.held } else { &[] }
    }
}

/// Decides which of a machine's placements are valid. Returns the placements, oldest first.
pub(super) fn judge<'a>(
    context: PlanContext<'a>,
    memory: &mut Memory,
    actions: &mut Vec<Action>,
) -> Vec<Record<'a>> {
    let mut records = on_machine(context);
    let mut owners = NodeOwners::of(&records);
    for record in &mut records {
        let placement = record.placement;
        if placement.is_terminating() {
            continue;
        }
        let why = if let Some(why) = obsolete(context.index, record) {
            Some(why)
        } else if placement.is_confirmed() {
            broken(context, record, memory)
        } else if owners.conflict_with(record) {
            Some("another placement holds one of its nodes".to_string())
        } else {
            unfit(context, record)
        };
        if !placement.is_confirmed() {
            owners.add_proposal(record);
        }
        match why {
            Some(why) => {
                let absent = missing_job(context.index, placement);
                actions.push(Action::Withdraw { placement: ObjectRef::of(placement), why, absent });
            }
            None if placement.is_confirmed() => record.is_valid = true,
            None => actions.push(Action::Confirm { placement: ObjectRef::of(placement) }),
        }
    }
    records
}

/// The Job that owns each node according to confirmed placements and older proposals.
struct NodeOwners<'a> {
    confirmed: HashMap<NodeId, &'a Uid>,
    proposed: HashMap<NodeId, &'a Uid>,
}

impl<'a> NodeOwners<'a> {
    /// Returns the owners in confirmed placements. If there are no proposals, returns no owners.
    fn of(records: &[Record<'a>]) -> NodeOwners<'a> {
        let mut confirmed = HashMap::new();
        let has_proposal = records.iter().any(|record| !record.placement.is_confirmed());
        let is_confirmed = |record: &&Record<'_>| has_proposal && record.placement.is_confirmed();
        for record in records.iter().filter(is_confirmed) {
            for &node in &record.held {
                confirmed.entry(node).or_insert(&record.placement.spec.job_uid);
            }
        }
        NodeOwners { confirmed, proposed: HashMap::new() }
    }

    fn add_proposal(&mut self, record: &Record<'a>) {
        for &node in &record.held {
            self.proposed.entry(node).or_insert(&record.placement.spec.job_uid);
        }
    }

    /// Returns true if a proposal contains a node that belongs to another Job.
    fn conflict_with(&self, record: &Record<'_>) -> bool {
        let is_other = |job: &&Uid| **job != record.placement.spec.job_uid;
        record.ranked_nodes().iter().any(|node| {
            self.confirmed.get(node).is_some_and(is_other)
                || self.proposed.get(node).is_some_and(is_other)
        })
    }
}

/// Returns the placements on a machine, oldest first.
fn on_machine<'a>(context: PlanContext<'a>) -> Vec<Record<'a>> {
    let PlanContext { layout, index, .. } = context;
    let all = index.world.placements.values();
    let mut here: Vec<&Placement> =
        all.filter(|placement| placement.spec.machine == layout.name).collect();
    here.sort_by_cached_key(|placement| (placement.version_number(), placement.id()));
    let record = |placement: &'a Placement| {
        let names = placement.spec.nodes.iter();
        let held = names.filter_map(|name| layout.map.ids.get(name.as_str()).copied()).collect();
        Record { placement, group: index.group_of(placement), held, is_valid: false }
    };
    here.into_iter().map(record).collect()
}

/// Returns a placement's first Job if that Job is the only one missing. That Job may still exist,
/// because watches may lag behind. Other Jobs in a set cannot be checked, because their names are
/// unknown.
fn missing_job(index: &Index<'_>, placement: &Placement) -> Option<Absence> {
    let first = &placement.spec.job_uid;
    let is_missing = |uid: &&Uid| index.job(uid).is_none();
    let only_first = placement.spec.jobs().iter().filter(is_missing).eq([first]);
    only_first.then(|| {
        Absence::Job(ObjectRef {
            namespace: placement.namespace().to_string(),
            name: placement.spec.job.clone(),
            uid: first.clone(),
            ..ObjectRef::default()
        })
    })
}

/// Returns the reason a placement is no longer needed, or `None` if it is still needed.
fn obsolete(index: &Index<'_>, record: &Record<'_>) -> Option<String> {
    let Some(group) = &record.group else {
        return Some("its Job no longer exists".to_string());
    };
    if group.is_finished() {
        return Some("its Job has finished".to_string());
    }
    if record.ranked_nodes().is_empty() && !runs_on(index, group, &record.placement.spec.nodes) {
        return Some("one of its nodes does not belong to the machine".to_string());
    }
    let has_open_pod = |job: &&Job| index.pods_of(job).any(|pod| pod.spec.gate().is_none());
    (group.has_idle_job() && !group.jobs().iter().any(has_open_pod))
        .then(|| "its Job is suspended".to_string())
}

/// Returns true if one of a group's pods runs on one of these nodes.
fn runs_on(index: &Index<'_>, group: &JobGroup<'_>, nodes: &[String]) -> bool {
    let mut used = group.jobs().iter().flat_map(|job| index.pods_of(job)).filter_map(Pod::node);
    used.any(|node| nodes.iter().any(|name| name == node))
}

/// Returns the reason why a proposal cannot be confirmed: a node is unavailable or not free.
fn unfit(context: PlanContext<'_>, record: &Record<'_>) -> Option<String> {
    let index = context.index;
    let group = record.group.as_ref()?;
    let requirements = NodeRequirements::distinct(group.jobs());
    let uids: HashSet<&str> = group.jobs().iter().map(|job| job.id()).collect();
    // Users can set a pod's owner, so an owner in another namespace is ignored.
    let owns = |pod: &Pod| {
        pod.namespace() == record.namespace()
            && pod.owner_id().is_some_and(|owner| uids.contains(owner))
    };
    record.placement.spec.nodes.iter().find_map(|name| {
        let is_available = index.world.nodes.get(name).is_some_and(|node| {
            context.can_use(node) && requirements.iter().all(|required| required.allows(node))
        });
        if !is_available {
            return Some(format!("{} is unavailable", shown(name)));
        }
        let is_occupied = index.pods_on(name).any(|pod| pod.occupies_node() && !owns(pod));
        is_occupied.then(|| format!("{} is not free", shown(name)))
    })
}

/// Returns a fault if a node does not match a suspended Job's flavors. Kueue may revoke quota and
/// reserve it again with other flavors before the daemon notices.
fn flavor_mismatch(index: &Index<'_>, group: &JobGroup<'_>, record: &Record<'_>) -> Option<String> {
    let nodes = &record.placement.spec.nodes;
    group.bases().find_map(|(job, base)| {
        let quota = job.quota.as_ref().filter(|_| job.is_suspended())?;
        if index.pods_of(job).next().is_some() {
            return None;
        }
        let count = job.spec.completions.unwrap_or(0) as usize;
        let names = nodes.iter().skip(base).take(count);
        let mut nodes = names.filter_map(|name| index.world.nodes.get(name));
        let other = nodes.find(|node| !node.is_selected(&quota.selector))?;
        Some(format!("{} does not match the Job's Kueue flavor", shown(other.name())))
    })
}

/// Returns the reason why a confirmed placement must be deleted, if any. For example, a pod may be
/// unable to start on its node. Running pods are kept.
fn broken(context: PlanContext<'_>, record: &Record<'_>, memory: &mut Memory) -> Option<String> {
    let index = context.index;
    let group = record.group.as_ref()?;
    if let Some(why) = flavor_mismatch(index, group, record) {
        return Some(why);
    }
    let has_waiting_pod = |job: &&Job| index.pods_of(job).any(|pod| pod.node().is_none());
    if !group.jobs().iter().any(has_waiting_pod) {
        return None;
    }
    let stalled = stalled_pods(index, group, record);
    for (job, base) in group.bases() {
        let requirements = NodeRequirements::of_job(job);
        let end = base + job.spec.completions.unwrap_or(0) as usize;
        let nodes = record.placement.spec.nodes.iter().enumerate();
        for (rank, name) in nodes.take(end).skip(base) {
            let Some(pod) = stalled.get(&rank) else { continue };
            let is_usable = |node: &Node| context.can_use(node) && requirements.tolerates(node);
            let is_available = index.world.nodes.get(name).is_some_and(is_usable);
            if !is_available {
                return Some(format!("{} is unavailable", shown(name)));
            }
            let owner = &record.placement.spec.job_uid;
            if let Some(why) = refused(context, owner, pod, name, memory) {
                return Some(why);
            }
        }
    }
    None
}

/// Returns one unbound pod for each rank that has unbound pods, except for ranks that already have
/// a pod running on the assigned node.
fn stalled_pods<'a>(
    index: &Index<'a>,
    group: &JobGroup<'a>,
    record: &Record<'_>,
) -> HashMap<usize, &'a Pod> {
    let mut stalled = HashMap::new();
    let mut running = HashSet::new();
    for (rank, pod) in group.pods(index) {
        let Some(rank) = rank else { continue };
        let Some(name) = record.placement.spec.nodes.get(rank) else { continue };
        match pod.node() {
            None => drop(stalled.entry(rank).or_insert(pod)),
            Some(node) if node == name => drop(running.insert(rank)),
            Some(_) => {}
        }
    }
    stalled.retain(|rank, _| !running.contains(rank));
    stalled
}

/// Returns the scheduler's reason if the scheduler has refused an open pod for too long.
fn refused(
    context: PlanContext<'_>,
    job: &Uid,
    pod: &Pod,
    node: &str,
    memory: &mut Memory,
) -> Option<String> {
    let message = pod.unschedulable_message().filter(|_| pod.spec.gate().is_none())?;
    let since = *memory.refused_since.entry(pod.uid()).or_insert(context.now);
    if context.now < since + context.layout.config.patience_s {
        return None;
    }
    memory.avoid(job, node, context.now);
    let message: String = message.chars().take(200).collect();
    Some(format!("the scheduler rejected {}: {}", shown(node), shown(&message)))
}
