//! A stand-in for all kubelets. Nodes report that they are ready. Bound pods run and succeed after
//! the number of seconds in an annotation; if requested, a Job's first pod succeeds after the
//! others. Deleted pods disappear.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, watcher};
use kube::{Client, ResourceExt as _};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// The interval between a node's reports, which are valid for 40 s.
const BEAT: Duration = Duration::from_secs(10);

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
        self.tasks.push(runtime.spawn(beat(client.clone(), Arc::clone(&self.silent))));
        self.tasks.push(runtime.spawn(work(client)));
    }
}

async fn beat(client: Client, silent: Arc<Mutex<HashSet<String>>>) {
    let nodes: Api<Node> = Api::all(client);
    loop {
        tokio::time::sleep(BEAT).await;
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

async fn work(client: Client) {
    let pods: Api<Pod> = Api::all(client.clone());
    let mut events =
        Box::pin(watcher(pods, watcher::Config::default()).default_backoff().applied_objects());
    let mut ends: HashMap<String, (Instant, Pod)> = HashMap::new();
    loop {
        let next = tokio::time::timeout(Duration::from_millis(100), events.next()).await;
        match next {
            Ok(Some(Ok(pod))) => look(&client, pod, &mut ends).await,
            Ok(None) => return,
            Ok(Some(Err(_))) | Err(_) => {}
        }
        let now = Instant::now();
        let due: Vec<String> =
            ends.iter().filter(|(_, (end, _))| *end <= now).map(|(uid, _)| uid.clone()).collect();
        for uid in due {
            let (_, pod) = ends.get_mut(&uid).expect("it was just there");
            if set(&client, pod, "Succeeded").await {
                ends.remove(&uid);
            }
        }
    }
}

async fn look(client: &Client, mut pod: Pod, ends: &mut HashMap<String, (Instant, Pod)>) {
    let uid = pod.uid().unwrap_or_default();
    let bound = pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some());
    if pod.metadata.deletion_timestamp.is_some() {
        ends.remove(&uid);
        let api: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
        let _ = api.delete(&pod.name_any(), &DeleteParams::default().grace_period(0)).await;
    } else if bound && phase(&pod) == "Pending" {
        let first =
            pod.labels().get("batch.kubernetes.io/job-completion-index").map(String::as_str);
        let early = pod.annotations().get("toy/first").filter(|_| first == Some("0"));
        let seconds = early.or_else(|| pod.annotations().get("toy/seconds"));
        let seconds = seconds.and_then(|text| text.parse().ok());
        // If this cannot be reported now, the pod's end can still be reported later.
        let _ = set(client, &mut pod, "Running").await || set(client, &mut pod, "Running").await;
        ends.insert(uid, (Instant::now() + Duration::from_secs(seconds.unwrap_or(1)), pod));
    }
}

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

/// Writes the status of a pod. Returns true if this succeeded, or if the pod has ended or no longer
/// exists. A pod changed by someone else is reread, so a pod that a test made fail stays failed.
async fn set(client: &Client, pod: &mut Pod, to: &str) -> bool {
    let api: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
    let seen = json!({ "uid": pod.uid(), "resourceVersion": pod.resource_version() });
    let patch = Patch::Merge(json!({ "metadata": seen, "status": { "phase": to } }));
    let is = |error: &kube::Error, code| matches!(error, kube::Error::Api(it) if it.code == code);
    match api.patch_status(&pod.name_any(), &PatchParams::default(), &patch).await {
        Ok(new) => *pod = new,
        Err(error) if is(&error, 404) => {}
        Err(error) if is(&error, 409) => match api.get(&pod.name_any()).await {
            Ok(new)
                if new.uid() == pod.uid() && !["Failed", "Succeeded"].contains(&phase(&new)) =>
            {
                *pod = new;
                return false;
            }
            Ok(_) => {}
            Err(error) => return is(&error, 404),
        },
        Err(_) => return false,
    }
    true
}
