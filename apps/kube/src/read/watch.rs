//! A world kept up to date by watches. When the watch of a kind restarts, the whole kind is
//! replaced; partial lists are not used.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::PostParams;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource};
use pavior::json::log as write_log;
use pavior::text::shown;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::backoff::Delays;
use super::clock::Clock;
use super::list::{LIVING, start_times};
use crate::client;
use crate::objects::{
    AdmissionCheck, Job, Machine, Node, Object, Placement, Pod, ResourceFlavor, Uid, Workload,
};
use crate::world::World;

/// An update about one kind of object.
pub(crate) enum Update {
    Machine(Event<Machine>),
    Node(Event<Node>),
    Job(Event<Job>),
    Pod(Event<Pod>),
    Placement(Event<Placement>),
    /// The time according to the API server's clock, if known.
    Time(Option<i64>),
    /// The start times of completed Jobs.
    StartTimes(Vec<(Uid, i64)>),
    Workload(Event<Workload>),
    Check(Event<AdmissionCheck>),
    Flavor(Event<ResourceFlavor>),
    /// A kind that cannot be read, with the reason; without a reason, it can be read again.
    Fault(String, Option<String>),
}

/// The list of a kind while its watch restarts.
struct InitialList<V> {
    buffer: Option<Vec<V>>,
    whole: bool,
}

impl<V> Default for InitialList<V> {
    fn default() -> InitialList<V> {
        InitialList { buffer: None, whole: false }
    }
}

/// A world and its watches.
#[derive(Default)]
pub(crate) struct ClusterWatch {
    pub(crate) world: World,
    clock: Clock,
    /// True once the API server has been asked for the time.
    timed: bool,
    /// The time when the latest plan was made.
    planned: Option<Instant>,
    machines: InitialList<Machine>,
    nodes: InitialList<Node>,
    jobs: InitialList<Job>,
    pods: InitialList<Pod>,
    placements: InitialList<Placement>,
    workloads: InitialList<Workload>,
    checks: InitialList<AdmissionCheck>,
    flavors: InitialList<ResourceFlavor>,
    /// Kinds that cannot be read, with the reasons.
    faults: BTreeMap<String, String>,
    /// The client for watching Kueue objects, kept until a machine needs them, since not every
    /// cluster has Kueue.
    kueue_client: Option<(Client, Sender<Update>)>,
}

/// The time in seconds after which the API server ends a watch, which is then resumed. A connection
/// is closed if it receives no data for longer than this.
const WATCH_S: u32 = 20;

/// The time spent collecting updates before a plan.
const GATHER: Duration = Duration::from_millis(20);

/// The minimum time between plans, each of which processes all objects.
const EVERY: Duration = Duration::from_millis(500);

/// The time between requests to an unresponsive API server.
const AGAIN: Duration = Duration::from_secs(1);

/// The fault-free time after which a watch counts as restored: unanswered requests fail within 25 s
/// and are repeated within 2 s.
const QUIET: Duration = Duration::from_secs(30);

/// The maximum number of buffered updates.
const WAITING: usize = 4096;

impl ClusterWatch {
    /// Starts the watches. With `with_starts`, also reads the start times of completed Jobs.
    pub(crate) fn begin(client: &Client, with_starts: bool) -> (ClusterWatch, Receiver<Update>) {
        let (mut watched, sender, receiver) = ClusterWatch::of_every_cluster(client);
        watched.kueue_client = Some((client.clone(), sender.clone()));
        let everything = || watcher::Config::default().timeout(WATCH_S);
        follow(Api::all(client.clone()), everything(), sender.clone(), Update::Machine);
        if with_starts {
            read_start_times(client.clone(), sender.clone());
        }
        follow(Api::all(client.clone()), everything(), sender, Update::Placement);
        (watched, receiver)
    }

