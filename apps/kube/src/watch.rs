//! The world, kept by watches. A kind is replaced as a whole when its watch begins anew: what was
//! read only in part is not believed.

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
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::clock::Clock;
use crate::look;
use crate::objects::{
    AdmissionCheck, Job, Known, Machine, Node, Placement, Pod, ResourceFlavor, Uid, Workload,
};
use crate::world::World;

/// News of a kind.
pub(crate) enum News {
    Machine(Event<Machine>),
    Node(Event<Node>),
    Job(Event<Job>),
    Pod(Event<Pod>),
    Placement(Event<Placement>),
    /// What time it is by the API server's clock, if it says.
    Time(Option<i64>),
    /// When Jobs that were complete before had begun.
    Begun(Vec<(Uid, i64)>),
    Workload(Event<Workload>),
    Check(Event<AdmissionCheck>),
    Flavor(Event<ResourceFlavor>),
}

/// What a kind is filled with while its watch begins anew.
struct Filling<V> {
    buffer: Option<Vec<V>>,
    whole: bool,
}

impl<V> Default for Filling<V> {
    fn default() -> Filling<V> {
        Filling { buffer: None, whole: false }
    }
}

/// The world that is being read.
#[derive(Default)]
pub(crate) struct Watched {
    pub(crate) world: World,
    clock: Clock,
    /// Whether the API server was asked what time it is.
    timed: bool,
    /// When the latest plan was due.
    planned: Option<Instant>,
    machines: Filling<Machine>,
    nodes: Filling<Node>,
    jobs: Filling<Job>,
    pods: Filling<Pod>,
    placements: Filling<Placement>,
    workloads: Filling<Workload>,
    checks: Filling<AdmissionCheck>,
    flavors: Filling<ResourceFlavor>,
    /// What objects of Kueue are watched with once a machine needs them: not every cluster has
    /// them.
    late: Option<(Client, Sender<News>)>,
}

/// Selects pods that have not ended: others hold no node.
pub(crate) const LIVING: &str = "status.phase!=Succeeded,status.phase!=Failed";

/// How long updates are gathered before a plan is made of them.
const GATHER: Duration = Duration::from_millis(20);

/// The shortest time from one plan to the next: each is made of everything that was read.
const EVERY: Duration = Duration::from_millis(500);

/// How long after an API server that did not answer is asked again.
const AGAIN: Duration = Duration::from_secs(1);

/// The most news that wait to be taken in.
const WAITING: usize = 4096;

impl Watched {
    /// Begins to watch. If wanted, it is read once when the Jobs began that are complete by now.
    pub(crate) fn begin(client: &Client, recalls: bool) -> (Watched, Receiver<News>) {
        let (mut watched, sender, receiver) = Watched::of_theirs(client);
        watched.late = Some((client.clone(), sender.clone()));
        let everything = watcher::Config::default;
        follow(Api::all(client.clone()), everything(), sender.clone(), News::Machine);
        if recalls {
            recall(client.clone(), sender.clone());
        }
        follow(Api::all(client.clone()), everything(), sender, News::Placement);
        (watched, receiver)
    }

    /// Begins to watch a cluster in which objects of ours need not be known: the machine is given.
    pub(crate) fn begin_without_ours(
        client: &Client,
        machine: Machine,
    ) -> (Watched, Receiver<News>) {
        let (mut watched, sender, receiver) = Watched::of_theirs(client);
        recall(client.clone(), sender);
        watched.world.machines.insert(machine.name().to_string(), machine);
        (watched.machines.whole, watched.placements.whole) = (true, true);
        (watched, receiver)
    }

    /// Watches the objects that every cluster has.
    fn of_theirs(client: &Client) -> (Watched, Sender<News>, Receiver<News>) {
        let (sender, receiver) = channel(WAITING);
        let everything = watcher::Config::default;
        let living = everything().fields(LIVING);
        ask_time(client.clone(), sender.clone());
        follow(Api::all(client.clone()), everything(), sender.clone(), News::Node);
        follow(Api::all(client.clone()), everything(), sender.clone(), News::Job);
        follow(Api::all(client.clone()), living, sender.clone(), News::Pod);
        (Watched::default(), sender, receiver)
    }

    /// Takes in updates until a plan is due. Returns false if none can be made yet, because some
    /// kind was not read whole.
    pub(crate) async fn gather(&mut self, news: &mut Receiver<News>) -> bool {
        let due = due(self.planned, Instant::now());
        let gathered = async {
            while let Some(one) = news.recv().await {
                self.apply(one);
            }
        };
        // What is received is applied before anything can be dropped.
        let _ = tokio::time::timeout_at(due.into(), gathered).await;
        if !self.is_whole() {
            return false;
        }
        self.planned = Some(Instant::now());
        true
    }

