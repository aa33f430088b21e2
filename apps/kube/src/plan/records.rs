//! Decides whether placements are confirmed, kept or deleted.
//!
//! A placement is confirmed if no confirmed placement and no older proposal overlaps it. A single
//! watch delivers placements in the order written, so a replica that sees a placement has seen all
//! older ones. Therefore, at most one of two conflicting proposals is confirmed, no matter how slow
//! a replica is.

use std::collections::{HashMap, HashSet};

use pavior::NodeId;
use pavior::text::shown;

use super::action::{Absence, Action};
use super::layout::Layout;
use super::memory::Memory;
use super::requirements::NodeRequirements;
use crate::objects::{Job, Node, Object as _, ObjectRef, Placement, Pod, Uid};
use crate::world::{Index, JobGroup};

/// A placement with its nodes.
pub(crate) struct Record<'a> {
    pub(crate) placement: &'a Placement,
    /// The Jobs; `None` if one of them no longer exists.
    pub(crate) group: Option<JobGroup<'a>>,
    /// The nodes by rank; empty if any node does not belong to the machine.
    pub(crate) nodes: Vec<NodeId>,
    /// The nodes that belong to the machine, if `nodes` is empty because others do not.
    known_nodes: Vec<NodeId>,
    /// True if pods may be opened: the placement is confirmed and kept.
    pub(crate) is_valid: bool,
}

impl<'a> Record<'a> {
    pub(crate) fn namespace(&self) -> &'a str {
        self.placement.namespace()
    }

    /// Returns the nodes that no other placement may contain.
    pub(crate) fn held(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.iter().chain(&self.known_nodes).copied()
    }
}

/// Decides which of a machine's placements are valid. Returns the placements, oldest first.
pub(crate) fn judge<'a>(
    layout: &Layout<'_>,
    index: &Index<'a>,
    memory: &mut Memory,
    now: i64,
    actions: &mut Vec<Action>,
) -> Vec<Record<'a>> {
    let mut records = on_machine(layout, index);
    // The Job on each node, in confirmed placements and in older proposals.
    let (mut confirmed, mut older) = (HashMap::new(), HashMap::new());
    let has_proposal = records.iter().any(|record| !record.placement.is_confirmed());
    for record in records.iter().filter(|one| has_proposal && one.placement.is_confirmed()) {
        for node in record.held() {
            confirmed.entry(node).or_insert(&record.placement.spec.job_uid);
        }
    }
    for record in &mut records {
        let placement = record.placement;
        let own = &placement.spec.job_uid;
        let meets_other = |jobs: &HashMap<NodeId, &Uid>| {
            record.nodes.iter().any(|node| jobs.get(node).is_some_and(|job| *job != own))
        };
        let why = if placement.is_terminating() {
            continue;
        } else if let Some(why) = obsolete(index, record) {
            Some(why)
        } else if placement.is_confirmed() {
            broken(layout, index, record, memory, now)
        } else if meets_other(&confirmed) || meets_other(&older) {
            Some("another placement holds its nodes".to_string())
        } else {
            unfit(layout, index, record)
        };
        if !placement.is_confirmed() {
            for node in record.held() {
                older.entry(node).or_insert(own);
            }
        }
        match why {
            Some(why) => {
                let absent = missing_job(index, placement);
                actions.push(Action::Withdraw { placement: ObjectRef::of(placement), why, absent });
            }
            None if placement.is_confirmed() => record.is_valid = true,
            None => actions.push(Action::Confirm { placement: ObjectRef::of(placement) }),
        }
    }
    records
}

/// Returns the placements on a machine, oldest first.
fn on_machine<'a>(layout: &Layout<'_>, index: &Index<'a>) -> Vec<Record<'a>> {
    let all = index.world.placements.values();
    let mut here: Vec<&Placement> = all.filter(|one| one.spec.machine == layout.name).collect();
    here.sort_by_cached_key(|placement| (placement.version_number(), placement.id()));
    let record = |placement: &'a Placement| {
        let names = &placement.spec.nodes;
        let ids = names.iter().filter_map(|name| layout.map.ids.get(name.as_str()).copied());
        let ids: Vec<NodeId> = ids.collect();
        let (nodes, known_nodes) =
            if ids.len() == names.len() { (ids, Vec::new()) } else { (Vec::new(), ids) };
        let group = index.group_of(placement);
        Record { placement, group, nodes, known_nodes, is_valid: false }
    };
    here.into_iter().map(record).collect()
}

/// Returns a placement's first Job if only that Job is missing. It may still exist, because watches
/// may lag. Other Jobs in a set cannot be checked, because their names are unknown.
fn missing_job(index: &Index<'_>, placement: &Placement) -> Option<Absence> {
    let own = &placement.spec.job_uid;
    let is_missing = |uid: &&Uid| index.job(uid).is_none();
    let only_own = placement.spec.jobs().iter().filter(is_missing).eq([own]);
    only_own.then(|| {
        Absence::Job(ObjectRef {
            namespace: placement.namespace().to_string(),
            name: placement.spec.job.clone(),
            uid: own.clone(),
            ..ObjectRef::default()
        })
    })
}

