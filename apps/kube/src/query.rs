//! Queries about a cluster, which is read once.

use std::collections::HashMap;

use kube::Client;
use pavior::Time;
use pavior::answers::slots;
use pavior::text::shown;
use pavior::workload::TimeUnit;
use pavior_cluster::date;
use serde::Serialize;

use crate::client::{KubeError, connect, now, runtime};
use crate::objects::{Job, Machine, Node, Object as _, Placement, Pod, QUEUE, Uid, Workload};
use crate::plan::{Detail, Forecast, MachineConfig, Memory, Plan, Waiting, plan, unassigned};
use crate::read::{LIVING, all, start_times};
use crate::world::{Index, JobGroup, World};

/// The state of a cluster at the time of reading.
pub struct Cluster {
    pub(crate) world: World,
    now: i64,
    /// The Kueue state of each Job in a Kueue queue, or the reason why the states cannot be read.
    kueue: Result<HashMap<Uid, String>, String>,
}

/// The state of a Job that has a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// All of the Job's pods are bound.
    Runs,
    /// The Job has its nodes, but some of its pods are not bound yet.
    Placed,
    /// The Job is waiting for nodes.
    Waits,
    /// The Job cannot start unless it or the cluster changes.
    Never,
    /// The Job is suspended.
    Suspended,
    /// The pods do not exist yet.
    New,
    /// The Job has ended.
    Over,
}

impl JobState {
    /// Returns the name of the state.
    pub fn word(self) -> &'static str {
        match self {
            JobState::Runs => "runs",
            JobState::Placed => "placed",
            JobState::Waits => "waits",
            JobState::Never => "never",
            JobState::Suspended => "suspended",
            JobState::New => "new",
            JobState::Over => "over",
        }
    }
}