    /// Starts the watches for a given machine, in a cluster without our objects.
    pub(crate) fn begin_with_machine(
        client: &Client,
        machine: Machine,
    ) -> (ClusterWatch, Receiver<Update>) {
        let (mut watched, sender, receiver) = ClusterWatch::of_every_cluster(client);
        read_start_times(client.clone(), sender);
        watched.world.machines.insert(machine.name().to_string(), machine);
        (watched.machines.whole, watched.placements.whole) = (true, true);
        (watched, receiver)
    }

    /// Watches the objects that exist in every cluster.
    fn of_every_cluster(client: &Client) -> (ClusterWatch, Sender<Update>, Receiver<Update>) {
        let (sender, receiver) = channel(WAITING);
        let everything = || watcher::Config::default().timeout(WATCH_S);
        let living = everything().fields(LIVING);
        ask_time(client.clone(), sender.clone());
        follow(Api::all(client.clone()), everything(), sender.clone(), Update::Node);
        follow(Api::all(client.clone()), everything(), sender.clone(), Update::Job);
        follow(Api::all(client.clone()), living, sender.clone(), Update::Pod);
        (ClusterWatch::default(), sender, receiver)
    }

    /// Applies updates until a plan is due. Returns false until every kind has been read
    /// completely.
    pub(crate) async fn gather(&mut self, updates: &mut Receiver<Update>) -> bool {
        let due = due(self.planned, Instant::now());
        let gathered = async {
            while let Some(one) = updates.recv().await {
                self.apply(one);
            }
        };
        // A received update is applied before the timeout can drop it.
        let _ = tokio::time::timeout_at(due.into(), gathered).await;
        if !self.is_whole() {
            return false;
        }
        self.world.kueue.fault = self.kueue_fault();
        self.planned = Some(Instant::now());
        true
    }

    /// Applies an update.
    pub(crate) fn apply(&mut self, update: Update) {
        let (world, clock) = (&mut self.world, &mut self.clock);
        let by_name = |name: &str| name.to_string();
        match update {
            Update::Machine(event) => {
                take(event, &mut self.machines, &mut world.machines, |one| by_name(one.name()));
            }
            Update::Node(event) => {
                take(event, &mut self.nodes, &mut world.nodes, |one| by_name(one.name()));
            }
            Update::Job(event) => {
                match &event {
                    Event::Delete(job) => {
                        world.start_times.remove(&job.uid());
                    }
                    Event::Apply(job) if !world.jobs.contains_key(&job.uid()) => {
                        clock.see(job.created(), client::now());
                    }
                    _ => {}
                }
                let is_listed = matches!(event, Event::InitDone);
                take(event, &mut self.jobs, &mut world.jobs, Object::uid);
                if is_listed {
                    // No later update mentions a Job that has been deleted meanwhile.
                    let World { start_times, jobs, .. } = world;
                    start_times.retain(|job, _| jobs.contains_key(job));
                }
            }
            Update::Pod(event) => take(event, &mut self.pods, &mut world.pods, Object::uid),
            Update::Fault(kind, fault) => self.note_fault(kind, fault),
            Update::Time(now) => {
                self.timed = true;
                if let Some(now) = now {
                    clock.see(now, client::now());
                }
            }
            Update::StartTimes(all) => {
                for (job, at) in all {
                    world.start_times.entry(job).or_insert(at);
                }
            }
            Update::Placement(event) => {
                if let Event::Apply(one) | Event::InitApply(one) = &event {
                    world.note_start(one);
                }
                take(event, &mut self.placements, &mut world.placements, Object::uid);
            }
            Update::Workload(event) => {
                take(event, &mut self.workloads, &mut world.kueue.workloads, Object::uid);
            }
            Update::Check(event) => {
                take(event, &mut self.checks, &mut world.kueue.checks, |one| by_name(one.name()));
            }
            Update::Flavor(event) => {
                take(event, &mut self.flavors, &mut world.kueue.flavors, |one| by_name(one.name()));
            }
        }
        self.watch_kueue();
    }

