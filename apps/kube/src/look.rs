//! What people ask of a cluster. It is read once, and nothing is written.

use kube::api::ListParams;
use kube::{Api, Client, Resource};
use pavior::Time;
use pavior::answers::slots;
use pavior::text::shown;
use pavior::workload::TimeUnit;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::KubeError;
use crate::objects::{Job, Known as _, Machine, Node, Placement, Pod, Uid};
use crate::plan::{Asker, Depth, Forecast, Memory, Plan, Site, Waiting, plan, strays};
use crate::watch::LIVING;
use crate::world::{Index, World};

/// Objects of one answer.
const PAGE: u32 = 500;
/// A cluster as it was read.
pub struct Cluster {
    pub(crate) world: World,
    now: i64,
}

/// What becomes of a Job with a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// All its pods have their nodes.
    Runs,
    /// It has its nodes, and some of its pods are not bound yet.
    Placed,
    /// It waits for nodes.
    Waits,
    /// It waits for ever if it is not changed.
    Never,
    /// It is suspended.
    Suspended,
    /// Its pods are about to be made.
    New,
    /// It has ended.
    Over,
}

impl State {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            State::Runs => "runs",
            State::Placed => "placed",
            State::Waits => "waits",
            State::Never => "never",
            State::Suspended => "suspended",
            State::New => "new",
            State::Over => "over",
        }
    }
}

/// A Job with a shape.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The shape in chips, as it is written.
    pub shape: String,
    /// What becomes of it.
    pub state: State,
    /// Where it lies, such as `4x4x2@0,0,6`, in nodes.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What it waits for, in sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When it starts if all Jobs run as long as they say, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts: Option<u64>,
    /// When it will probably start: the earliest, the median and the latest, in seconds since 1970;
    /// null for more than 60 days from now. None before enough is known, and where it does not
    /// start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[Option<u64>; 3]>,
    /// Why it has no start: `unavailable` if it cannot start until an unavailable node is back,
    /// `horizon` if it does not start within 60 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<&'static str>,
    /// The same in sentences, or what is lacking for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probably: Option<String>,
}

/// How many boxes of a shape fit side by side on the free nodes of a machine.
#[derive(Clone, Debug, Serialize)]
pub struct MachineSlots {
    /// The machine.
    pub machine: String,
    /// So many that were found.
    pub free: u32,
    /// No more than this many fit.
    pub bound: u32,
    /// Where they lie, in nodes.
    pub boxes: Vec<String>,
}

impl Cluster {
    /// Reads the cluster that `KUBECONFIG`, `~/.kube/config` or the pod's account names.
    ///
    /// # Errors
    /// If it does not answer, or the account may not list what is read.
    pub fn read() -> Result<Cluster, KubeError> {
        crate::runtime()?.block_on(async { Cluster::of(&crate::client().await?).await })
    }

    pub(crate) async fn of(client: &Client) -> Result<Cluster, KubeError> {
        let Cluster { mut world, now } = Cluster::of_theirs(client).await?;
        let machines = all::<Machine>(client, "").await?;
        world.machines.extend(machines.map(|one| (one.name().to_string(), one)));
        let nodes = all::<Node>(client, "").await?;
        world.nodes = nodes.map(|one| (one.name().to_string(), one)).collect();
        for placement in all::<Placement>(client, "").await? {
            world.begin(&placement);
            world.placements.insert(placement.uid(), placement);
        }
        for (job, at) in begun(client).await? {
            world.begun.entry(job).or_insert(at);
        }
        Ok(Cluster { world, now })
    }

    /// Jobs and pods alone, which every cluster knows.
    pub(crate) async fn of_theirs(client: &Client) -> Result<Cluster, KubeError> {
        let mut world = World::default();
        world.jobs.extend(all::<Job>(client, "").await?.map(|one| (one.uid(), one)));
        world.pods.extend(all::<Pod>(client, LIVING).await?.map(|one| (one.uid(), one)));
        Ok(Cluster { world, now: crate::now() })
    }

    /// All Jobs with a shape: those that hold nodes, those that wait, in the order of the queue,
    /// and those that are over.
    ///
    /// # Errors
    /// If a machine's description cannot be used.
    pub fn queue(&self) -> Result<Vec<Entry>, KubeError> {
        self.entries(Depth {
            told: usize::MAX,
            moved: 0,
            starts: true,
            asker: Asker::Operator,
            forecast: true,
            ..Depth::ACT
        })
    }

