//! Stands in for all kubelets. Nodes report that they are ready. Bound pods run for the number of
//! seconds in `toy/seconds` (1 by default) and then succeed. If `toy/first` is set, it gives the
//! run time of the Job's first pod. Deleted pods disappear.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, Preconditions};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, watcher};
use kube::{Client, ResourceExt as _};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// The interval between a node's status reports. Each report is valid for 40 s.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);
/// The maximum interval between attempts to end pods.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(crate) struct Kubelets {
    tasks: Vec<JoinHandle<()>>,
    /// Nodes that do not report.
    pub(crate) silent: Arc<Mutex<HashSet<String>>>,
}

impl Drop for Kubelets {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Kubelets {
    pub(crate) fn start(&mut self, runtime: &Arc<Runtime>, client: Client) {
        self.tasks.push(runtime.spawn(report_nodes(client.clone(), Arc::clone(&self.silent))));
        self.tasks.push(runtime.spawn(Pods { client, all: HashMap::new() }.run()));
    }
}

async fn report_nodes(client: Client, silent: Arc<Mutex<HashSet<String>>>) {
    let nodes: Api<Node> = Api::all(client);
    loop {
        tokio::time::sleep(REPORT_INTERVAL).await;
        let Ok(all) = nodes.list_metadata(&ListParams::default()).await else { continue };
        for node in all.items {
            let name = node.name_any();
            if silent.lock().unwrap().contains(&name) {
                continue;
            }
            let at = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            let ready = json!({
                "type": "Ready", "status": "True", "reason": "Toy", "lastHeartbeatTime": at,
            });
            let status = Patch::Merge(json!({ "status": { "conditions": [ready] } }));
            let _ = nodes.patch_status(&name, &PatchParams::default(), &status).await;
        }
    }
}

/// A pod that is running or being deleted.
struct RunningPod {
    ends_at: Instant,
    pod: Pod,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The change was made or is no longer needed.
    Done,
    Retry,
}

/// The running and terminating pods, by uid.
struct Pods {
    client: Client,
    all: HashMap<String, RunningPod>,
}

impl Pods {
    async fn run(mut self) {
        let pods: Api<Pod> = Api::all(self.client.clone());
        let events = watcher(pods, watcher::Config::default()).default_backoff();
        let mut events = Box::pin(events.applied_objects());
        loop {
            match tokio::time::timeout(RETRY_INTERVAL, events.next()).await {
                Ok(Some(Ok(pod))) => self.observe(pod).await,
                Ok(None) => return,
                Ok(Some(Err(_))) | Err(_) => {}
            }
            self.end_due_pods().await;
        }
    }

    /// Starts running a newly bound pod, or schedules a pod that is being deleted to end
    /// immediately.
    async fn observe(&mut self, mut pod: Pod) {
        let uid = pod.uid().unwrap_or_default();
        let is_bound = pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some());
        if pod.metadata.deletion_timestamp.is_some() {
            self.all.insert(uid, RunningPod { ends_at: Instant::now(), pod });
        } else if is_bound && phase(&pod) == "Pending" {
            // If this fails, the end of the pod can still be reported later.
            if self.set_phase(&mut pod, "Running").await == Outcome::Retry {
                self.set_phase(&mut pod, "Running").await;
            }
            let ends_at = Instant::now() + run_time(&pod);
            self.all.insert(uid, RunningPod { ends_at, pod });
        }
    }

    /// Ends all pods that are due. If a pod cannot be ended, keeps it for another attempt.
    async fn end_due_pods(&mut self) {
        let now = Instant::now();
        let due: Vec<_> = self.all.extract_if(|_, running| running.ends_at <= now).collect();
        for (uid, mut running) in due {
            let outcome = if running.pod.metadata.deletion_timestamp.is_some() {
                self.delete(&running.pod).await
            } else {
                self.set_phase(&mut running.pod, "Succeeded").await
            };
            if outcome == Outcome::Retry {
                self.all.insert(uid, running);
            }
        }
    }

    /// Deletes a pod without a grace period.
    async fn delete(&self, pod: &Pod) -> Outcome {
        let preconditions = Some(Preconditions { uid: pod.uid(), resource_version: None });
        let now = DeleteParams { preconditions, ..DeleteParams::default().grace_period(0) };
        match self.api(pod).delete(&pod.name_any(), &now).await {
            Err(error) if !has_code(&error, 404) && !has_code(&error, 409) => Outcome::Retry,
            Ok(_) | Err(_) => Outcome::Done,
        }
    }

    /// Writes the phase of a pod unless the pod has ended or no longer exists. If the pod has
    /// changed, rereads it first. As a result, a pod that a test marked as failed stays failed.
    async fn set_phase(&self, pod: &mut Pod, phase: &str) -> Outcome {
        let api = self.api(pod);
        let seen = json!({ "uid": pod.uid(), "resourceVersion": pod.resource_version() });
        let patch = Patch::Merge(json!({ "metadata": seen, "status": { "phase": phase } }));
        match api.patch_status(&pod.name_any(), &PatchParams::default(), &patch).await {
            Ok(new) => *pod = new,
            Err(error) if has_code(&error, 404) => {}
            Err(error) if has_code(&error, 409) => match api.get(&pod.name_any()).await {
                Ok(new) if new.uid() == pod.uid() && !has_ended(&new) => {
                    *pod = new;
                    return Outcome::Retry;
                }
                Err(error) if !has_code(&error, 404) => return Outcome::Retry,
                Ok(_) | Err(_) => {}
            },
            Err(_) => return Outcome::Retry,
        }
        Outcome::Done
    }

    fn api(&self, pod: &Pod) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &pod.namespace().unwrap_or_default())
    }
}

/// Returns a pod's run time according to its annotations.
fn run_time(pod: &Pod) -> Duration {
    let index = pod.labels().get("batch.kubernetes.io/job-completion-index");
    let is_first = index.is_some_and(|index| index == "0");
    let first = pod.annotations().get("toy/first").filter(|_| is_first);
    let seconds = first.or_else(|| pod.annotations().get("toy/seconds"));
    let seconds = seconds.map_or(1, |text| text.parse().expect("the annotation is a number"));
    Duration::from_secs(seconds)
}

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

fn has_ended(pod: &Pod) -> bool {
    ["Failed", "Succeeded"].contains(&phase(pod))
}

fn has_code(error: &kube::Error, code: u16) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == code)
}
