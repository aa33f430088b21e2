//! What becomes of the records: which may be confirmed, and which are given up.
//!
//! A record may be confirmed if none that overlaps it is confirmed, and none that overlaps it is
//! older. Records are read by one watch, in the order in which they were written: who sees a record
//! has seen all that are older. So of two copies of this program at most one confirms, however slow
//! the other is.

use std::collections::{HashMap, HashSet};

use pavior::NodeId;
use pavior::text::shown;

use super::act::{Act, Seen, Unless};
use super::demands::Demands;
use super::{Memory, Plot};
use crate::objects::{Job, Known as _, Placement, Pod, Uid};
use crate::unit::Unit;
use crate::world::Index;

/// A record, and where its nodes lie.
pub(crate) struct Record<'a> {
    pub(crate) placement: &'a Placement,
    /// Its Jobs; none if one of them is gone.
    pub(crate) unit: Option<Unit<'a>>,
    /// By rank; empty if a node is none of the machine's.
    pub(crate) nodes: Vec<NodeId>,
    /// The others of such a record.
    left: Vec<NodeId>,
    /// Whether pods may be opened for it: it is confirmed, and is not given up.
    pub(crate) stands: bool,
}

impl<'a> Record<'a> {
    pub(crate) fn namespace(&self) -> &'a str {
        self.placement.namespace()
    }

    /// The nodes that no other record may have while it is there, in whatever state it is.
    pub(crate) fn held(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.iter().chain(&self.left).copied()
    }
}

/// The records of a machine, oldest first, and what is to be done with them.
pub(crate) fn judge<'a>(
    plot: &Plot<'_>,
    index: &Index<'a>,
    memory: &mut Memory,
    now: i64,
    acts: &mut Vec<Act>,
) -> Vec<Record<'a>> {
    let mut records = read(plot, index);
    // The Job that has each node, by confirmed records, and by those that are older.
    let (mut confirmed, mut older) = (HashMap::new(), HashMap::new());
    let proposed = records.iter().any(|record| !record.placement.status.confirmed);
    for record in records.iter().filter(|record| proposed && record.placement.status.confirmed) {
        for node in record.held() {
            confirmed.entry(node).or_insert(&record.placement.spec.job_uid);
        }
    }
    for record in &mut records {
        let placement = record.placement;
        let own = &placement.spec.job_uid;
        let others = |by: &HashMap<NodeId, &Uid>, nodes: &[NodeId]| {
            nodes.iter().any(|node| by.get(node).is_some_and(|job| *job != own))
        };
        let why = if placement.is_going() {
            continue;
        } else if let Some(why) = useless(index, record) {
            Some(why)
        } else if !placement.status.confirmed
            && (others(&confirmed, &record.nodes) || others(&older, &record.nodes))
        {
            Some("another one has its nodes".to_string())
        } else {
            fault(plot, index, record, memory, now)
        };
        if !placement.status.confirmed {
            for node in record.held() {
                older.entry(node).or_insert(own);
            }
        }
        match why {
            Some(why) => {
                let unless = unread(index, placement);
                acts.push(Act::Withdraw { placement: Seen::of(placement), why, unless });
            }
            None if placement.status.confirmed => record.stands = true,
            None => acts.push(Act::Confirm { placement: Seen::of(placement) }),
        }
    }
    records
}

/// What is wrong with the nodes of a record.
fn fault(
    plot: &Plot<'_>,
    index: &Index<'_>,
    record: &Record<'_>,
    memory: &mut Memory,
    now: i64,
) -> Option<String> {
    if record.placement.status.confirmed {
        broken(plot, index, record, memory, now)
    } else {
        unfit(plot, index, record)
    }
}

fn read<'a>(plot: &Plot<'_>, index: &Index<'a>) -> Vec<Record<'a>> {
    let all = index.world.placements.values();
    let mut own: Vec<&Placement> = all.filter(|one| one.spec.machine == plot.name).collect();
    own.sort_by_cached_key(|placement| (placement.version_number(), placement.id()));
    let record = |placement: &'a Placement| {
        let names = &placement.spec.nodes;
        let ids = names.iter().filter_map(|name| plot.places.ids.get(name.as_str()).copied());
        let ids: Vec<NodeId> = ids.collect();
        let whole = ids.len() == names.len();
        let (nodes, left) = if whole { (ids, Vec::new()) } else { (Vec::new(), ids) };
        Record { placement, unit: index.unit_of(placement), nodes, left, stands: false }
    };
    own.into_iter().map(record).collect()
}

/// The Job of a record, if it alone is missing: it may be younger than what was read of Jobs. Of
/// others of a set no name is known.
fn unread(index: &Index<'_>, placement: &Placement) -> Option<Unless> {
    let own = &placement.spec.job_uid;
    let missing = |uid: &&Uid| index.job(uid).is_none();
    let is_own = placement.spec.jobs().iter().filter(missing).eq([own]);
    is_own.then(|| {
        Unless::Job(Seen {
            namespace: placement.namespace().to_string(),
            name: placement.spec.job.clone(),
            uid: own.clone(),
            ..Seen::default()
        })
    })
}