/// A Job that has a shape.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The shape in chips, as written.
    pub shape: String,
    /// The current state.
    pub state: JobState,
    /// The box in nodes, such as `4x4x2@0,0,6`.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The reason for the wait, in sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The Job's Kueue state, in sentences; `None` for a Job that is not in a Kueue queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kueue: Option<String>,
    /// The start according to the time limits, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts: Option<u64>,
    /// The forecast: earliest, median and latest start in seconds since 1970; null if more than 60
    /// days from now. `None` until enough is known, and for a Job that does not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[Option<u64>; 3]>,
    /// The reason if the Job does not start: `unavailable` if it cannot start until an unavailable
    /// node returns, `horizon` if it does not start within 60 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<&'static str>,
    /// The forecast in sentences, or the reason why there is no forecast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probably: Option<String>,
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
    /// Reads the cluster given by `KUBECONFIG`, `~/.kube/config` or the pod's service account.
    ///
    /// # Errors
    /// Returns an error if the cluster does not respond or the account may not list objects.
    pub fn read() -> Result<Cluster, KubeError> {
        runtime()?.block_on(async { Cluster::of(&connect().await?).await })
    }

    pub(crate) async fn of(client: &Client) -> Result<Cluster, KubeError> {
        let mut world = World::default();
        world.jobs.extend(all::<Job>(client, "").await?.map(|one| (one.uid(), one)));
        world.pods.extend(all::<Pod>(client, LIVING).await?.map(|one| (one.uid(), one)));
        let machines = all::<Machine>(client, "").await?;
        world.machines.extend(machines.map(|one| (one.name().to_string(), one)));
        let nodes = all::<Node>(client, "").await?;
        world.nodes = nodes.map(|one| (one.name().to_string(), one)).collect();
        for placement in all::<Placement>(client, "").await? {
            world.note_start(&placement);
            world.placements.insert(placement.uid(), placement);
        }
        for (job, at) in start_times(client).await? {
            world.start_times.entry(job).or_insert(at);
        }
        let is_queued = |job: &Job| job.label(QUEUE).is_some();
        let kueue = if world.jobs.values().any(is_queued) {
            let words = |one: Workload| Some((one.job()?, one.words()));
            let all = all::<Workload>(client, "").await;
            all.map(|all| all.filter_map(words).collect()).map_err(|error| error.to_string())
        } else {
            Ok(HashMap::new())
        };
        Ok(Cluster { world, now: now(), kueue })
    }

    /// Describes the Kueue state of a Job in a Kueue queue.
    fn kueue(&self, job: &Job) -> Option<String> {
        job.label(QUEUE)?;
        Some(match &self.kueue {
            Ok(all) => {
                all.get(job.id()).map_or("Kueue has no Workload for it.", |text| text).into()
            }
            Err(why) => format!("Its Kueue Workload cannot be read: {why}."),
        })
    }

    /// Returns all Jobs with a shape: running, waiting (in queue order), and finished.
    ///
    /// # Errors
    /// Returns an error if a forecast fails.
    pub fn queue(&self) -> Result<Vec<Entry>, KubeError> {
        self.entries(Detail::OPERATOR)
    }

    fn entries(&self, detail: Detail) -> Result<Vec<Entry>, KubeError> {
        let index = Index::of(&self.world);
        let mut waiting = unassigned(&index);
        let mut forecasts = Vec::new();
        for machine in self.world.machines.keys() {
            let made = match self.plan(&index, machine, detail) {
                Ok(made) => made,
                Err(fault) => {
                    let groups = index.unplaced_on(machine);
                    let jobs = groups.iter().flat_map(JobGroup::jobs);
                    waiting.extend(jobs.map(|job| Waiting::new(job, fault.to_string())));
                    continue;
                }
            };
            waiting.extend(made.waiting);
            if let Some(question) = made.question {
                forecasts.push(question.answer().map_err(KubeError::Machine)?);
            }
        }
        let place = |job: &Job| waiting.iter().position(|one| one.job.uid == job.uid());
        let shaped = self.world.jobs.values().filter(|job| job.shape().is_some());
        let mut all: Vec<(Option<usize>, Entry)> = shaped
            .map(|job| {
                let place = place(job);
                let kueue = self.kueue(job).filter(|_| !job.is_finished());
                let entry = entry(&index, job, place.map(|at| &waiting[at]), &forecasts);
                (place, Entry { kueue, ..entry })
            })
            .collect();
        all.sort_by_cached_key(|(place, one)| {
            let group = match one.state {
                JobState::Runs | JobState::Placed => 0,
                JobState::Over => 2,
                _ => 1,
            };
            (group, place.unwrap_or(usize::MAX), one.namespace.clone(), one.name.clone())
        });
        Ok(all.into_iter().map(|(_, entry)| entry).collect())
    }

    fn plan(&self, index: &Index<'_>, machine: &str, detail: Detail) -> Result<Plan, KubeError> {
        let made = plan(index, machine, &mut Memory::default(), self.now, detail);
        made.map_err(|fault| KubeError::Machine(format!("Machine {}: {fault}", shown(machine))))
    }

    /// Explains why a Job is waiting, with plans to move up to `moved` other Jobs.
    ///
    /// # Errors
    /// Returns an error if there is no such Job or a forecast fails.
    pub fn why(&self, namespace: &str, name: &str, moved: usize) -> Result<Entry, KubeError> {
        let entries = self.entries(Detail { moves: moved, ..Detail::OPERATOR })?.into_iter();
        let mut named = entries.filter(|one| one.namespace == namespace && one.name == name);
        named.next().ok_or_else(|| {
            let name = format!("{namespace}/{name}");
            KubeError::UnknownJob(shown(&name).to_string())
        })
    }

    /// Counts the boxes of a shape that fit on each machine.
    ///
    /// # Errors
    /// Returns the reason if no machine can contain a box of this shape.
    pub fn slots(&self, shape: &str, budget: u64) -> Result<Vec<MachineSlots>, KubeError> {
        let index = Index::of(&self.world);
        let (mut found, mut fault) = (Vec::new(), "the cluster has no Machine".to_string());
        for (name, machine) in &self.world.machines {
            let made = match self.plan(&index, name, Detail::DAEMON) {
                Ok(made) => made,
                Err(KubeError::Machine(why)) => {
                    fault = why;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let config = MachineConfig::of(&machine.spec).map_err(KubeError::Machine)?;
            match config.shape(shape) {
                Ok(shape) => {
                    let counted = slots(&made.free, &[shape], budget);
                    found.push(MachineSlots {
                        machine: name.clone(),
                        free: counted.boxes.len() as u32,
                        bound: counted.bound,
                        boxes: counted.boxes.iter().map(|at| config.box_name(at)).collect(),
                    });
                }
                Err(why) => fault = why,
            }
        }
        if found.is_empty() { Err(KubeError::Machine(fault)) } else { Ok(found) }
    }
}

fn entry(index: &Index<'_>, job: &Job, waiting: Option<&Waiting>, forecasts: &[Forecast]) -> Entry {
    let placement = index.placement_of(job);
    let bound =
        index.pods_of(job).filter(|pod| pod.node().is_some() && !pod.is_terminating()).count();
    let state = match (placement, waiting) {
        _ if job.is_finished() => JobState::Over,
        (Some(_), _) if bound as u32 >= job.remaining() => JobState::Runs,
        (Some(_), _) => JobState::Placed,
        (None, Some(waiting)) if waiting.is_blocked() => JobState::Never,
        (None, Some(_)) => JobState::Waits,
        _ if job.is_suspended() => JobState::Suspended,
        _ => JobState::New,
    };
    let reason = waiting.filter(|_| matches!(state, JobState::Waits | JobState::Never));
    let uid = job.uid();
    let known = forecasts.iter().find(|one| reason.is_some() && one.of(&uid).is_some());
    let obstacle = known.and_then(|one| one.of(&uid)?.obstacle);
    let calibrated = known.filter(|one| one.queue.experience.calibrated && obstacle.is_none());
    let start = calibrated.and_then(|one| one.of(&uid));
    Entry {
        namespace: job.namespace().to_string(),
        name: job.name().to_string(),
        shape: job.shape().unwrap_or_default().to_string(),
        state,
        at: placement.map(|placement| placement.spec.at.clone()),
        why: reason.map(|waiting| waiting.why.clone()),
        kueue: None,
        starts: reason.and_then(|waiting| waiting.starts_at),
        range: start.map(|start| {
            let seconds = |time: Time| time.0 / TimeUnit::SECOND.ticks;
            [start.earliest, start.median, start.latest].map(|time| time.map(seconds))
        }),
        obstacle: obstacle.map(|obstacle| obstacle.name()),
        probably: known.and_then(|one| one.words(&uid, date)),
    }
}