/// Returns the reason if a placement is no longer needed.
fn obsolete(index: &Index<'_>, record: &Record<'_>) -> Option<String> {
    let Some(group) = &record.group else {
        return Some("its Job no longer exists".to_string());
    };
    if group.is_finished() {
        return Some("its Job has finished".to_string());
    }
    if record.nodes.is_empty() && !runs_on(index, group, &record.placement.spec.nodes) {
        return Some("a node does not belong to the machine".to_string());
    }
    let has_open_pod = |job: &&Job| index.pods_of(job).any(|pod| pod.gate().is_none());
    (group.is_suspended() && !group.jobs().iter().any(has_open_pod))
        .then(|| "its Job is suspended".to_string())
}

/// Returns true if a pod of a group runs on one of these nodes.
fn runs_on(index: &Index<'_>, group: &JobGroup<'_>, nodes: &[String]) -> bool {
    let mut used = group.jobs().iter().flat_map(|job| index.pods_of(job)).filter_map(Pod::node);
    used.any(|node| nodes.iter().any(|name| name == node))
}

/// Returns the reason if a proposal cannot be confirmed because a node is unavailable or not free.
fn unfit(layout: &Layout<'_>, index: &Index<'_>, record: &Record<'_>) -> Option<String> {
    let group = record.group.as_ref()?;
    let requirements = NodeRequirements::distinct(group.jobs());
    let uids: HashSet<&str> = group.jobs().iter().map(|job| job.id()).collect();
    let owns = |pod: &Pod| pod.owner_id().is_some_and(|owner| uids.contains(owner));
    record.placement.spec.nodes.iter().find_map(|name| {
        let is_available = index.world.nodes.get(name).is_some_and(|node| {
            layout.config.can_use(node) && requirements.iter().all(|one| one.allows(node))
        });
        if !is_available {
            return Some(format!("{} is not available", shown(name)));
        }
        let is_occupied = index.pods_on(name).any(|pod| pod.occupies_node() && !owns(pod));
        is_occupied.then(|| format!("{} is not free", shown(name)))
    })
}

/// Returns a fault if a node does not match the flavors of a suspended Job. Kueue may revoke quota
/// and reserve it again with other flavors before the daemon notices.
fn of_another_flavor(
    index: &Index<'_>,
    group: &JobGroup<'_>,
    record: &Record<'_>,
) -> Option<String> {
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
        Some(format!("{} does not belong to its flavor", shown(other.name())))
    })
}

/// Returns the reason if a confirmed placement must be deleted because a pod cannot start on its
/// node. Running pods are kept.
fn broken(
    layout: &Layout<'_>,
    index: &Index<'_>,
    record: &Record<'_>,
    memory: &mut Memory,
    now: i64,
) -> Option<String> {
    let group = record.group.as_ref()?;
    if let Some(why) = of_another_flavor(index, group, record) {
        return Some(why);
    }
    let has_waiting_pod = |job: &&Job| index.pods_of(job).any(|pod| pod.node().is_none());
    if !group.jobs().iter().any(has_waiting_pod) {
        return None;
    }
    // For each rank: true if a pod runs on the rank's node; and one of the pods without a node.
    let mut by_rank: HashMap<usize, (bool, Option<&Pod>)> = HashMap::new();
    for (rank, pod) in group.pods(index) {
        let Some(rank) = rank else { continue };
        let Some(name) = record.placement.spec.nodes.get(rank) else { continue };
        let (runs, waits) = by_rank.entry(rank).or_default();
        *runs |= pod.node() == Some(name);
        if pod.node().is_none() {
            waits.get_or_insert(pod);
        }
    }
    for (job, base) in group.bases() {
        let requirements = NodeRequirements::of_job(job);
        let end = base + job.spec.completions.unwrap_or(0) as usize;
        let nodes = record.placement.spec.nodes.iter().enumerate();
        for (rank, name) in nodes.take(end).skip(base) {
            // A rank without a pod has succeeded, or its pod does not exist yet.
            let Some((false, Some(pod))) = by_rank.get(&rank) else { continue };
            let is_usable =
                |node: &Node| layout.config.can_use(node) && requirements.tolerates(node);
            let is_available = index.world.nodes.get(name).is_some_and(is_usable);
            if !is_available {
                return Some(format!("{} is not available", shown(name)));
            }
            let job = &record.placement.spec.job_uid;
            if let Some(why) = refused(layout, job, pod, name, memory, now) {
                return Some(why);
            }
        }
    }
    None
}

/// Returns the scheduler's reason if it has refused an open pod for too long.
fn refused(
    layout: &Layout<'_>,
    job: &Uid,
    pod: &Pod,
    node: &str,
    memory: &mut Memory,
    now: i64,
) -> Option<String> {
    let message = pod.unschedulable_message().filter(|_| pod.gate().is_none())?;
    let since = *memory.refused_since.entry(pod.uid()).or_insert(now);
    if now < since + layout.config.patience_s {
        return None;
    }
    memory.avoid(job, node, now);
    let message: String = message.chars().take(200).collect();
    Some(format!("the scheduler rejects {}: {}", shown(node), shown(&message)))
}
