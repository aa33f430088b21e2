//! Queries about a cluster that is read once.

mod entry;
mod kueue;

use std::collections::{BTreeMap, HashMap};

use kube::Client;
use pavior::answers::slots;
use pavior::text::shown;
use serde::Serialize;

pub use self::entry::{Entry, JobState};
use self::kueue::kueue_states;
use crate::client::{connect, runtime};
use crate::error::KubeError;
use crate::objects::{Job, Machine, Node, Object, Placement, Pod, QUEUE, Uid};
use crate::plan::{
    Detail, Forecast, MachineConfig, Memory, Plan, Question, Waiting, plan, unassigned,
};
use crate::read::{ACTIVE_PODS, list, start_times};
use crate::time::now;
use crate::world::{Index, JobGroup, World};

/// The state of a cluster when it was read.
pub struct Cluster {
    pub(crate) world: World,
    now: i64,
    /// The state of each Job in a Kueue queue, or the reason why the states cannot be read.
    kueue: Result<HashMap<Uid, String>, String>,
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
    /// Returns an error if the cluster does not respond or the account may not list objects.
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
        let kueue = if world.jobs.values().any(|job| job.label(QUEUE).is_some()) {
            kueue_states(client).await.map_err(|error| error.to_string())
        } else {
            Ok(HashMap::new())
        };
        Ok(Cluster { world, now: now(), kueue })
    }

    /// Describes the Kueue state of a Job in a Kueue queue.
    fn kueue(&self, job: &Job) -> Option<String> {
        job.label(QUEUE)?;
        Some(match &self.kueue {
            Ok(states) => match states.get(job.id()) {
                Some(state) => state.clone(),
                None => "Kueue has no Workload for it.".to_string(),
            },
            Err(why) => format!("Its Kueue Workload cannot be read: {why}."),
        })
    }

    /// Returns all Jobs with a shape: running Jobs, waiting Jobs in queue order, and finished Jobs.
    ///
    /// # Errors
    /// Returns an error if a forecast fails.
    pub fn queue(&self) -> Result<Vec<Entry>, KubeError> {
        self.entries(Detail::OPERATOR)
    }

    fn entries(&self, detail: Detail) -> Result<Vec<Entry>, KubeError> {
        let index = Index::of(&self.world);
        let (waiting, forecasts) = self.plan_all(&index, detail)?;
        let mut positions: HashMap<&str, usize> = HashMap::new();
        for (position, waiting) in waiting.iter().enumerate() {
            positions.entry(&waiting.job.uid.0).or_insert(position);
        }
        let shaped = self.world.jobs.values().filter(|job| job.shape().is_some());
        let mut entries: Vec<(usize, Entry)> = shaped
            .map(|job| {
                let position = positions.get(job.id()).copied();
                let reason = position.map(|position| &waiting[position]);
                let kueue = self.kueue(job).filter(|_| !job.is_finished());
                let entry = Entry { kueue, ..Entry::of(&index, job, reason, &forecasts) };
                (position.unwrap_or(usize::MAX), entry)
            })
            .collect();
        entries.sort_by_cached_key(|(position, entry)| {
            let group = match entry.state {
                JobState::Runs | JobState::Placed => 0,
                JobState::Over => 2,
                _ => 1,
            };
            (group, *position, entry.namespace.clone(), entry.name.clone())
        });
        Ok(entries.into_iter().map(|(_, entry)| entry).collect())
    }

    /// Returns the Jobs waiting on any machine or on none, and each machine's forecast.
    fn plan_all(
        &self,
        index: &Index<'_>,
        detail: Detail,
    ) -> Result<(Vec<Waiting>, Vec<Forecast>), KubeError> {
        let mut waiting = unassigned(index);
        let mut forecasts = Vec::new();
        for machine in self.world.machines.keys() {
            match self.plan(index, machine, detail) {
                Ok(plan) => {
                    waiting.extend(plan.waiting);
                    let forecast = plan.question.map(Question::answer).transpose();
                    forecasts.extend(forecast.map_err(KubeError::Forecast)?);
                }
                Err(error) => {
                    let groups = index.unplaced_on(machine);
                    let jobs = groups.iter().flat_map(JobGroup::jobs);
                    waiting.extend(jobs.map(|job| Waiting::new(job, error.to_string())));
                }
            }
        }
        Ok((waiting, forecasts))
    }

    fn plan(&self, index: &Index<'_>, machine: &str, detail: Detail) -> Result<Plan, KubeError> {
        let plan = plan(index, machine, &mut Memory::default(), self.now, detail);
        plan.map_err(|why| KubeError::Machine { name: shown(machine).to_string(), why })
    }

    /// Explains why a Job is waiting, and plans moves of up to `moved` other Jobs.
    ///
    /// # Errors
    /// Returns an error if there is no such Job or a forecast fails.
    pub fn why(&self, namespace: &str, name: &str, moved: usize) -> Result<Entry, KubeError> {
        let entries = self.entries(Detail { moves: moved, ..Detail::OPERATOR })?.into_iter();
        let mut named = entries.filter(|entry| entry.namespace == namespace && entry.name == name);
        named.next().ok_or_else(|| {
            let name = format!("{namespace}/{name}");
            KubeError::UnknownJob(shown(&name).to_string())
        })
    }

    /// Counts the boxes of a shape that fit on each machine at the same time.
    ///
    /// # Errors
    /// Returns each machine's reason if no machine can contain a box of this shape.
    pub fn slots(&self, shape: &str, budget: u64) -> Result<Vec<MachineSlots>, KubeError> {
        let index = Index::of(&self.world);
        let (mut found, mut faults) = (Vec::new(), Vec::new());
        for name in self.world.machines.keys() {
            match self.machine_slots(&index, name, shape, budget) {
                Ok(slots) => found.push(slots),
                Err(fault) => faults.push(fault.to_string()),
            }
        }
        if !found.is_empty() {
            Ok(found)
        } else if faults.is_empty() {
            Err(KubeError::NoMachine)
        } else {
            Err(KubeError::Shape(faults.join("; ")))
        }
    }

    fn machine_slots(
        &self,
        index: &Index<'_>,
        machine: &str,
        shape: &str,
        budget: u64,
    ) -> Result<MachineSlots, KubeError> {
        let fault = |why| KubeError::Machine { name: shown(machine).to_string(), why };
        let plan = self.plan(index, machine, Detail::DAEMON)?;
        let config = MachineConfig::of(&self.world.machines[machine].spec).map_err(fault)?;
        let shape = config.shape(shape).map_err(fault)?;
        let counted = slots(&plan.free, &[shape], budget);
        Ok(MachineSlots {
            machine: machine.to_string(),
            free: counted.boxes.len() as u32,
            bound: counted.bound,
            boxes: counted.boxes.iter().map(|at| config.box_name(at)).collect(),
        })
    }
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
        let mut cluster = Cluster { world: World::default(), now: 0, kueue: Ok(HashMap::new()) };
        assert!(matches!(cluster.slots("4x4", 1000), Err(KubeError::NoMachine)));
        for (name, grid) in [("a", "mesh:2x2"), ("b", "mesh:2x2x2")] {
            let spec = json!({ "grid": grid, "nodes": { "labels": ["x", "y"] } });
            let machine = json!({ "metadata": { "name": name, "uid": name }, "spec": spec });
            let machine = serde_json::from_value(machine).unwrap();
            cluster.world.machines.insert(name.to_string(), machine);
        }
        let error = cluster.slots("2x2x2", 1000).unwrap_err().to_string();
        let faults = "Machine a: its shape has 3 sides, but the machine has 2 axes; \
                      Machine b: nodes.labels: 2 labels, but the machine has 3 axes";
        assert_eq!(error, faults);
    }
}
