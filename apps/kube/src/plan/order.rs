//! The order of the queue: by priority, then by creation time. A namespace that exceeds its limits
//! takes turns with the others: its Jobs queue behind all Jobs created before its latest placement.
//! Otherwise, whenever one of its Jobs ended, an older one would take its place, and other Jobs
//! that need larger boxes would wait for all of them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::layout::Layout;
use super::memory::Memory;
use super::records::Record;
use crate::objects::Object as _;
use crate::world::{Index, JobGroup};

/// The reason given when a Job is left to Kueue.
pub(super) const TOPOLOGY: &str =
    "Kueue's topology-aware scheduling chooses its nodes: remove that or pavior.dev/shape";

/// Returns the number of nodes that each namespace holds.
pub(super) fn held<'a>(records: &[Record<'a>]) -> HashMap<&'a str, u32> {
    let mut nodes: HashMap<&str, u32> = HashMap::new();
    for run in records.chunk_by(|one, next| one.namespace() == next.namespace()) {
        let many: usize = run.iter().map(|record| record.nodes.len()).sum();
        *nodes.entry(run[0].namespace()).or_default() += many as u32;
    }
    nodes
}

/// Returns the groups without a placement in queue order, each with true if all its pods are
/// waiting. `held` contains the number of nodes that each namespace holds.
pub(super) fn waiting<'a>(
    layout: &Layout<'_>,
    index: &Index<'a>,
    held: &HashMap<&str, u32>,
    groups: Vec<JobGroup<'a>>,
    memory: &Memory,
) -> Vec<(JobGroup<'a>, bool)> {
    let mut all: Vec<(JobGroup<'_>, bool, i64)> = Vec::new();
    for group in groups {
        let suspended = group.jobs().iter().all(|job| job.is_idle());
        if group.is_finished() || suspended || group.is_placed(index) {
            continue;
        }
        let quota = group.jobs().iter().filter_map(|job| job.quota.as_ref());
        let mut priority = quota.map(|quota| quota.priority).max();
        let (mut gated, mut open) = (HashSet::new(), 0);
        for (rank, pod) in group.pods(index) {
            priority = priority.max(Some(pod.spec.priority.unwrap_or(0)));
            match rank {
                Some(rank) if pod.gate().is_some() => drop(gated.insert(rank)),
                Some(_) => open += 1,
                None => {}
            }
        }
        let is_whole = gated.len() as u64 == group.remaining() && !gated.is_empty();
        let ready = open == 0 && (is_whole || group.awaits_admission());
        all.push((group, ready, priority.unwrap_or(0)));
    }
    let crowded = crowded(layout, held, &all, memory);
    all.sort_by_cached_key(|(group, _, priority)| {
        let job = group.first();
        let served = crowded.get(job.namespace()).copied().unwrap_or(i64::MIN);
        (Reverse(*priority), job.created().max(served), job.created(), job.id())
    });
    all.into_iter().map(|(group, ready, _)| (group, ready)).collect()
}

/// Returns namespaces whose waiting Jobs exceed their limits, with the time of their latest
/// placement.
fn crowded<'a>(
    layout: &Layout<'_>,
    held: &HashMap<&str, u32>,
    waiting: &[(JobGroup<'a>, bool, i64)],
    memory: &Memory,
) -> HashMap<&'a str, i64> {
    let mut asked: HashMap<&str, (usize, u64)> = HashMap::new();
    for (group, ..) in waiting.iter().filter(|(_, ready, _)| *ready) {
        let (jobs, nodes) = asked.entry(group.first().namespace()).or_default();
        *jobs += 1;
        *nodes += group.remaining();
    }
    let over = |(name, (jobs, nodes)): (&'a str, (usize, u64))| {
        let all = nodes + u64::from(held.get(name).copied().unwrap_or(0));
        let is_finished = jobs > layout.config.queued || all > u64::from(layout.config.held);
        is_finished.then(|| Some((name, *memory.served.get(name)?))).flatten()
    };
    asked.into_iter().filter_map(over).collect()
}
