//! In which order Jobs wait: by priority, then by creation.
//!
//! A namespace that has more than its limits let in is served in turn with the others: its Jobs
//! stand behind those that were made before it got its latest place. Else each end of one of its
//! Jobs would let in an older one, and who needs a larger box would wait for all of them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::records::Record;
use super::{Memory, Plot};
use crate::objects::Known as _;
use crate::unit::Unit;
use crate::world::Index;

/// Why a Job is left alone.
pub(super) const KUEUES: &str =
    "topology-aware scheduling of Kueue chooses its nodes: one of the two must go";

/// The nodes that the Jobs of each namespace hold.
pub(super) fn held<'a>(records: &[Record<'a>]) -> HashMap<&'a str, u32> {
    let mut nodes: HashMap<&str, u32> = HashMap::new();
    for run in records.chunk_by(|one, next| one.namespace() == next.namespace()) {
        let many: usize = run.iter().map(|record| record.nodes.len()).sum();
        *nodes.entry(run[0].namespace()).or_default() += many as u32;
    }
    nodes
}

/// The Jobs of a machine without a record, or sets of them, in the order of the queue, and whether
/// all their pods wait. `held` says how many nodes each namespace has.
pub(super) fn waiting<'a>(
    plot: &Plot<'_>,
    index: &Index<'a>,
    held: &HashMap<&str, u32>,
    units: Vec<Unit<'a>>,
    memory: &Memory,
) -> Vec<(Unit<'a>, bool)> {
    let mut all: Vec<(Unit<'_>, bool, i64)> = Vec::new();
    for unit in units {
        let suspended = unit.jobs().iter().all(|job| job.is_idle());
        if unit.is_over() || suspended || unit.is_placed(index) {
            continue;
        }
        let quota = unit.jobs().iter().filter_map(|job| job.quota.as_ref());
        let mut priority = quota.map(|quota| quota.priority).max();
        let (mut gated, mut open) = (HashSet::new(), 0);
        for (rank, pod) in unit.pods(index) {
            priority = priority.max(Some(pod.spec.priority.unwrap_or(0)));
            match rank {
                Some(rank) if pod.gate().is_some() => drop(gated.insert(rank)),
                Some(_) => open += 1,
                None => {}
            }
        }
        let is_whole = gated.len() as u64 == unit.left() && !gated.is_empty();
        let ready = open == 0 && (is_whole || unit.is_promised());
        all.push((unit, ready, priority.unwrap_or(0)));
    }
    let crowded = crowded(plot, held, &all, memory);
    all.sort_by_cached_key(|(unit, _, priority)| {
        let job = unit.first();
        let served = crowded.get(job.namespace()).copied().unwrap_or(i64::MIN);
        (Reverse(*priority), job.created().max(served), job.created(), job.id())
    });
    all.into_iter().map(|(unit, ready, _)| (unit, ready)).collect()
}

/// The namespaces with more waiting Jobs than their limits let in, each with when it got its latest
/// place.
fn crowded<'a>(
    plot: &Plot<'_>,
    held: &HashMap<&str, u32>,
    waiting: &[(Unit<'a>, bool, i64)],
    memory: &Memory,
) -> HashMap<&'a str, i64> {
    let mut asked: HashMap<&str, (usize, u64)> = HashMap::new();
    for (unit, ..) in waiting.iter().filter(|(_, ready, _)| *ready) {
        let (jobs, nodes) = asked.entry(unit.first().namespace()).or_default();
        *jobs += 1;
        *nodes += unit.left();
    }
    let over = |(name, (jobs, nodes)): (&'a str, (usize, u64))| {
        let all = nodes + u64::from(held.get(name).copied().unwrap_or(0));
        let is_over = jobs > plot.site.queued || all > u64::from(plot.site.held);
        is_over.then(|| Some((name, *memory.served.get(name)?))).flatten()
    };
    asked.into_iter().filter_map(over).collect()
}
