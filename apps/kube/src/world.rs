//! Everything that was read of the cluster. A plan is made of it alone.

use std::collections::{BTreeMap, HashMap};

use crate::objects::{Job, Known as _, Machine, Node, Placement, Pod, Slice, Uid};
use crate::quota::Kueue;
use crate::unit::Unit;

/// The objects that were read, each kind whole.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) machines: BTreeMap<String, Machine>,
    pub(crate) nodes: BTreeMap<String, Node>,
    pub(crate) jobs: BTreeMap<Uid, Job>,
    pub(crate) pods: BTreeMap<Uid, Pod>,
    pub(crate) placements: BTreeMap<Uid, Placement>,
    /// When Jobs got their nodes, in seconds since 1970, as far as that was seen: for forecasts.
    pub(crate) begun: HashMap<Uid, i64>,
    /// None if they were not read: not every cluster has them.
    pub(crate) slices: Option<BTreeMap<Uid, Slice>>,
    pub(crate) kueue: Kueue,
}

impl World {
    /// Notes when the Jobs of a confirmed record got their nodes.
    pub(crate) fn begin(&mut self, placement: &Placement) {
        if placement.status.confirmed {
            let jobs = placement.spec.jobs().iter();
            self.begun.extend(jobs.map(|job| (job.clone(), placement.created())));
        }
    }
}

/// A world, with what hangs together in it side by side.
pub(crate) struct Index<'a> {
    pub(crate) world: &'a World,
    /// The living pods of each Job.
    pods: HashMap<Uid, Vec<&'a Pod>>,
    /// The living pods on each node.
    on: HashMap<&'a str, Vec<&'a Pod>>,
    /// The placement of each Job; of several, which others made by hand, the oldest.
    placements: HashMap<&'a Uid, &'a Placement>,
}

impl<'a> Index<'a> {
    pub(crate) fn of(world: &'a World) -> Index<'a> {
        let mut index =
            Index { world, pods: HashMap::new(), on: HashMap::new(), placements: HashMap::new() };
        for pod in world.pods.values().filter(|pod| pod.lives()) {
            // Who makes a pod writes who owns it: a Job of another namespace does not.
            let same = |owner: &Uid| {
                let job = world.jobs.get(owner);
                job.is_none_or(|job| job.namespace() == pod.namespace())
            };
            if let Some(owner) = pod.owner().filter(same) {
                index.pods.entry(owner).or_default().push(pod);
            }
            if let Some(node) = pod.node() {
                index.on.entry(node).or_default().push(pod);
            }
        }
        for pods in index.pods.values_mut() {
            pods.sort_unstable_by_key(|pod| (pod.rank(), pod.uid()));
        }
        for placement in world.placements.values() {
            for job in placement.spec.jobs() {
                let place = index.placements.entry(job).or_insert(placement);
                if placement.version_number() < place.version_number() {
                    *place = placement;
                }
            }
        }
        index
    }

    /// The living pods of a Job, by rank.
    pub(crate) fn pods_of(&self, job: &Uid) -> &[&'a Pod] {
        self.pods.get(job).map_or(&[], Vec::as_slice)
    }

    /// The living pods on a node.
    pub(crate) fn pods_on(&self, node: &str) -> &[&'a Pod] {
        self.on.get(node).map_or(&[], Vec::as_slice)
    }

    /// The placement of a Job.
    pub(crate) fn placement_of(&self, job: &Uid) -> Option<&'a Placement> {
        self.placements.get(job).copied()
    }

    /// The Jobs of a record; none if one of them is gone.
    pub(crate) fn unit_of(&self, placement: &Placement) -> Option<Unit<'a>> {
        let jobs = placement.spec.jobs().iter().map(|uid| self.world.jobs.get(uid));
        Unit::of(jobs.collect::<Option<Vec<&Job>>>()?)
    }

    /// What is placed on a machine: Jobs, and sets of Jobs with the same controller, namespace and
    /// shape. Jobs of a set that are being deleted are none of it.
    pub(crate) fn units_on(&self, machine: &str) -> Vec<Unit<'a>> {
        let mut units = Vec::new();
        let mut sets: BTreeMap<(&str, Uid, Option<&str>), Vec<&'a Job>> = BTreeMap::new();
        for job in self.jobs_on(machine) {
            match job.owner().filter(|_| job.is_of_a_set()) {
                Some(_) if job.is_going() => {}
                Some(owner) => {
                    let key = (job.namespace(), owner, job.shape());
                    sets.entry(key).or_default().push(job);
                }
                None => units.push(Unit::one(job)),
            }
        }
        units.extend(sets.into_values().filter_map(Unit::set));
        units
    }

    /// The Jobs with a shape that are placed on a machine: those that name it, and where it is the
    /// only one, those that name none.
    pub(crate) fn jobs_on(&self, machine: &str) -> impl Iterator<Item = &'a Job> {
        let only = self.world.machines.len() == 1;
        self.world.jobs.values().filter(move |job| {
            let named = job.annotation(crate::objects::MACHINE);
            job.shape().is_some() && named.map_or(only, |name| name == machine)
        })
    }
}