    /// Records and logs whether a kind can be read.
    fn note_fault(&mut self, kind: String, fault: Option<String>) {
        let now = client::now().max(0) as u64;
        match fault {
            Some(why) if self.faults.get(&kind) != Some(&why) => {
                let more = json!({ "kind": kind, "why": why });
                write_log(now, "warn", "a kind cannot be read", more);
                self.faults.insert(kind, why);
            }
            Some(_) => {}
            None => {
                write_log(now, "info", "a kind can be read again", json!({ "kind": kind }));
                self.faults.remove(&kind);
            }
        }
    }

    /// Returns the kinds that cannot be read, with the reasons.
    pub(crate) fn faults(&self) -> &BTreeMap<String, String> {
        &self.faults
    }

    /// Returns the reason if Kueue objects have never been read completely.
    fn kueue_fault(&self) -> Option<String> {
        let kinds = [
            ("workloads", self.workloads.whole),
            ("admissionchecks", self.checks.whole),
            ("resourceflavors", self.flavors.whole),
        ];
        let mut lacking = kinds.into_iter().filter(|(_, whole)| !whole);
        let fault = |kind: &str| Some(format!("{kind} of Kueue: {}", self.faults.get(kind)?));
        lacking.find_map(|(kind, _)| fault(kind))
    }

    /// Watches Kueue objects once a machine needs them.
    fn watch_kueue(&mut self) {
        let everything = || watcher::Config::default().timeout(WATCH_S);
        if self.has_checks()
            && let Some((client, sender)) = self.kueue_client.take()
        {
            follow(Api::all(client.clone()), everything(), sender.clone(), Update::Workload);
            follow(Api::all(client.clone()), everything(), sender.clone(), Update::Check);
            follow(Api::all(client), everything(), sender, Update::Flavor);
        }
    }

    fn has_checks(&self) -> bool {
        self.world.machines.values().any(|machine| machine.spec.admission_check.is_some())
    }

    /// Returns the time according to the API server's clock, in seconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.clock.now(client::now())
    }

    /// Returns true if every kind has been read completely once and the time is known.
    fn is_whole(&self) -> bool {
        self.timed
            && self.machines.whole
            && self.nodes.whole
            && self.jobs.whole
            && self.pods.whole
            && self.placements.whole
            && ((self.workloads.whole && self.checks.whole && self.flavors.whole)
                || !self.has_checks()
                || self.kueue_fault().is_some())
    }
}

/// Returns when to plan after an update that arrives now: half a second after the previous plan,
/// but not before a short delay in which more updates can arrive.
fn due(planned: Option<Instant>, now: Instant) -> Instant {
    planned.map_or(now, |at| at + EVERY).max(now + GATHER)
}

fn take<K: Ord, V>(
    event: Event<V>,
    filling: &mut InitialList<V>,
    kept: &mut BTreeMap<K, V>,
    key: impl Fn(&V) -> K,
) {
    match event {
        Event::Apply(one) => drop(kept.insert(key(&one), one)),
        Event::Delete(one) => drop(kept.remove(&key(&one))),
        Event::Init => filling.buffer = Some(Vec::new()),
        Event::InitApply(one) => filling.buffer.get_or_insert_default().push(one),
        Event::InitDone => {
            let all = filling.buffer.take().unwrap_or_default().into_iter();
            *kept = all.map(|one| (key(&one), one)).collect();
            filling.whole = true;
        }
    }
}

/// Asks once for the time according to the API server's clock. Any account may create a review of
/// itself, which has a creation time.
fn ask_time(client: Client, sender: Sender<Update>) {
    tokio::spawn(async move {
        let reviews: Api<SelfSubjectReview> = Api::all(client);
        let review = SelfSubjectReview::default();
        loop {
            let made = reviews.create(&PostParams::default(), &review).await;
            let made = match made {
                Ok(made) => made.metadata.creation_timestamp,
                // The time is then derived from updates about new objects.
                Err(kube::Error::Api(_)) => None,
                Err(_) => {
                    tokio::time::sleep(AGAIN).await;
                    continue;
                }
            };
            return drop(sender.send(Update::Time(made.map(|time| time.0.as_second()))).await);
        }
    });
}

