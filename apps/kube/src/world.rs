//! Everything that was read of the cluster. A plan is made of it alone.

use std::collections::{BTreeMap, HashMap};

use crate::objects::{Job, Known as _, Machine, Node, Placement, Pod, Uid};
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
    of: HashMap<&'a str, OfJob<'a>>,
    /// The living pods on each node: the first one, and the others, of which most nodes have none.
    on: HashMap<&'a str, (&'a Pod, Vec<&'a Pod>)>,
}

/// What hangs on the uid of a Job.
#[derive(Default)]
struct OfJob<'a> {
    /// Its living pods, with their ranks.
    pods: Vec<(Option<usize>, &'a Pod)>,
    /// Its placement; of several, which others made by hand, the oldest.
    placement: Option<&'a Placement>,
}

impl<'a> Index<'a> {
    /// Indexes a world. Cost: O(n log n) for n objects.
    pub(crate) fn of(world: &'a World) -> Index<'a> {
        let many = world.pods.len();
        let (of, on) = (HashMap::with_capacity(many), HashMap::with_capacity(many));
        let mut index = Index { world, of, on };
        for pod in world.pods.values().filter(|pod| pod.lives()) {
            if let Some(owner) = pod.owner_id() {
                // Who makes a pod writes who owns it: a Job of another namespace does not.
                let job = world.jobs.get(owner);
                if job.is_none_or(|job| job.namespace() == pod.namespace()) {
                    index.of.entry(owner).or_default().pods.push((pod.rank(), pod));
                }
            }
            if let Some(node) = pod.node() {
                let others = index.on.entry(node).and_modify(|(_, others)| others.push(pod));
                others.or_insert((pod, Vec::new()));
            }
        }
        for of in index.of.values_mut() {
            of.pods.sort_unstable_by_key(|(rank, pod)| (*rank, pod.id()));
        }
        for placement in world.placements.values() {
            for job in placement.spec.jobs() {
                let place = &mut index.of.entry(&job.0).or_default().placement;
                let older = |other: &Placement| placement.version_number() < other.version_number();
                if place.is_none_or(older) {
                    *place = Some(placement);
                }
            }
        }
        index
    }

    /// A Job, if it is there.
    pub(crate) fn job(&self, uid: &Uid) -> Option<&'a Job> {
        self.world.jobs.get(uid)
    }

    /// The living pods of a Job in the order of their ranks, each with its own.
    pub(crate) fn ranked(&self, job: &Job) -> &[(Option<usize>, &'a Pod)] {
        self.of.get(job.id()).map_or(&[], |of| of.pods.as_slice())
    }

    /// The living pods of a Job, by rank.
    pub(crate) fn pods_of(&self, job: &Job) -> impl Iterator<Item = &'a Pod> {
        self.ranked(job).iter().map(|(_, pod)| *pod)
    }

    /// The living pods on a node.
    pub(crate) fn pods_on(&self, node: &str) -> impl Iterator<Item = &'a Pod> {
        let found = self.on.get(node).into_iter();
        found.flat_map(|(first, others)| std::iter::once(first).chain(others)).copied()
    }

    /// The placement of a Job.
    pub(crate) fn placement_of(&self, job: &Job) -> Option<&'a Placement> {
        self.of.get(job.id())?.placement
    }

    /// The Jobs of a record; none if one of them is gone.
    pub(crate) fn unit_of(&self, placement: &Placement) -> Option<Unit<'a>> {
        match placement.spec.jobs() {
            [one] => Some(Unit::one(self.job(one)?)),
            set => Unit::of(set.iter().map(|uid| self.job(uid)).collect::<Option<Vec<&Job>>>()?),
        }
    }

    /// Those of a machine without a record.
    pub(crate) fn unplaced_on(&self, machine: &str) -> Vec<Unit<'a>> {
        // Most Jobs are no set, and have a record: no unit is made of them.
        let placed = |job: &Job| !job.is_of_a_set() && self.placement_of(job).is_some();
        let here = self.world.jobs.values().filter(|job| self.is_on(job, machine));
        let mut units = units(here.filter(|job| !placed(job)));
        units.retain(|unit| !unit.is_placed(self));
        units
    }

    /// What is placed on a machine: Jobs, and sets of Jobs with the same controller, namespace and
    /// shape. Jobs of a set that are being deleted are none of it. O(n) for n Jobs of the world.
    pub(crate) fn units_on(&self, machine: &str) -> Vec<Unit<'a>> {
        units(self.world.jobs.values().filter(|job| self.is_on(job, machine)))
    }

    /// Whether a Job with a shape is placed on a machine: it names it, or it is the only one, and
    /// the Job names none.
    pub(crate) fn is_on(&self, job: &Job, machine: &str) -> bool {
        let only = self.world.machines.len() == 1;
        let named = job.annotation(crate::objects::MACHINE);
        job.shape().is_some() && named.map_or(only, |name| name == machine)
    }
}

/// Jobs, and sets of them.
fn units<'a>(jobs: impl Iterator<Item = &'a Job>) -> Vec<Unit<'a>> {
    let mut units = Vec::new();
    let mut sets: BTreeMap<(&str, Uid, Option<&str>), Vec<&'a Job>> = BTreeMap::new();
    for job in jobs {
        match job.set() {
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