/// Why a record is of no use any more.
fn useless(index: &Index<'_>, record: &Record<'_>) -> Option<String> {
    let Some(unit) = &record.unit else {
        return Some("its Job is gone".to_string());
    };
    if unit.is_over() {
        return Some("its Job is over".to_string());
    }
    if record.nodes.is_empty() {
        return Some("its nodes are none of the machine's".to_string());
    }
    let open = |job: &&Job| index.pods_of(job).any(|pod| pod.gate().is_none());
    (unit.is_suspended() && !unit.jobs().iter().any(open))
        .then(|| "its Job is suspended".to_string())
}

/// Why a proposal cannot be confirmed: a node cannot be had any more.
fn unfit(plot: &Plot<'_>, index: &Index<'_>, record: &Record<'_>) -> Option<String> {
    let unit = record.unit.as_ref()?;
    let demands = Demands::of_all(unit.jobs());
    let uids: HashSet<&str> = unit.jobs().iter().map(|job| job.id()).collect();
    let owns = |pod: &Pod| pod.owner_id().is_some_and(|owner| uids.contains(owner));
    record.placement.spec.nodes.iter().find_map(|name| {
        let right = index.world.nodes.get(name).is_some_and(|node| {
            node.is_ready()
                && demands.iter().all(|one| one.allow(node))
                && plot.site.has_its_resource(node)
        });
        if !right {
            return Some(format!("{} is not available", shown(name)));
        }
        let other = index.pods_on(name).any(|pod| super::occupies(pod) && !owns(pod));
        other.then(|| format!("{} is not free", shown(name)))
    })
}

/// A node that is not of the flavors that Kueue gave a Job. While it is suspended and has no pods,
/// its quota may be taken and given again with others before that is seen.
fn of_another_flavor(index: &Index<'_>, unit: &Unit<'_>, record: &Record<'_>) -> Option<String> {
    let nodes = &record.placement.spec.nodes;
    unit.bases().find_map(|(job, base)| {
        let quota = job.quota.as_ref().filter(|_| job.is_suspended())?;
        if index.pods_of(job).next().is_some() {
            return None;
        }
        let own = job.spec.completions.unwrap_or(0) as usize;
        let known =
            nodes.iter().skip(base).take(own).filter_map(|name| index.world.nodes.get(name));
        let other = known.into_iter().find(|node| !node.is_selected(&quota.selector))?;
        Some(format!("{} is not of its flavor", shown(other.name())))
    })
}

/// Why a confirmed record does not hold any more: a pod of it has no node, and cannot start on the
/// one that it is to have. Pods that run are let run as long as the cluster lets them.
fn broken(
    plot: &Plot<'_>,
    index: &Index<'_>,
    record: &Record<'_>,
    memory: &mut Memory,
    now: i64,
) -> Option<String> {
    let unit = record.unit.as_ref()?;
    if let Some(why) = of_another_flavor(index, unit, record) {
        return Some(why);
    }
    let waits = |job: &&Job| index.pods_of(job).any(|pod| pod.node().is_none());
    if !unit.jobs().iter().any(waits) {
        return None;
    }
    let mut by_rank: HashMap<usize, (bool, Option<&Pod>)> = HashMap::new();
    for (rank, pod) in unit.pods(index) {
        let Some(rank) = rank else { continue };
        let Some(name) = record.placement.spec.nodes.get(rank) else { continue };
        let (runs, waits) = by_rank.entry(rank).or_default();
        *runs |= pod.node() == Some(name);
        if pod.node().is_none() {
            waits.get_or_insert(pod);
        }
    }
    for (job, base) in unit.bases() {
        let demands = Demands::of_job(job);
        let own = base + job.spec.completions.unwrap_or(0) as usize;
        let nodes = record.placement.spec.nodes.iter().enumerate();
        for (rank, name) in nodes.take(own).skip(base) {
            // A rank without a pod has succeeded, or its pod is about to be made.
            let Some((false, Some(pod))) = by_rank.get(&rank) else { continue };
            let right = index.world.nodes.get(name).is_some_and(|node| {
                node.is_ready() && demands.tolerate(node) && plot.site.has_its_resource(node)
            });
            if !right {
                return Some(format!("{} is not available", shown(name)));
            }
            let unit = &record.placement.spec.job_uid;
            if let Some(why) = refused(plot, unit, pod, name, memory, now) {
                return Some(why);
            }
        }
    }
    None
}

/// What the scheduler of the cluster says of a pod that was opened long ago.
fn refused(
    plot: &Plot<'_>,
    unit: &Uid,
    pod: &Pod,
    node: &str,
    memory: &mut Memory,
    now: i64,
) -> Option<String> {
    let said = pod.refusal().filter(|_| pod.gate().is_none())?;
    let since = *memory.refused.entry(pod.uid()).or_insert(now);
    if now < since + plot.site.patience_s {
        return None;
    }
    memory.avoid(unit, node, now);
    let said: String = said.chars().take(200).collect();
    Some(format!("{} was refused by the scheduler: {}", shown(node), shown(&said)))
}