/// Reads the start times of completed Jobs once.
fn read_start_times(client: Client, sender: Sender<Update>) {
    tokio::spawn(async move {
        match start_times(&client).await {
            Ok(start_times) => drop(sender.send(Update::StartTimes(start_times)).await),
            Err(why) => {
                let (now, why) = (client::now().max(0) as u64, json!({ "why": why.to_string() }));
                write_log(now, "warn", "start times of completed Jobs were not read", why);
            }
        }
    });
}

/// Watches a kind until the receiver is dropped.
fn follow<K>(
    api: Api<K>,
    config: watcher::Config,
    sender: Sender<Update>,
    update: impl Fn(Event<K>) -> Update + Send + 'static,
) where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static,
{
    tokio::spawn(async move {
        let kind = K::plural(&()).into_owned();
        let events = watcher(api, config).backoff(Delays::default());
        let mut events = Box::pin(events.modify(|one| one.meta_mut().managed_fields = None));
        let mut is_faulty = false;
        loop {
            let quiet = if is_faulty { QUIET } else { Duration::from_hours(24) };
            let next = tokio::time::timeout(quiet, events.next()).await;
            // A resumed watch reports no event until an object changes, and a list begins with an
            // event even before it is requested.
            let is_whole = !matches!(next, Ok(Some(Err(_) | Ok(Event::Init)) | None));
            if is_whole
                && std::mem::take(&mut is_faulty)
                && sender.send(Update::Fault(kind.clone(), None)).await.is_err()
            {
                return;
            }
            let next = match next {
                Err(_) => continue,
                Ok(None) => return,
                Ok(Some(Ok(event))) => update(event),
                // The watch restarts; the old state is kept until the new list is complete.
                Ok(Some(Err(watcher::Error::WatchError(status)))) if status.code == 410 => continue,
                Ok(Some(Err(error))) => {
                    is_faulty = true;
                    Update::Fault(kind.clone(), Some(shown(&error.to_string()).to_string()))
                }
            };
            if sender.send(next).await.is_err() {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plans_are_half_a_second_apart_and_the_first_after_a_pause_is_made_at_once() {
        let now = Instant::now();
        assert_eq!(due(None, now), now + GATHER);
        for (since_ms, wait_ms) in [(0, 500), (30, 470), (479, 21), (490, 20), (9000, 20)] {
            let planned = now.checked_sub(Duration::from_millis(since_ms)).unwrap();
            let waits = due(Some(planned), now).duration_since(now);
            assert_eq!(waits, Duration::from_millis(wait_ms), "{since_ms} ms after a plan");
        }
    }

    #[test]
    fn the_start_of_a_job_that_was_deleted_unnoticed_is_forgotten() {
        let mut watched = ClusterWatch::default();
        let job = |name: &str| {
            let job = json!({ "metadata": { "name": name, "uid": name }, "spec": {} });
            serde_json::from_value::<Job>(job).unwrap()
        };
        let list = |watched: &mut ClusterWatch, names: &[&str]| {
            watched.apply(Update::Job(Event::Init));
            for name in names {
                watched.apply(Update::Job(Event::InitApply(job(name))));
            }
            watched.apply(Update::Job(Event::InitDone));
        };
        let start_times = ["a", "b"].map(|name| (Uid(name.to_string()), 7));
        watched.apply(Update::StartTimes(start_times.to_vec()));
        list(&mut watched, &["a", "b"]);
        assert_eq!(watched.world.start_times.len(), 2);
        list(&mut watched, &["b"]);
        assert_eq!(watched.world.start_times, [start_times[1].clone()].into());
        watched.apply(Update::Job(Event::Delete(job("b"))));
        assert!(watched.world.start_times.is_empty());
    }
}