    fn entries(&self, depth: Depth) -> Result<Vec<Entry>, KubeError> {
        let index = Index::of(&self.world);
        let mut waiting = strays(&index);
        let mut forecasts = Vec::new();
        for machine in self.world.machines.keys() {
            let made = self.plan(&index, machine, depth)?;
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
                (place, entry(&index, job, place.map(|at| &waiting[at]), &forecasts))
            })
            .collect();
        all.sort_by_cached_key(|(place, one)| {
            let group = match one.state {
                State::Runs | State::Placed => 0,
                State::Over => 2,
                _ => 1,
            };
            (group, place.unwrap_or(usize::MAX), one.namespace.clone(), one.name.clone())
        });
        Ok(all.into_iter().map(|(_, entry)| entry).collect())
    }

    fn plan(&self, index: &Index<'_>, machine: &str, depth: Depth) -> Result<Plan, KubeError> {
        let made = plan(index, machine, &mut Memory::default(), self.now, depth);
        made.map_err(|fault| KubeError::Machine(format!("{}: {fault}", shown(machine))))
    }

    /// What a Job waits for, with plans in which so many other Jobs move.
    ///
    /// # Errors
    /// If there is no such Job, or a machine's description cannot be used.
    pub fn why(&self, namespace: &str, name: &str, moved: usize) -> Result<Entry, KubeError> {
        let depth = Depth {
            told: usize::MAX,
            moved,
            starts: true,
            asker: Asker::Operator,
            forecast: true,
            ..Depth::ACT
        };
        let entries = self.entries(depth)?.into_iter();
        let mut named = entries.filter(|one| one.namespace == namespace && one.name == name);
        named.next().ok_or_else(|| {
            let name = format!("{namespace}/{name}");
            KubeError::UnknownJob(shown(&name).to_string())
        })
    }

    /// How many boxes of a shape fit on each machine that can have it.
    ///
    /// # Errors
    /// If no machine can, with why.
    pub fn slots(&self, shape: &str, budget: u64) -> Result<Vec<MachineSlots>, KubeError> {
        let index = Index::of(&self.world);
        let (mut found, mut fault) = (Vec::new(), "the cluster has no machine".to_string());
        for (name, machine) in &self.world.machines {
            let made = self.plan(&index, name, Depth::ACT)?;
            let site = Site::of(&machine.spec).map_err(KubeError::Machine)?;
            match site.shape(shape) {
                Ok(shape) => {
                    let counted = slots(&made.free, &[shape], budget);
                    found.push(MachineSlots {
                        machine: name.clone(),
                        free: counted.boxes.len() as u32,
                        bound: counted.bound,
                        boxes: counted.boxes.iter().map(|at| site.words(at)).collect(),
                    });
                }
                Err(why) => fault = why,
            }
        }
        if found.is_empty() { Err(KubeError::Machine(fault)) } else { Ok(found) }
    }

    /// The pods that our gate holds.
    pub(crate) fn gated(&self) -> impl Iterator<Item = &Pod> {
        self.world.pods.values().filter(|pod| pod.gate().is_some() && !pod.is_going())
    }
}

fn entry(index: &Index<'_>, job: &Job, waiting: Option<&Waiting>, forecasts: &[Forecast]) -> Entry {
    let placement = index.placement_of(job);
    let bound = index.pods_of(job).filter(|pod| pod.node().is_some() && !pod.is_going()).count();
    let state = match (placement, waiting) {
        _ if job.is_over() => State::Over,
        (Some(_), _) if bound as u32 >= job.left() => State::Runs,
        (Some(_), _) => State::Placed,
        (None, Some(waiting)) if waiting.never => State::Never,
        (None, Some(_)) => State::Waits,
        _ if job.is_suspended() => State::Suspended,
        _ => State::New,
    };
    let told = waiting.filter(|_| matches!(state, State::Waits | State::Never));
    let uid = job.uid();
    let known = forecasts.iter().find(|one| told.is_some() && one.of(&uid).is_some());
    let obstacle = known.and_then(|one| one.of(&uid)?.obstacle);
    let calibrated = known.filter(|one| one.queue.experience.calibrated && obstacle.is_none());
    let start = calibrated.and_then(|one| one.of(&uid));
    Entry {
        namespace: job.namespace().to_string(),
        name: job.name().to_string(),
        shape: job.shape().unwrap_or_default().to_string(),
        state,
        at: placement.map(|placement| placement.spec.at.clone()),
        why: told.map(|waiting| waiting.why.clone()),
        starts: told.and_then(|waiting| waiting.starts),
        range: start.map(|start| {
            let seconds = |time: Time| time.0 / TimeUnit::SECOND.ticks;
            [start.earliest, start.median, start.latest].map(|time| time.map(seconds))
        }),
        obstacle: obstacle.map(|obstacle| obstacle.name()),
        probably: known.and_then(|one| one.words(&uid, date)),
    }
}

/// When the Jobs that are complete had begun: when the node of their first pod took it. Jobs whose
/// pods were deleted are not known.
pub(crate) async fn begun(client: &Client) -> Result<Vec<(Uid, i64)>, KubeError> {
    let first = ListParams::default()
        .fields("status.phase=Succeeded")
        .labels("batch.kubernetes.io/job-completion-index=0");
    let begun = |pod: Pod| Some((pod.owner()?, pod.status.start_time.as_ref()?.0.as_second()));
    Ok(listed::<Pod>(client, first).await?.filter_map(begun).collect())
}

/// An instant in seconds since 1970.
fn date(seconds: u64) -> String {
    pavior::time::Date(std::time::Duration::from_secs(seconds)).to_string()
}

/// All objects of a kind.
async fn all<K>(client: &Client, fields: &str) -> Result<impl Iterator<Item = K>, KubeError>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    listed(client, ListParams::default().fields(fields)).await
}

/// Objects of a kind, page by page.
async fn listed<K>(client: &Client, list: ListParams) -> Result<impl Iterator<Item = K>, KubeError>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let api: Api<K> = Api::all(client.clone());
    let mut found = Vec::new();
    let mut list = list.limit(PAGE);
    loop {
        let page = api.list(&list).await.map_err(|error| KubeError::Refused {
            what: format!("list {}", K::plural(&())),
            why: shown(&error.to_string()).to_string(),
        })?;
        found.extend(page.items);
        match page.metadata.continue_.filter(|next| !next.is_empty()) {
            Some(next) => list = list.continue_token(&next),
            None => return Ok(found.into_iter()),
        }
    }
}
