//! What gets one box: a Job, or all Jobs of a set together.

use crate::objects::{GLOBAL_INDEX, Job, Known as _, Pod, Uid};
use crate::world::Index;

/// Jobs that get one box, in the order of its ranks. There is always one.
#[derive(Clone, Debug)]
pub(crate) struct Unit<'a> {
    jobs: Jobs<'a>,
}

/// Most units are one Job: thousands of them are made for each plan.
#[derive(Clone, Debug)]
enum Jobs<'a> {
    One(&'a Job),
    /// There is always one.
    Set(Vec<&'a Job>),
}

impl<'a> Unit<'a> {
    /// A Job alone.
    pub(crate) fn one(job: &'a Job) -> Unit<'a> {
        Unit { jobs: Jobs::One(job) }
    }

    /// Jobs in the order of their ranks; none if there is none.
    pub(crate) fn of(jobs: Vec<&'a Job>) -> Option<Unit<'a>> {
        (!jobs.is_empty()).then_some(Unit { jobs: Jobs::Set(jobs) })
    }

    /// The Jobs of a set, in any order; none if there is none.
    pub(crate) fn set(mut jobs: Vec<&'a Job>) -> Option<Unit<'a>> {
        jobs.sort_by_cached_key(|job| (job.global_index(), job.id()));
        Unit::of(jobs)
    }

    /// The Job that the record is named by and belongs to.
    pub(crate) fn first(&self) -> &'a Job {
        self.jobs()[0]
    }

    pub(crate) fn uid(&self) -> Uid {
        self.first().uid()
    }

    pub(crate) fn jobs(&self) -> &[&'a Job] {
        match &self.jobs {
            Jobs::One(job) => std::slice::from_ref(job),
            Jobs::Set(jobs) => jobs,
        }
    }

    /// Whether it is a set, of however many Jobs.
    pub(crate) fn is_set(&self) -> bool {
        self.first().is_of_a_set()
    }

    /// Whether one of its Jobs has a record.
    pub(crate) fn is_placed(&self, index: &Index<'_>) -> bool {
        self.jobs().iter().any(|job| index.placement_of(job).is_some())
    }

    /// How many pods it has in all.
    pub(crate) fn completions(&self) -> u64 {
        self.jobs().iter().map(|job| u64::from(job.spec.completions.unwrap_or(0))).sum()
    }

    /// How many pods it has yet to bring to an end.
    pub(crate) fn left(&self) -> u64 {
        self.jobs().iter().map(|job| u64::from(job.left())).sum()
    }

    /// Whether all of it has ended, or a part is being deleted.
    pub(crate) fn is_over(&self) -> bool {
        self.jobs().iter().all(|job| job.is_over()) || self.jobs().iter().any(|job| job.is_going())
    }

    /// Whether a part of it is not to have pods.
    pub(crate) fn is_suspended(&self) -> bool {
        self.jobs().iter().any(|job| job.is_idle())
    }

    /// Whether it has quota, and gets its pods only when it has its place.
    pub(crate) fn is_promised(&self) -> bool {
        self.jobs().iter().all(|job| job.is_suspended() && job.has_quota())
    }

    /// Whether Kueue's topology-aware scheduling chooses its nodes.
    pub(crate) fn is_kueues(&self, index: &Index<'_>) -> bool {
        let quota = |job: &Job| job.quota.as_ref().is_some_and(|quota| quota.topology);
        let gated = |job: &Job| index.pods_of(job).any(|pod| pod.spec.is_kueues());
        self.jobs().iter().any(|job| job.spec.template.topology || quota(job) || gated(job))
    }

    /// How long it is said to run, in seconds, if all of it says so.
    pub(crate) fn seconds(&self) -> Option<u64> {
        let each = self.jobs().iter().map(|job| job.seconds());
        each.collect::<Option<Vec<u64>>>()?.into_iter().max()
    }

    /// The Jobs, each with the rank of its first pod.
    pub(crate) fn bases(&self) -> impl Iterator<Item = (&'a Job, usize)> {
        self.jobs().iter().scan(0, |next, &job| {
            let base = *next;
            *next += job.spec.completions.unwrap_or(0) as usize;
            Some((job, base))
        })
    }

    /// Its living pods that are not going, each with its rank in the box. A pod that was put there
    /// by hand has none, or one that another has, too.
    pub(crate) fn pods(&self, index: &Index<'a>) -> impl Iterator<Item = (Option<usize>, &'a Pod)> {
        let of = move |(job, base): (&'a Job, usize)| {
            let own = job.spec.completions.unwrap_or(0) as usize;
            let here = index.ranked(job).iter().filter(|(_, pod)| !pod.is_going());
            here.map(move |&(rank, pod)| (rank.filter(|&rank| rank < own).map(|at| base + at), pod))
        };
        self.bases().flat_map(of)
    }

    /// What a set still lacks, for a shape of so many nodes: a sentence.
    pub(crate) fn lacks(&self, nodes: u64) -> Option<String> {
        if !self.is_set() {
            return None;
        }
        if self.jobs().iter().any(|job| job.global_index().is_none()) {
            return Some(format!("a Job of its set has no number in the label {GLOBAL_INDEX}"));
        }
        let twice =
            self.jobs().windows(2).any(|two| two[0].global_index() == two[1].global_index());
        if twice {
            return Some(format!("two Jobs of its set have the same number in {GLOBAL_INDEX}"));
        }
        let (jobs, pods) = (self.jobs().len(), self.completions());
        (pods != nodes).then(|| {
            let how = if pods < nodes { "too few" } else { "too many" };
            let plural = if jobs == 1 { "" } else { "s" };
            format!(
                "its set has {jobs} Job{plural} with {pods} completions: {how} for {nodes} nodes"
            )
        })
    }
}
