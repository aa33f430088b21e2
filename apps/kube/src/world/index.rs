//! Indexes objects by the Job, node or machine to which they belong.

use std::collections::HashMap;

use super::state::World;
use crate::objects::{Job, MACHINE, Object as _, Placement, Pod, Uid};

/// A world with lookup tables.
pub(crate) struct Index<'a> {
    pub(crate) world: &'a World,
    jobs: HashMap<&'a str, JobEntry<'a>>,
    /// The active pods on each node: the first pod, and any others, which are rare.
    nodes: HashMap<&'a str, (&'a Pod, Vec<&'a Pod>)>,
}

/// The objects that belong to a Job.
#[derive(Default)]
struct JobEntry<'a> {
    /// The Job's active pods with their ranks.
    pods: Vec<(Option<usize>, &'a Pod)>,
    /// The Job's placement, or the oldest one if there are several.
    placement: Option<&'a Placement>,
}

impl<'a> Index<'a> {
    /// Indexes a world. Runs in O(n log n) time for n objects.
    pub(crate) fn of(world: &'a World) -> Index<'a> {
        let count = world.pods.len();
        let (jobs, nodes) = (HashMap::with_capacity(count), HashMap::with_capacity(count));
        let mut index = Index { world, jobs, nodes };
        for pod in world.pods.values().filter(|pod| pod.is_active()) {
            if let Some(owner) = pod.owner_id() {
                // Users can set a pod's owner, so an owner in another namespace is ignored.
                let job = world.jobs.get(owner);
                if job.is_none_or(|job| job.namespace() == pod.namespace()) {
                    index.jobs.entry(owner).or_default().pods.push((pod.rank(), pod));
                }
            }
            if let Some(node) = pod.node() {
                let others = index.nodes.entry(node).and_modify(|(_, others)| others.push(pod));
                others.or_insert((pod, Vec::new()));
            }
        }
        for entry in index.jobs.values_mut() {
            entry.pods.sort_unstable_by_key(|(rank, pod)| (*rank, pod.id()));
        }
        for placement in world.placements.values() {
            for job in placement.spec.jobs() {
                let oldest = &mut index.jobs.entry(&job.0).or_default().placement;
                let is_older =
                    |other: &Placement| placement.version_number() < other.version_number();
                if oldest.is_none_or(is_older) {
                    *oldest = Some(placement);
                }
            }
        }
        index
    }

    pub(crate) fn job(&self, uid: &Uid) -> Option<&'a Job> {
        self.world.jobs.get(uid)
    }

    /// Returns a Job's active pods in rank order, with their ranks.
    pub(crate) fn ranked(&self, job: &Job) -> &[(Option<usize>, &'a Pod)] {
        self.jobs.get(job.id()).map_or(&[], |entry| entry.pods.as_slice())
    }

    /// Returns a Job's active pods in rank order.
    pub(crate) fn pods_of(&self, job: &Job) -> impl Iterator<Item = &'a Pod> {
        self.ranked(job).iter().map(|(_, pod)| *pod)
    }

    /// Returns the active pods on a node.
    pub(crate) fn pods_on(&self, node: &str) -> impl Iterator<Item = &'a Pod> {
        let found = self.nodes.get(node).into_iter();
        found.flat_map(|(first, others)| std::iter::once(first).chain(others)).copied()
    }

    /// Returns a Job's placement, or the oldest one if there are several.
    pub(crate) fn placement_of(&self, job: &Job) -> Option<&'a Placement> {
        self.jobs.get(job.id())?.placement
    }

    /// Returns true if a Job with a shape belongs to a machine: the one that the Job names or, if
    /// it names none, the only machine.
    pub(crate) fn is_on(&self, job: &Job, machine: &str) -> bool {
        let is_only = self.world.machines.len() == 1;
        let named = job.annotation(MACHINE);
        job.shape().is_some() && named.map_or(is_only, |name| name == machine)
    }
}
