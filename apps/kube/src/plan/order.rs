//! The queue order, which is by priority and then by creation time. A namespace that exceeds its
//! limits takes turns with the others: its Jobs queue behind all Jobs created before its latest
//! placement. Without this rule, the older Jobs in such a namespace would take over the nodes of
//! every Job that ends. Other Jobs that need larger boxes would then have to wait until all those
//! older Jobs had run.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::config::MachineConfig;
use super::context::PlanContext;
use super::memory::Memory;
use super::records::Record;
use crate::objects::Object as _;
use crate::world::{Index, JobGroup};

/// Returns the number of nodes that each namespace holds.
pub(super) fn held<'a>(records: &[Record<'a>]) -> HashMap<&'a str, u32> {
    let mut nodes: HashMap<&str, u32> = HashMap::new();
    for record in records {
        *nodes.entry(record.namespace()).or_default() += record.held.len() as u32;
    }
    nodes
}

/// A group that has no placement.
pub(super) struct WaitingGroup<'a> {
    pub(super) group: JobGroup<'a>,
    priority: i64,
    /// True if all of the group's pods are waiting, or if the group gets its box before its pods
    /// exist.
    pub(super) is_ready: bool,
}

impl<'a> WaitingGroup<'a> {
    fn of(group: JobGroup<'a>, index: &Index<'a>) -> WaitingGroup<'a> {
        let quota = group.jobs().iter().filter_map(|job| job.quota.as_ref());
        let mut priority = quota.map(|quota| quota.priority).max();
        let (mut gated, mut has_open_pod) = (HashSet::new(), false);
        for (rank, pod) in group.pods(index) {
            priority = priority.max(Some(pod.spec.priority.unwrap_or(0)));
            match rank {
                Some(rank) if pod.spec.gate().is_some() => drop(gated.insert(rank)),
                Some(_) => has_open_pod = true,
                None => {}
            }
        }
        let is_gated = gated.len() as u64 == group.remaining() && !gated.is_empty();
        let is_ready = !has_open_pod && (is_gated || group.awaits_admission());
        WaitingGroup { group, priority: priority.unwrap_or(0), is_ready }
    }
}

/// Returns, in queue order, the groups that have no placement. `held` is the number of nodes that
/// each namespace holds.
pub(super) fn waiting<'a>(
    context: PlanContext<'a>,
    held: &HashMap<&str, u32>,
    groups: Vec<JobGroup<'a>>,
    memory: &Memory,
) -> Vec<WaitingGroup<'a>> {
    let needs_box = |group: &JobGroup<'_>| !group.is_inactive() && !group.is_placed(context.index);
    let groups = groups.into_iter().filter(needs_box);
    let mut all: Vec<WaitingGroup<'a>> =
        groups.map(|group| WaitingGroup::of(group, context.index)).collect();
    let crowded = crowded(&context.layout.config, held, &all, memory);
    all.sort_by_cached_key(|WaitingGroup { group, priority, .. }| {
        let job = group.first();
        let placed_at = crowded.get(job.namespace()).copied().unwrap_or(i64::MIN);
        (Reverse(*priority), job.created().max(placed_at), job.created(), job.id())
    });
    all
}

/// Returns the namespaces whose waiting Jobs exceed their limits, with the time of each namespace's
/// latest placement.
fn crowded<'a>(
    config: &MachineConfig,
    held: &HashMap<&str, u32>,
    waiting: &[WaitingGroup<'a>],
    memory: &Memory,
) -> HashMap<&'a str, i64> {
    let mut requested: HashMap<&str, (usize, u64)> = HashMap::new();
    for WaitingGroup { group, .. } in waiting.iter().filter(|waiting| waiting.is_ready) {
        let (jobs, nodes) = requested.entry(group.first().namespace()).or_default();
        *jobs += 1;
        *nodes += group.remaining();
    }
    let placed_at = |(name, (jobs, nodes)): (&'a str, (usize, u64))| {
        let nodes = nodes + u64::from(held.get(name).copied().unwrap_or(0));
        let is_over_limit =
            jobs > config.queued_per_namespace || nodes > u64::from(config.nodes_per_namespace);
        Some((name, *memory.placed_at.get(name).filter(|_| is_over_limit)?))
    };
    requested.into_iter().filter_map(placed_at).collect()
}
