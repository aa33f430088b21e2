//! Groups of Jobs that share a box. A group is a single Job or all Jobs in a set.

use std::collections::BTreeMap;

use super::index::Index;
use crate::objects::{GLOBAL_INDEX, Job, Object as _, Placement, Pod, Uid};

/// The time, in seconds, after which a set that gets no new Job is reported as incomplete.
const INCOMPLETE_SET_S: i64 = 10;

/// One or more Jobs that share a box, in rank order. Each plan creates thousands of groups, so
/// single-Job groups avoid a heap allocation.
#[derive(Clone, Debug)]
pub(crate) enum JobGroup<'a> {
    One(&'a Job),
    /// At least one Job.
    Set(Vec<&'a Job>),
}

impl<'a> JobGroup<'a> {
    /// Returns a group of Jobs, which must be in rank order. Returns `None` if there are no Jobs.
    pub(crate) fn of(jobs: Vec<&'a Job>) -> Option<JobGroup<'a>> {
        (!jobs.is_empty()).then_some(JobGroup::Set(jobs))
    }

    /// Returns the group of a set's Jobs, which may be in any order.
    pub(crate) fn set(mut jobs: Vec<&'a Job>) -> Option<JobGroup<'a>> {
        jobs.sort_by_cached_key(|job| (job.global_index(), job.id()));
        JobGroup::of(jobs)
    }

    /// Returns the Job that owns the placement, which is named after the Job's uid.
    pub(crate) fn first(&self) -> &'a Job {
        self.jobs()[0]
    }

    pub(crate) fn uid(&self) -> Uid {
        self.first().uid()
    }

    pub(crate) fn jobs(&self) -> &[&'a Job] {
        match self {
            JobGroup::One(job) => std::slice::from_ref(job),
            JobGroup::Set(jobs) => jobs,
        }
    }

    /// Returns true if the group is a set, which may have any number of Jobs.
    pub(crate) fn is_set(&self) -> bool {
        self.first().shares_box()
    }

    /// Returns true if any Job in the group has a placement.
    pub(crate) fn is_placed(&self, index: &Index<'_>) -> bool {
        self.jobs().iter().any(|job| index.placement_of(job).is_some())
    }

    /// Returns the number of pods in the group.
    pub(crate) fn completions(&self) -> u64 {
        self.jobs().iter().map(|job| u64::from(job.spec.completions.unwrap_or(0))).sum()
    }

    /// Returns the number of indexes that are not finished.
    pub(crate) fn remaining(&self) -> u64 {
        self.jobs().iter().map(|job| u64::from(job.remaining())).sum()
    }

    /// Returns true if the whole group has finished or part of it is being deleted.
    pub(crate) fn is_finished(&self) -> bool {
        self.jobs().iter().all(|job| job.is_finished())
            || self.jobs().iter().any(|job| job.is_terminating())
    }

    /// Returns true if the group needs no new box, because it has finished, part of it is being
    /// deleted, or all of it is suspended without quota.
    pub(crate) fn is_inactive(&self) -> bool {
        self.is_finished() || self.jobs().iter().all(|job| job.is_idle())
    }

    /// Returns true if part of the group is suspended and has no quota.
    pub(crate) fn has_idle_job(&self) -> bool {
        self.jobs().iter().any(|job| job.is_idle())
    }

    /// Returns true if the whole group is suspended and holds quota. Such a group gets its box
    /// before its pods exist.
    pub(crate) fn awaits_admission(&self) -> bool {
        self.jobs().iter().all(|job| job.is_suspended() && job.has_quota())
    }

    /// Returns true if Kueue's topology-aware scheduling chooses the group's nodes.
    pub(crate) fn uses_topology_scheduling(&self, index: &Index<'_>) -> bool {
        let has_quota = |job: &Job| job.quota.as_ref().is_some_and(|quota| quota.topology);
        let has_gate =
            |job: &Job| index.pods_of(job).any(|pod| pod.spec.uses_topology_scheduling());
        self.jobs()
            .iter()
            .any(|job| job.spec.template.uses_topology || has_quota(job) || has_gate(job))
    }

    /// Returns true if more Jobs in the set may still be created.
    pub(crate) fn may_grow(&self, now: i64) -> bool {
        let newest = self.jobs().iter().map(|job| job.created()).max();
        newest.is_some_and(|created| now < created + INCOMPLETE_SET_S)
    }

    /// Returns the group's maximum run time in seconds if every Job in it has a limit.
    pub(crate) fn seconds(&self) -> Option<u64> {
        let limits = self.jobs().iter().map(|job| job.seconds());
        limits.collect::<Option<Vec<u64>>>()?.into_iter().max()
    }

    /// Returns each Job with the rank of its first pod.
    pub(crate) fn bases(&self) -> impl Iterator<Item = (&'a Job, usize)> {
        self.jobs().iter().scan(0, |next, &job| {
            let base = *next;
            *next += job.spec.completions.unwrap_or(0) as usize;
            Some((job, base))
        })
    }

    /// Returns the group's active pods with their ranks in the box. A manually created pod may have
    /// no rank or a duplicate one.
    pub(crate) fn pods(&self, index: &Index<'a>) -> impl Iterator<Item = (Option<usize>, &'a Pod)> {
        let pods_of = move |(job, base): (&'a Job, usize)| {
            let count = job.spec.completions.unwrap_or(0) as usize;
            let pods = index.ranked(job).iter().filter(|(_, pod)| !pod.is_terminating());
            pods.map(move |&(at, pod)| (at.filter(|&at| at < count).map(|at| base + at), pod))
        };
        self.bases().flat_map(pods_of)
    }

    /// Explains in a sentence why a set's Jobs do not match a shape with this many nodes. Returns
    /// `None` if they match.
    pub(crate) fn mismatch(&self, nodes: u64) -> Option<String> {
        if !self.is_set() {
            return None;
        }
        if self.jobs().iter().any(|job| job.global_index().is_none()) {
            return Some(format!("a Job in its set has no number in its {GLOBAL_INDEX} label"));
        }
        let is_same = |two: &[&Job]| two[0].global_index() == two[1].global_index();
        if self.jobs().windows(2).any(is_same) {
            return Some(format!("two Jobs in its set have the same number in {GLOBAL_INDEX}"));
        }
        let (jobs, pods) = (self.jobs().len(), self.completions());
        (pods != nodes).then(|| {
            let how = if pods < nodes { "too few" } else { "too many" };
            let plural = if jobs == 1 { "" } else { "s" };
            format!(
                "its set has {jobs} Job{plural} with {pods} completions in total, {how} for \
                 {nodes} nodes"
            )
        })
    }
}

impl<'a> Index<'a> {
    /// Returns a placement's Jobs, or `None` if one of them no longer exists.
    pub(crate) fn group_of(&self, placement: &Placement) -> Option<JobGroup<'a>> {
        match placement.spec.jobs() {
            [one] => Some(JobGroup::One(self.job(one)?)),
            set => {
                JobGroup::of(set.iter().map(|uid| self.job(uid)).collect::<Option<Vec<&Job>>>()?)
            }
        }
    }

    /// Returns the groups on a machine that have no placement.
    pub(crate) fn unplaced_on(&self, machine: &str) -> Vec<JobGroup<'a>> {
        // Most Jobs are not in a set and have a placement, so no group is created for them.
        let is_placed = |job: &Job| !job.shares_box() && self.placement_of(job).is_some();
        let here = self.world.jobs.values().filter(|job| self.is_on(job, machine));
        let mut groups = groups(here.filter(|job| !is_placed(job)));
        groups.retain(|group| !group.is_placed(self));
        groups
    }

    /// Returns the groups on a machine. A group is a single Job or a set of Jobs with the same
    /// controller, namespace and shape. Omits a set's Jobs that are being deleted. Runs in O(n)
    /// time for n Jobs in the world.
    pub(crate) fn groups_on(&self, machine: &str) -> Vec<JobGroup<'a>> {
        groups(self.world.jobs.values().filter(|job| self.is_on(job, machine)))
    }
}

/// Groups Jobs by their sets.
fn groups<'a>(jobs: impl Iterator<Item = &'a Job>) -> Vec<JobGroup<'a>> {
    let mut groups = Vec::new();
    let mut sets: BTreeMap<(&str, &str, Option<&str>), Vec<&'a Job>> = BTreeMap::new();
    for job in jobs {
        match job.set() {
            Some(_) if job.is_terminating() => {}
            Some(owner) => {
                let key = (job.namespace(), owner, job.shape());
                sets.entry(key).or_default().push(job);
            }
            None => groups.push(JobGroup::One(job)),
        }
    }
    groups.extend(sets.into_values().filter_map(JobGroup::set));
    groups
}