    /// Takes in what has happened.
    pub(crate) fn apply(&mut self, news: News) {
        let (world, clock) = (&mut self.world, &mut self.clock);
        let by_name = |name: &str| name.to_string();
        match news {
            News::Machine(event) => {
                take(event, &mut self.machines, &mut world.machines, |one| by_name(one.name()));
            }
            News::Node(event) => {
                take(event, &mut self.nodes, &mut world.nodes, |one| by_name(one.name()));
            }
            News::Job(event) => {
                match &event {
                    Event::Delete(job) => {
                        world.begun.remove(&job.uid());
                    }
                    Event::Apply(job) if !world.jobs.contains_key(&job.uid()) => {
                        clock.see(job.created(), crate::now());
                    }
                    _ => {}
                }
                let anew = matches!(event, Event::InitDone);
                take(event, &mut self.jobs, &mut world.jobs, Known::uid);
                if anew {
                    // Of a Job that was deleted meanwhile nothing else is heard.
                    let World { begun, jobs, .. } = world;
                    begun.retain(|job, _| jobs.contains_key(job));
                }
            }
            News::Pod(event) => take(event, &mut self.pods, &mut world.pods, Known::uid),
            News::Time(now) => {
                self.timed = true;
                if let Some(now) = now {
                    clock.see(now, crate::now());
                }
            }
            News::Begun(all) => {
                for (job, at) in all {
                    world.begun.entry(job).or_insert(at);
                }
            }
            News::Placement(event) => {
                if let Event::Apply(one) | Event::InitApply(one) = &event {
                    world.begin(one);
                }
                take(event, &mut self.placements, &mut world.placements, Known::uid);
            }
            News::Workload(event) => {
                take(event, &mut self.workloads, &mut world.kueue.workloads, Known::uid);
            }
            News::Check(event) => {
                take(event, &mut self.checks, &mut world.kueue.checks, |one| by_name(one.name()));
            }
            News::Flavor(event) => {
                take(event, &mut self.flavors, &mut world.kueue.flavors, |one| by_name(one.name()));
            }
        }
        self.begin_late();
    }

    /// Watches what a machine needs that is known by now.
    fn begin_late(&mut self) {
        let everything = watcher::Config::default;
        if self.has_checks()
            && let Some((client, sender)) = self.late.take()
        {
            follow(Api::all(client.clone()), everything(), sender.clone(), News::Workload);
            follow(Api::all(client.clone()), everything(), sender.clone(), News::Check);
            follow(Api::all(client), everything(), sender, News::Flavor);
        }
    }

    fn has_checks(&self) -> bool {
        self.world.machines.values().any(|machine| machine.spec.admission_check.is_some())
    }

    /// The time by the API server's clock, in seconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.clock.now(crate::now())
    }

    /// Whether every kind was read whole at least once, and the time is known.
    fn is_whole(&self) -> bool {
        self.timed
            && self.machines.whole
            && self.nodes.whole
            && self.jobs.whole
            && self.pods.whole
            && self.placements.whole
            && ((self.workloads.whole && self.checks.whole && self.flavors.whole)
                || !self.has_checks())
    }
}

/// Returns when a plan is made of an update that arrives now: after a pause at once, but for the
/// moment in which others may follow; else half a second after the plan before.
fn due(planned: Option<Instant>, now: Instant) -> Instant {
    planned.map_or(now, |at| at + EVERY).max(now + GATHER)
}

fn take<K: Ord, V>(
    event: Event<V>,
    filling: &mut Filling<V>,
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

/// Asks once what time it is by the API server's clock: who asks for a review of itself, which
/// every account may, is told when it was made.
fn ask_time(client: Client, sender: Sender<News>) {
    tokio::spawn(async move {
        let reviews: Api<SelfSubjectReview> = Api::all(client);
        let review = SelfSubjectReview::default();
        loop {
            let made = reviews.create(&PostParams::default(), &review).await;
            let made = match made {
                Ok(made) => made.metadata.creation_timestamp,
                // It does not say; then news of new objects tell.
                Err(kube::Error::Api(_)) => None,
                Err(_) => {
                    tokio::time::sleep(AGAIN).await;
                    continue;
                }
            };
            return drop(sender.send(News::Time(made.map(|time| time.0.as_second()))).await);
        }
    });
}

/// Reads once when the Jobs began that are complete by now.
fn recall(client: Client, sender: Sender<News>) {
    tokio::spawn(async move {
        match look::begun(&client).await {
            Ok(begun) => drop(sender.send(News::Begun(begun)).await),
            Err(why) => {
                let (now, why) = (crate::now().max(0) as u64, json!({ "why": why.to_string() }));
                write_log(now, "warn", "the past was not read", why);
            }
        }
    });
}

/// Follows a kind until nothing listens. A watch that ends is begun again, ever more slowly.
fn follow<K>(
    api: Api<K>,
    config: watcher::Config,
    sender: Sender<News>,
    news: impl Fn(Event<K>) -> News + Send + 'static,
) where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static,
{
    tokio::spawn(async move {
        let mut events = Box::pin(watcher(api, config).default_backoff());
        while let Some(event) = events.next().await {
            // An error is a watch that begins again; what was read stands until it is whole.
            let Ok(event) = event else { continue };
            if sender.send(news(event)).await.is_err() {
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
    fn of_a_job_that_was_deleted_unheard_nothing_is_kept() {
        let mut watched = Watched::default();
        let job = |name: &str| {
            let job = json!({ "metadata": { "name": name, "uid": name }, "spec": {} });
            serde_json::from_value::<Job>(job).unwrap()
        };
        let list = |watched: &mut Watched, names: &[&str]| {
            watched.apply(News::Job(Event::Init));
            for name in names {
                watched.apply(News::Job(Event::InitApply(job(name))));
            }
            watched.apply(News::Job(Event::InitDone));
        };
        let begun = ["a", "b"].map(|name| (Uid(name.to_string()), 7));
        watched.apply(News::Begun(begun.to_vec()));
        list(&mut watched, &["a", "b"]);
        assert_eq!(watched.world.begun.len(), 2);
        list(&mut watched, &["b"]);
        assert_eq!(watched.world.begun, [begun[1].clone()].into());
        watched.apply(News::Job(Event::Delete(job("b"))));
        assert!(watched.world.begun.is_empty());
    }
}
