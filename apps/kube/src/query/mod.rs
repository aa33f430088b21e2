//! Queries about a cluster whose state is read once.

mod entry;
mod kueue;

use std::collections::{BTreeMap, HashMap};

use kube::Client;
use pavior::answers::slots;
use pavior::text::shown;
use serde::Serialize;

use self::entry::Decision;
pub use self::entry::{Entry, JobState};
use self::kueue::{WorkloadMap, read_kueue};
use crate::client::{connect, runtime};
use crate::error::KubeError;
use crate::objects::{Job, Machine, Node, Object, Placement, PlacementSpec, Pod, Uid};
use crate::plan::{
    Action, Detail, Forecast, Memory, Plan, Prospect, Question, Waiting, has_shape_syntax, plan,
    unassigned,
};
use crate::read::{ACTIVE_PODS, list, start_times};
use crate::time::now;
use crate::world::{Index, JobGroup, World};

/// The state of a cluster when it was read.
pub struct Cluster {
    world: World,
    now: i64,
}

/// The boxes of a shape that fit on the machines of a cluster.
#[derive(Debug)]
pub struct ClusterSlots {
    /// The machines that can hold a box of this shape.
    pub machines: Vec<MachineSlots>,
    /// The reasons why the other machines cannot hold such a box.
    pub faults: Vec<KubeError>,
}

/// The number of boxes of a shape that fit on a machine's free nodes at the same time.
#[derive(Clone, Debug, Serialize)]
pub struct MachineSlots {
    /// The name of the machine.
    pub machine: String,
    /// The number of boxes found.
    pub free: u32,
    /// An upper bound on that number.
    pub bound: u32,
    /// The boxes in nodes.
    pub boxes: Vec<String>,
}

impl Cluster {
    /// Reads the cluster specified by `KUBECONFIG`, `~/.kube/config` or the pod's service account.
    ///
    /// # Errors
    /// Returns an error if the cluster does not respond or does not let the account list objects.
    pub fn read() -> Result<Cluster, KubeError> {
        runtime()?.block_on(async { Cluster::of(&connect().await?).await })
    }

    pub(crate) async fn of(client: &Client) -> Result<Cluster, KubeError> {
        let mut world = World {
            jobs: by_uid(list::<Job>(client, "").await?),
            pods: by_uid(list::<Pod>(client, ACTIVE_PODS).await?),
            machines: by_name(list::<Machine>(client, "").await?),
            nodes: by_name(list::<Node>(client, "").await?),
            placements: by_uid(list::<Placement>(client, "").await?),
            ..World::default()
        };
        for placement in world.placements.values() {
            world.start_times.extend(placement.start_times());
        }
        for (job, at) in start_times(client).await? {
            world.start_times.entry(job).or_insert(at);
        }
        world.kueue.fault = read_kueue(client, &mut world).await.err().map(|why| why.to_string());
        Ok(Cluster::new(world, now()))
    }

    pub(crate) fn new(mut world: World, now: i64) -> Cluster {
        world.join_quota();
        Cluster { world, now }
    }

    /// Returns all Jobs with a shape: Jobs with a box, Jobs that are about to get one, waiting
    /// Jobs, and finished Jobs. The waiting Jobs of each machine are in queue order, followed by
    /// those that cannot be queued. Jobs that belong to no machine come first.
    pub fn queue(&self) -> Vec<Entry> {
        let jobs = self.world.jobs.values().filter(|job| job.shape().is_some());
        self.entries(jobs.collect(), Detail::OPERATOR)
    }

    /// Describes Jobs with a shape.
    fn entries(&self, mut jobs: Vec<&Job>, detail: Detail) -> Vec<Entry> {
        let index = Index::of(&self.world);
        let has_jobs = |machine: &&String| jobs.iter().any(|job| index.is_on(job, machine));
        let machines = self.world.machines.keys().filter(has_jobs);
        let mut outcomes =
            vec![Outcome { waiting: unassigned(&index), proposals: Vec::new(), forecast: None }];
        outcomes.extend(machines.map(|machine| self.outcome(&index, machine, detail)));
        let mut outlooks: HashMap<&str, Outlook<'_>> = HashMap::new();
        for (job, decision) in outcomes.iter().flat_map(Outcome::decisions) {
            let position = outlooks.len();
            outlooks.entry(&job.0).or_insert(Outlook { position, decision });
        }
        let decision = |job: &Job| outlooks.get(job.id()).map(|outlook| outlook.decision);
        jobs.sort_by_cached_key(|&job| {
            let rank = JobState::of(&index, job, decision(job)).rank();
            let position = outlooks.get(job.id()).map_or(usize::MAX, |outlook| outlook.position);
            (rank, position, job.namespace(), job.name())
        });
        let workloads = WorkloadMap::of(&self.world);
        let entry = |job| Entry::of(&index, job, decision(job), workloads.describe(job));
        jobs.into_iter().map(entry).collect()
    }

    /// Plans for a machine. If planning fails, the error is the reason why the machine's Jobs are
    /// waiting.
    fn outcome(&self, index: &Index<'_>, machine: &str, detail: Detail) -> Outcome {
        match self.plan(index, machine, detail) {
            Ok(plan) => Outcome {
                proposals: plan.actions.into_iter().filter_map(Action::into_proposal).collect(),
                waiting: plan.waiting,
                forecast: plan.question.map(Question::answer),
            },
            Err(error) => {
                // If the daemon, unlike this account, can read Kueue's objects, the daemon may
                // still place the Jobs.
                let is_unknown = self.world.kueue.fault.is_some();
                let prospect = if is_unknown { Prospect::Waits } else { Prospect::Blocked };
                let mut groups = index.unplaced_on(machine);
                groups.retain(|group| !group.is_inactive());
                let jobs = groups.iter().flat_map(JobGroup::jobs);
                let waiting =
                    jobs.map(|job| Waiting { prospect, ..Waiting::new(job, error.to_string()) });
                Outcome { proposals: Vec::new(), waiting: waiting.collect(), forecast: None }
            }
        }
    }

