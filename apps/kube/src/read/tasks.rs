//! Background tasks that send updates about the cluster.

use std::fmt::Debug;
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::PostParams;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource};
use pavior::text::shown;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::mpsc::Sender;

use super::backoff::Delays;
use super::list::start_times;
use super::update::Update;
use crate::log::log;

/// The time in seconds after which the API server ends a watch, which is then resumed. A connection
/// that receives no data for longer than this is closed.
const WATCH_S: u32 = 20;

/// The time between requests to an API server that does not respond.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The maximum time between requests that the API server rejects.
const MAX_RETRY_DELAY: Duration = Duration::from_mins(1);

/// The length of a fault-free period after which a watch counts as restored. Unanswered requests
/// fail within 25 s and are retried within 2 s.
const RESTORED_AFTER: Duration = Duration::from_secs(30);

/// Returns the configuration that all watches use.
pub(super) fn watch_config() -> watcher::Config {
    watcher::Config::default().timeout(WATCH_S)
}

/// Watches objects of one kind until the receiver is dropped.
pub(super) fn follow<K>(
    client: &Client,
    config: watcher::Config,
    sender: &Sender<Update>,
    update: impl Fn(Event<K>) -> Update + Send + 'static,
) where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let (api, sender) = (Api::<K>::all(client.clone()), sender.clone());
    tokio::spawn(async move {
        let kind = K::plural(&()).into_owned();
        let events = watcher(api, config).backoff(Delays::default());
        let mut events = Box::pin(events.modify(|object| object.meta_mut().managed_fields = None));
        let mut is_faulty = false;
        loop {
            // A working watch needs no time limit; a day is effectively none.
            let limit = if is_faulty { RESTORED_AFTER } else { Duration::from_hours(24) };
            let outcome = match tokio::time::timeout(limit, events.next()).await {
                Err(_) => Outcome::Silence,
                Ok(None) => return,
                Ok(Some(event)) => Outcome::of(event),
            };
            if is_faulty && outcome.is_restored() {
                is_faulty = false;
                if sender.send(Update::Readable(kind.clone())).await.is_err() {
                    return;
                }
            }
            let update = match outcome {
                // After a restart, keep the old state until the new list is complete.
                Outcome::Silence | Outcome::Restart => continue,
                Outcome::Event(event) => update(event),
                Outcome::Fault(why) => {
                    is_faulty = true;
                    Update::Unreadable { kind: kind.clone(), why }
                }
            };
            if sender.send(update).await.is_err() {
                return;
            }
        }
    });
}

/// The outcome of waiting for a watch's next event.
enum Outcome<K> {
    /// No event arrived within the time limit.
    Silence,
    Event(Event<K>),
    /// The API server no longer has the version at which the watch began, so the watch restarts.
    Restart,
    Fault(String),
}

impl<K> Outcome<K> {
    fn of(event: watcher::Result<Event<K>>) -> Outcome<K> {
        match event {
            Ok(event) => Outcome::Event(event),
            Err(watcher::Error::WatchError(status)) if status.code == 410 => Outcome::Restart,
            Err(error) => Outcome::Fault(shown(&error.to_string()).to_string()),
        }
    }

    /// Returns true if a watch works again after a failure. A resumed watch reports no event until
    /// an object changes. A list, in contrast, begins with an event even before the list is
    /// requested.
    fn is_restored(&self) -> bool {
        matches!(self, Outcome::Silence | Outcome::Event(_))
            && !matches!(self, Outcome::Event(Event::Init))
    }
}

/// Reads the API server's time once, by creating a SelfSubjectReview (as any account may do) and
/// reading its creation time. While starting, the API server rejects even this request, so it is
/// repeated.
pub(super) fn read_server_time(client: Client, sender: Sender<Update>) {
    tokio::spawn(async move {
        let reviews: Api<SelfSubjectReview> = Api::all(client);
        let review = SelfSubjectReview::default();
        let mut delay = RETRY_DELAY;
        loop {
            match reviews.create(&PostParams::default(), &review).await {
                Ok(review) => {
                    let created = review.metadata.creation_timestamp;
                    let time = created.map(|time| time.0.as_second());
                    return drop(sender.send(Update::Time(time)).await);
                }
                // Without a review, the time is derived from updates about new objects.
                Err(kube::Error::Api(_)) => {
                    if sender.send(Update::Time(None)).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(delay).await;
                    delay = (2 * delay).min(MAX_RETRY_DELAY);
                }
                Err(_) => tokio::time::sleep(RETRY_DELAY).await,
            }
        }
    });
}

/// Reads the start times of completed Jobs once.
pub(super) fn read_start_times(client: Client, sender: Sender<Update>) {
    tokio::spawn(async move {
        match start_times(&client).await {
            Ok(times) => drop(sender.send(Update::StartTimes(times)).await),
            Err(why) => {
                let more = json!({ "why": why.to_string() });
                log("warn", "cannot read the start times of completed Jobs", more);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::channel;

    use super::*;
    use crate::daemon::stub_server::{Reply, StubServer};

    #[tokio::test]
    async fn the_server_time_is_requested_again_after_a_rejection() {
        let mut is_starting = true;
        let server = StubServer::start(move |_| {
            if std::mem::take(&mut is_starting) {
                return Reply::error(403, "the access rules are not loaded");
            }
            let metadata = json!({ "creationTimestamp": "1970-01-01T00:00:07Z" });
            let version = "authentication.k8s.io/v1";
            let kind = "SelfSubjectReview";
            Reply::ok(json!({ "apiVersion": version, "kind": kind, "metadata": metadata }))
        });
        let (sender, mut updates) = channel(1);
        read_server_time(server.await.client, sender);
        let mut times = Vec::new();
        while let Some(Update::Time(time)) = updates.recv().await {
            times.push(time);
        }
        assert_eq!(times, [None, Some(7)]);
    }
}
