//! Everything that was read of the cluster. A plan is made of it alone.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::nodes::Nodes;
use crate::objects::{Job, Known as _, Machine, Placement, Pod, Uid};
use crate::quota::Kueue;
use crate::rest::Rest;
use crate::tracked::Tracked;
use crate::unit::Unit;

/// The objects that were read, each kind whole.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) machines: BTreeMap<String, Machine>,
    pub(crate) nodes: Nodes,
    pub(crate) jobs: Tracked<Job>,
    pub(crate) pods: Tracked<Pod>,
    pub(crate) placements: Tracked<Placement>,
    /// When Jobs got their nodes, in seconds since 1970, as far as that was seen: for forecasts.
    pub(crate) begun: HashMap<Uid, i64>,
    pub(crate) kueue: Kueue,
    /// The Jobs on which is written what a Workload says.
    pub(crate) with_quota: Vec<Uid>,
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

/// A world, with what hangs together in it side by side. Of one that rests, only what is awake is
/// here, and the rest says what the others hold.
pub(crate) struct Index<'a> {
    pub(crate) world: &'a World,
    pub(crate) rest: Option<&'a Rest>,
    of: HashMap<&'a str, OfJob<'a>>,
    /// The living pods on each node: the first one, and the others, of which most nodes have none.
    on: HashMap<&'a str, (&'a Pod, Vec<&'a Pod>)>,
    /// How many Jobs each set has, by what controls it.
    sets: HashMap<&'a str, usize>,
}

/// What hangs on the uid of a Job.
#[derive(Default)]
struct OfJob<'a> {
    /// Its living pods, with their ranks.
    pods: Vec<(Option<usize>, &'a Pod)>,
    /// Its placement; of several, which others made by hand, the oldest.
    placement: Option<&'a Placement>,
    placements: usize,
}

impl<'a> Index<'a> {
    /// All of a world.
    pub(crate) fn of(world: &'a World) -> Index<'a> {
        Index::with(world, None)
    }

    /// What is awake of a world. O(n log N) for n of N objects.
    pub(crate) fn awake(world: &'a World, rest: &'a Rest) -> Index<'a> {
        Index::with(world, Some(rest))
    }

    fn with(world: &'a World, rest: Option<&'a Rest>) -> Index<'a> {
        let many = if rest.is_none() { world.pods.len() } else { 0 };
        let (of, on) = (HashMap::with_capacity(many), HashMap::with_capacity(many));
        let mut index = Index { world, rest, of, on, sets: HashMap::new() };
        for job in index.jobs().filter(|job| job.is_of_a_set()) {
            *index.sets.entry(job.owner_id().unwrap_or_default()).or_default() += 1;
        }
        for pod in index.awake_of(&world.pods, |rest| &rest.awake.pods).filter(|pod| pod.lives()) {
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
        for placement in index.placements() {
            for job in placement.spec.jobs() {
                let of = index.of.entry(&job.0).or_default();
                of.placements += 1;
                let older = |other: &Placement| placement.version_number() < other.version_number();
                if of.placement.is_none_or(older) {
                    of.placement = Some(placement);
                }
            }
        }
        index
    }

    /// The objects of a kind, of a world that rests those that are awake, by uid.
    fn awake_of<V>(
        &self,
        all: &'a Tracked<V>,
        awake: fn(&Rest) -> &BTreeSet<Uid>,
    ) -> impl Iterator<Item = &'a V> + use<'a, V> {
        let some = self.rest.into_iter().flat_map(awake).filter_map(|uid| all.get(uid));
        let all = self.rest.is_none().then(|| all.values());
        all.into_iter().flatten().chain(some)
    }

    pub(crate) fn jobs(&self) -> impl Iterator<Item = &'a Job> + use<'a> {
        self.awake_of(&self.world.jobs, |rest| &rest.awake.jobs)
    }

    pub(crate) fn pods(&self) -> impl Iterator<Item = &'a Pod> + use<'a> {
        self.awake_of(&self.world.pods, |rest| &rest.awake.pods)
    }

    pub(crate) fn placements(&self) -> impl Iterator<Item = &'a Placement> + use<'a> {
        self.awake_of(&self.world.placements, |rest| &rest.awake.placements)
    }

    /// Whether a namespace has Jobs.
    pub(crate) fn has_jobs_in(&self, namespaces: &HashSet<&str>, namespace: &str) -> bool {
        namespaces.contains(namespace) || self.rest.is_some_and(|rest| rest.has_jobs_in(namespace))
    }

    /// How many placements have a Job.
    pub(crate) fn placements_of(&self, job: &Job) -> usize {
        self.of.get(job.id()).map_or(0, |of| of.placements)
    }

    /// Whether a unit has all Jobs of its set, if it is of one. Of a set that is awake all are.
    pub(crate) fn has_its_set(&self, unit: &Unit<'_>) -> bool {
        let own = unit.first().set();
        let same = |job: &&Job| job.set() == own && job.is_of_a_set() == own.is_some();
        let many = |own: &str| self.sets.get(own).copied();
        let is_whole = |own: &Uid| many(&own.0) == Some(unit.jobs().len());
        unit.jobs().iter().all(same) && own.as_ref().is_none_or(is_whole)
    }

    /// The nodes with living pods, by name in no order.
    pub(crate) fn nodes_with_pods(&self) -> impl Iterator<Item = &'a str> {
        self.on.keys().copied()
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

    /// Those of a machine without a record; of a world that rests, those of awake Jobs.
    pub(crate) fn unplaced_on(&self, machine: &str) -> Vec<Unit<'a>> {
        // Most Jobs are no set, and have a record: no unit is made of them.
        let placed = |job: &Job| !job.is_of_a_set() && self.placement_of(job).is_some();
        let here = self.jobs().filter(|job| self.is_on(job, machine));
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