    fn plan(&self, index: &Index<'_>, machine: &str, detail: Detail) -> Result<Plan, KubeError> {
        plan(index, machine, &mut Memory::default(), self.now, detail)
            .map_err(|why| machine_error(machine, why))
    }

    /// Explains why a Job is waiting, and plans moves of up to `moved` other Jobs.
    ///
    /// # Errors
    /// Returns an error if the Job does not exist or has no shape.
    pub fn why(&self, namespace: &str, name: &str, moved: usize) -> Result<Entry, KubeError> {
        let is_named = |job: &&Job| {
            job.shape().is_some() && (job.namespace(), job.name()) == (namespace, name)
        };
        let named = self.world.jobs.values().filter(is_named).take(1).collect();
        let detail = Detail { moves: moved, ..Detail::OPERATOR };
        self.entries(named, detail).pop().ok_or_else(|| {
            let name = format!("{namespace}/{name}");
            KubeError::UnknownJob(shown(&name).to_string())
        })
    }

    /// Counts how many boxes of a shape fit on each machine at once.
    ///
    /// # Errors
    /// Returns an error if the text is not a shape or no machine can hold such a box.
    pub fn slots(&self, shape: &str, budget: u64) -> Result<ClusterSlots, KubeError> {
        if !has_shape_syntax(shape) {
            return Err(KubeError::Shape);
        }
        let index = Index::of(&self.world);
        let mut all = ClusterSlots { machines: Vec::new(), faults: Vec::new() };
        for name in self.world.machines.keys() {
            match self.machine_slots(&index, name, shape, budget) {
                Ok(slots) => all.machines.push(slots),
                Err(fault) => all.faults.push(fault),
            }
        }
        match (all.machines.is_empty(), all.faults.is_empty()) {
            (true, true) => Err(KubeError::NoMachine),
            (true, false) => Err(KubeError::Slots(all.faults)),
            (false, _) => Ok(all),
        }
    }

    fn machine_slots(
        &self,
        index: &Index<'_>,
        machine: &str,
        shape: &str,
        budget: u64,
    ) -> Result<MachineSlots, KubeError> {
        let Plan { config, free, .. } = self.plan(index, machine, Detail::DAEMON)?;
        let shape = config.shape(shape).map_err(|why| machine_error(machine, why))?;
        let counted = slots(&free, &[shape], budget);
        Ok(MachineSlots {
            machine: machine.to_string(),
            free: counted.boxes.len() as u32,
            bound: counted.bound,
            boxes: counted.boxes.iter().map(|at| config.box_name(at)).collect(),
        })
    }
}

/// The outcome of a machine's plan for the Jobs without a placement.
struct Outcome {
    proposals: Vec<PlacementSpec>,
    waiting: Vec<Waiting>,
    /// The forecast, or the reason why it failed.
    forecast: Option<Result<Forecast, String>>,
}

impl Outcome {
    /// Returns the decision about each Job, in queue order.
    fn decisions(&self) -> impl Iterator<Item = (&Uid, Decision<'_>)> {
        let proposals = self.proposals.iter().flat_map(|placement| {
            placement.jobs().iter().map(move |job| (job, Decision::Propose(placement)))
        });
        let forecast = self.forecast.as_ref();
        proposals.chain(
            self.waiting
                .iter()
                .map(move |waiting| (&waiting.job.uid, Decision::Wait { waiting, forecast })),
        )
    }
}

/// A Job's position among the Jobs without a placement, and the decision about it.
struct Outlook<'a> {
    position: usize,
    decision: Decision<'a>,
}

fn machine_error(machine: &str, why: String) -> KubeError {
    KubeError::Machine { name: shown(machine).to_string(), why }
}

fn by_uid<K: Object>(objects: Vec<K>) -> BTreeMap<Uid, K> {
    objects.into_iter().map(|object| (object.uid(), object)).collect()
}

fn by_name<K: Object>(objects: Vec<K>) -> BTreeMap<String, K> {
    objects.into_iter().map(|object| (object.name().to_string(), object)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn slots_report_the_fault_of_each_machine() {
        let mut cluster = Cluster::new(World::default(), 0);
        assert!(matches!(cluster.slots("4x4", 1000), Err(KubeError::NoMachine)));
        for (name, grid) in [("a", "mesh:2x2"), ("b", "mesh:2x2x2")] {
            let spec = json!({ "grid": grid, "nodes": { "labels": ["x", "y"] } });
            let machine = json!({ "metadata": { "name": name, "uid": name }, "spec": spec });
            let machine = serde_json::from_value(machine).unwrap();
            cluster.world.machines.insert(name.to_string(), machine);
        }
        let error = cluster.slots("2x2x2", 1000).unwrap_err().to_string();
        let faults = "Machine a: the shape has 3 sides, but the machine has 2 axes; Machine b: \
                      nodes.labels: expected 3 labels, one for each axis, but found 2";
        assert_eq!(error, faults);
        let all = cluster.slots("2x2", 1000).unwrap();
        let names: Vec<&str> = all.machines.iter().map(|one| one.machine.as_str()).collect();
        assert_eq!((names, all.faults.len()), (vec!["a"], 1));
        let error = cluster.slots("abc", 1000).unwrap_err().to_string();
        assert_eq!(error, "the shape is not valid; use 1 to 3 sides, such as 4x4x2");
    }
}
