//! A world that watches keep up to date. When the watch for a kind restarts, all objects of that
//! kind are replaced at the end of the new list. Partial lists are not used.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kube::runtime::watcher::Event;
use kube::{Client, Resource as _};
use serde_json::json;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::clock::Clock;
use super::initial_list::InitialList;
use super::list::ACTIVE_PODS;
use super::tasks::{follow, read_server_time, read_start_times, watch_config};
use super::update::Update;
use crate::log::log;
use crate::objects::{
    AdmissionCheck, Job, Machine, Node, Object, Placement, Pod, ResourceFlavor, Workload,
};
use crate::time;
use crate::world::World;

/// The minimum time spent collecting updates before a plan.
const GATHER_TIME: Duration = Duration::from_millis(20);

/// The minimum time between two plans, each of which processes all objects.
const PLAN_INTERVAL: Duration = Duration::from_millis(500);

/// The maximum number of buffered updates.
const UPDATE_BUFFER: usize = 4096;

/// A world and its watches.
#[derive(Default)]
pub(crate) struct ClusterWatch {
    pub(crate) world: World,
    clock: Clock,
    /// True once the API server has answered the request for the time, even with an error.
    has_time_reply: bool,
    planned_at: Option<Instant>,
    machines: InitialList<Machine>,
    nodes: InitialList<Node>,
    jobs: InitialList<Job>,
    pods: InitialList<Pod>,
    placements: InitialList<Placement>,
    workloads: InitialList<Workload>,
    checks: InitialList<AdmissionCheck>,
    flavors: InitialList<ResourceFlavor>,
    /// Kinds of objects that cannot be read, each with the reason.
    faults: BTreeMap<String, String>,
    /// The client for watching Kueue objects. Not every cluster has Kueue, so the client is kept
    /// here until a machine needs such objects.
    kueue_client: Option<(Client, Sender<Update>)>,
}

impl ClusterWatch {
    /// Starts the watches. Also reads completed Jobs' start times if `has_page` is true.
    pub(crate) fn start(client: &Client, has_page: bool) -> (ClusterWatch, Receiver<Update>) {
        let (mut watch, sender, receiver) = ClusterWatch::start_common(client);
        if has_page {
            read_start_times(client.clone(), sender.clone());
        }
        follow(client, watch_config(), &sender, Update::Machine);
        follow(client, watch_config(), &sender, Update::Placement);
        watch.kueue_client = Some((client.clone(), sender));
        (watch, receiver)
    }

    /// Starts the watches for a given machine in a cluster without our custom resources. Kueue
    /// objects are not read, because an observer does not need them.
    pub(crate) fn start_for_machine(
        client: &Client,
        machine: Machine,
    ) -> (ClusterWatch, Receiver<Update>) {
        let (mut watch, sender, receiver) = ClusterWatch::start_common(client);
        read_start_times(client.clone(), sender);
        watch.world.machines.insert(name_of(&machine), machine);
        (watch.machines.is_complete, watch.placements.is_complete) = (true, true);
        watch.workloads.is_complete = true;
        (watch.checks.is_complete, watch.flavors.is_complete) = (true, true);
        (watch, receiver)
    }

    /// Watches the objects that exist in every cluster.
    fn start_common(client: &Client) -> (ClusterWatch, Sender<Update>, Receiver<Update>) {
        let (sender, receiver) = channel(UPDATE_BUFFER);
        read_server_time(client.clone(), sender.clone());
        follow(client, watch_config(), &sender, Update::Node);
        follow(client, watch_config(), &sender, Update::Job);
        follow(client, watch_config().fields(ACTIVE_PODS), &sender, Update::Pod);
        (ClusterWatch::default(), sender, receiver)
    }

    /// Applies updates until a plan is due. Returns false until every kind of object has been read
    /// completely.
    pub(crate) async fn gather(&mut self, updates: &mut Receiver<Update>) -> bool {
        let due = due(self.planned_at, Instant::now());
        let gathered = async {
            while let Some(update) = updates.recv().await {
                self.apply(update);
            }
        };
        // Each update is applied when it is received, so no update is lost in a timeout.
        let _ = tokio::time::timeout_at(due.into(), gathered).await;
        if !self.is_complete() {
            return false;
        }
        self.world.kueue.fault = self.kueue_fault();
        self.planned_at = Some(Instant::now());
        true
    }

    pub(crate) fn apply(&mut self, update: Update) {
        let world = &mut self.world;
        match update {
            Update::Machine(event) => self.machines.apply(event, &mut world.machines, name_of),
            Update::Node(event) => self.nodes.apply(event, &mut world.nodes, name_of),
            Update::Job(event) => self.apply_job(event),
            Update::Pod(event) => self.pods.apply(event, &mut world.pods, Object::uid),
            Update::Placement(event) => {
                if let Event::Apply(placement) | Event::InitApply(placement) = &event {
                    world.start_times.extend(placement.start_times());
                }
                self.placements.apply(event, &mut world.placements, Object::uid);
            }
            Update::Time(now) => {
                self.has_time_reply = true;
                if let Some(now) = now {
                    self.clock.observe(now, time::now());
                }
            }
            Update::StartTimes(all) => {
                for (job, at) in all {
                    world.start_times.entry(job).or_insert(at);
                }
            }
            Update::Workload(event) => {
                self.workloads.apply(event, &mut world.kueue.workloads, Object::uid);
            }
            Update::Check(event) => self.checks.apply(event, &mut world.kueue.checks, name_of),
            Update::Flavor(event) => self.flavors.apply(event, &mut world.kueue.flavors, name_of),
            Update::Readable(kind) => {
                log("info", "objects of this kind can be read again", json!({ "kind": kind }));
                self.faults.remove(&kind);
            }
            Update::Unreadable { kind, why } => {
                if self.faults.get(&kind) != Some(&why) {
                    let more = json!({ "kind": kind, "why": why });
                    log("warn", "an object kind cannot be read", more);
                    self.faults.insert(kind, why);
                }
            }
        }
        self.watch_kueue();
    }

