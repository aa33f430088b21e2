//! What becomes of the records: which may be confirmed, and which are given up.
//!
//! A record may be confirmed if none that overlaps it is confirmed, and none that overlaps it is
//! older. Records are read by one watch, in the order in which they were written: who sees a record
//! has seen all that are older. So of two copies of this program at most one confirms, however slow
//! the other is.

use std::collections::HashMap;

use pavior_kernel::shown;
use pavior_mesh::NodeId;

use super::act::{Act, Seen};
use super::demands::Demands;
use super::{Memory, Plot};
use crate::objects::{Job, Known as _, Placement, Pod, Uid};
use crate::world::Index;

/// A record, and where its nodes lie.
pub(crate) struct Record<'a> {
    pub(crate) placement: &'a Placement,
    /// By rank; empty if a node is none of the machine's.
    pub(crate) nodes: Vec<NodeId>,
    /// Whether pods may be opened for it: it is confirmed, and is not given up.
    pub(crate) stands: bool,
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
    let mut confirmed: HashMap<NodeId, &Uid> = HashMap::new();
    for record in records.iter().filter(|record| record.placement.status.confirmed) {
        for node in &record.nodes {
            confirmed.entry(*node).or_insert(&record.placement.spec.job_uid);
        }
    }
    let mut older: HashMap<NodeId, &Uid> = HashMap::new();
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
        } else if placement.status.confirmed {
            broken(plot, index, record, memory, now)
        } else if others(&confirmed, &record.nodes) || others(&older, &record.nodes) {
            Some("another one has its nodes".to_string())
        } else {
            unfit(plot, index, record)
        };
        if !placement.status.confirmed {
            for node in &record.nodes {
                older.entry(*node).or_insert(own);
            }
        }
        let placement = Seen::of(placement);
        match why {
            Some(why) => acts.push(Act::Withdraw { placement, why }),
            None if record.placement.status.confirmed => record.stands = true,
            None => acts.push(Act::Confirm { placement }),
        }
    }
    records
}

fn read<'a>(plot: &Plot<'_>, index: &Index<'a>) -> Vec<Record<'a>> {
    let all = index.world.placements.values();
    let mut own: Vec<&Placement> =
        all.filter(|placement| placement.spec.machine == plot.name).collect();
    own.sort_unstable_by_key(|placement| (placement.version_number(), placement.uid()));
    let nodes = |placement: &Placement| {
        let ids = placement.spec.nodes.iter().map(|name| plot.places.ids.get(name).copied());
        ids.collect::<Option<Vec<NodeId>>>().unwrap_or_default()
    };
    let record = |placement| Record { placement, nodes: nodes(placement), stands: false };
    own.into_iter().map(record).collect()
}

/// Why a record is of no use any more.
fn useless(index: &Index<'_>, record: &Record<'_>) -> Option<String> {
    let placement = record.placement;
    let Some(job) = index.world.jobs.get(&placement.spec.job_uid) else {
        return Some("its Job is gone".to_string());
    };
    if job.is_over() || job.is_going() {
        return Some("its Job is over".to_string());
    }
    if record.nodes.is_empty() {
        return Some("its nodes are none of the machine's".to_string());
    }
    let open = |pod: &&&Pod| pod.gate().is_none();
    let held = index.pods_of(&job.uid()).iter().any(|pod| open(&pod));
    (job.is_suspended() && !held).then(|| "its Job is suspended".to_string())
}

/// Why a proposal cannot be confirmed: a node cannot be had any more.
fn unfit(plot: &Plot<'_>, index: &Index<'_>, record: &Record<'_>) -> Option<String> {
    let job = index.world.jobs.get(&record.placement.spec.job_uid)?;
    let template = &job.spec.template.spec;
    let demands = Demands::of(template);
    record.placement.spec.nodes.iter().find_map(|name| {
        let right = index.world.nodes.get(name).is_some_and(|node| {
            node.is_ready() && demands.allow(node) && plot.site.has_its_resource(node)
        });
        if !right {
            return Some(format!("{} is not available", shown(name)));
        }
        let own = |pod: &Pod| pod.owner().as_ref() == Some(&job.uid());
        let other = index.pods_on(name).iter().any(|pod| super::occupies(pod) && !own(pod));
        other.then(|| format!("{} is not free", shown(name)))
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
    let job = index.world.jobs.get(&record.placement.spec.job_uid)?;
    let pods = index.pods_of(&job.uid());
    let demands = Demands::of(&job.spec.template.spec);
    for (rank, name) in record.placement.spec.nodes.iter().enumerate() {
        let of_rank = || pods.iter().filter(|pod| pod.rank() == Some(rank) && !pod.is_going());
        if of_rank().any(|pod| pod.node() == Some(name)) {
            continue;
        }
        // A rank without a pod has succeeded, or its pod is about to be made.
        let waiting = of_rank().find(|pod| pod.node().is_none());
        let right = index.world.nodes.get(name).is_some_and(|node| {
            node.is_ready() && demands.tolerate(node) && plot.site.has_its_resource(node)
        });
        let Some(pod) = waiting else { continue };
        if !right {
            return Some(format!("{} is not available", shown(name)));
        }
        if let Some(why) = refused(plot, job, pod, name, memory, now) {
            return Some(why);
        }
    }
    None
}

/// What the scheduler of the cluster says of a pod that was opened long ago.
fn refused(
    plot: &Plot<'_>,
    job: &Job,
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
    memory.avoid(&job.uid(), node, now);
    let said: String = said.chars().take(200).collect();
    Some(format!("{} was refused by the scheduler: {}", shown(node), shown(&said)))
}