    fn apply_job(&mut self, event: Event<Job>) {
        let World { jobs, start_times, .. } = &mut self.world;
        match &event {
            Event::Delete(job) => drop(start_times.remove(&job.uid())),
            Event::Apply(job) if !jobs.contains_key(&job.uid()) => {
                self.clock.observe(job.created(), time::now());
            }
            _ => {}
        }
        let is_listed = matches!(event, Event::InitDone);
        self.jobs.apply(event, jobs, Object::uid);
        if is_listed {
            // Drop Jobs deleted in the meantime, because no update will report their deletion.
            start_times.retain(|job, _| jobs.contains_key(job));
        }
    }

    pub(crate) fn faults(&self) -> &BTreeMap<String, String> {
        &self.faults
    }

    /// If a kind of Kueue object has never been read completely, returns that kind's fault, if any.
    fn kueue_fault(&self) -> Option<String> {
        let kinds = [
            (Workload::plural(&()), self.workloads.is_complete),
            (AdmissionCheck::plural(&()), self.checks.is_complete),
            (ResourceFlavor::plural(&()), self.flavors.is_complete),
        ];
        let mut incomplete = kinds.into_iter().filter(|(_, is_complete)| !is_complete);
        let fault = |kind: &str| Some(format!("Kueue {kind}: {}", self.faults.get(kind)?));
        incomplete.find_map(|(kind, _)| fault(&kind))
    }

    /// Watches Kueue objects once a machine needs them.
    fn watch_kueue(&mut self) {
        if self.uses_kueue()
            && let Some((client, sender)) = self.kueue_client.take()
        {
            follow(&client, watch_config(), &sender, Update::Workload);
            follow(&client, watch_config(), &sender, Update::Check);
            follow(&client, watch_config(), &sender, Update::Flavor);
        }
    }

    fn uses_kueue(&self) -> bool {
        self.world.machines.values().any(|machine| machine.spec.admission_check.is_some())
    }

    /// Returns the time according to the API server's clock, in seconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.clock.now(time::now())
    }

    /// Returns true if every kind of object has been read completely once and the request for
    /// the time has been answered.
    fn is_complete(&self) -> bool {
        let has_kueue =
            self.workloads.is_complete && self.checks.is_complete && self.flavors.is_complete;
        self.has_time_reply
            && self.machines.is_complete
            && self.nodes.is_complete
            && self.jobs.is_complete
            && self.pods.is_complete
            && self.placements.is_complete
            && (has_kueue || !self.uses_kueue() || self.kueue_fault().is_some())
    }
}

fn name_of<K: Object>(object: &K) -> String {
    object.name().to_string()
}

/// Returns the time of the next plan if an update arrives now: half a second after the previous
/// plan, or after a short delay in which more updates can arrive, whichever is later.
fn due(planned_at: Option<Instant>, now: Instant) -> Instant {
    planned_at.map_or(now, |at| at + PLAN_INTERVAL).max(now + GATHER_TIME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Uid;

    #[test]
    fn plans_are_half_a_second_apart() {
        let now = Instant::now();
        assert_eq!(due(None, now), now + GATHER_TIME);
        for (since_ms, wait_ms) in [(0, 500), (30, 470), (479, 21), (490, 20), (9000, 20)] {
            let planned_at = now.checked_sub(Duration::from_millis(since_ms)).unwrap();
            let waits = due(Some(planned_at), now).duration_since(now);
            assert_eq!(waits, Duration::from_millis(wait_ms), "{since_ms} ms after a plan");
        }
    }

    #[tokio::test]
    async fn a_given_machine_with_an_admission_check_does_not_wait_for_kueue() {
        let spec =
            json!({ "grid": "mesh:2", "nodes": { "pattern": "n{}" }, "admissionCheck": "place" });
        let machine = serde_json::from_value(json!({ "metadata": {}, "spec": spec })).unwrap();
        let unused = kube::Config::new("http://127.0.0.1:9".parse().unwrap());
        let client = Client::try_from(unused).unwrap();
        let (mut watch, _updates) = ClusterWatch::start_for_machine(&client, machine);
        watch.apply(Update::Node(Event::InitDone));
        watch.apply(Update::Job(Event::InitDone));
        watch.apply(Update::Pod(Event::InitDone));
        watch.apply(Update::Time(None));
        assert!(watch.is_complete());
    }

    #[test]
    fn the_start_times_of_unlisted_jobs_are_removed() {
        let mut watch = ClusterWatch::default();
        let job = |name: &str| {
            let job = json!({ "metadata": { "name": name, "uid": name }, "spec": {} });
            serde_json::from_value::<Job>(job).unwrap()
        };
        let list = |watch: &mut ClusterWatch, names: &[&str]| {
            watch.apply(Update::Job(Event::Init));
            for name in names {
                watch.apply(Update::Job(Event::InitApply(job(name))));
            }
            watch.apply(Update::Job(Event::InitDone));
        };
        let start_times = ["a", "b"].map(|name| (Uid(name.to_string()), 7));
        watch.apply(Update::StartTimes(start_times.to_vec()));
        list(&mut watch, &["a", "b"]);
        assert_eq!(watch.world.start_times.len(), 2);
        list(&mut watch, &["b"]);
        assert_eq!(watch.world.start_times, [start_times[1].clone()].into());
        watch.apply(Update::Job(Event::Delete(job("b"))));
        assert!(watch.world.start_times.is_empty());
    }
}
