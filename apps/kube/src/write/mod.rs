//! Writes to the API server, which rejects a change if the object has changed since it was read.

mod kueue;
mod lease;
mod verify;

use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::{NamespaceResourceScope, Resource};
use kube::{Client, Error};
use pavior::text::shown;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(crate) use self::lease::{LEASE, NAMESPACE};
use crate::objects::{
    Machine, MachineStatus, Node, Object as _, ObjectRef, Placement, PlacementSpec,
    PlacementStatus, Pod,
};
use crate::plan::{Action, RESOURCE, Waiting, remove_gate};

/// The reason why a change failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// The object has changed or has been deleted. The next plan will take this into account.
    #[error("the object has changed")]
    Conflict,
    /// The API server is overloaded or does not respond.
    #[error("the API server is overloaded or unavailable")]
    Unavailable,
    /// The API server rejected the change.
    #[error("{0}")]
    Rejected(String),
}

/// The time limit for a request. After a timeout, the watch shows whether the request succeeded.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends changes to the API server.
pub(crate) struct Writer {
    client: Client,
    timeout: Duration,
}

impl Writer {
    pub(crate) fn new(client: Client) -> Writer {
        Writer { client, timeout: REQUEST_TIMEOUT }
    }

    /// Sends the change that an action describes.
    pub(crate) async fn write(&self, action: &Action) -> Result<(), WriteError> {
        match action {
            Action::Propose { job, placement } => self.propose(job, placement.clone()).await,
            Action::Confirm { placement } => self.confirm(placement).await,
            Action::Withdraw { placement, absent, .. } => {
                self.verify_absence(absent.as_ref()).await?;
                let placements: Api<Placement> = self.namespaced(placement)?;
                let unchanged = deletion(placement, Some(placement.version.clone()));
                self.change(placements.delete(&placement.name, &unchanged)).await
            }
            Action::Open { pod, patch } => self.open(pod, patch.clone()).await,
            Action::Remove { pod, absent, .. } => {
                self.verify_absence(absent.as_ref()).await?;
                let pods: Api<Pod> = self.namespaced(pod)?;
                self.change(pods.delete(&pod.name, &deletion(pod, None))).await
            }
            Action::Check(update) => self.update_check(update).await,
            Action::Activate { check } => self.activate(check).await,
            Action::Offer { node } => self.offer(node).await,
        }
    }

    /// Creates a placement that the garbage collector deletes once the owning Job is deleted.
    async fn propose(&self, job: &ObjectRef, spec: PlacementSpec) -> Result<(), WriteError> {
        let mut placement = Placement::new(&job.uid.0, spec);
        placement.metadata.owner_references = Some(vec![OwnerReference {
            api_version: "batch/v1".to_string(),
            kind: "Job".to_string(),
            name: job.name.clone(),
            uid: job.uid.0.clone(),
            controller: Some(true),
            ..OwnerReference::default()
        }]);
        self.create(&self.namespaced(job)?, &placement).await.map(drop)
    }

    async fn confirm(&self, placement: &ObjectRef) -> Result<(), WriteError> {
        let status = PlacementStatus { confirmed: true };
        let body = json!({ "metadata": precondition(placement), "status": status });
        let placements: Api<Placement> = self.namespaced(placement)?;
        let (parameters, body) = (PatchParams::default(), Patch::Merge(body));
        self.change(placements.patch_status(&placement.name, &parameters, &body)).await
    }

    /// Adds one unit of our resource to a node.
    async fn offer(&self, node: &ObjectRef) -> Result<(), WriteError> {
        let amount = json!({ RESOURCE: "1" });
        let status = json!({ "capacity": amount, "allocatable": amount });
        let body = Patch::Merge(json!({ "metadata": { "uid": node.uid }, "status": status }));
        let nodes: Api<Node> = Api::all(self.client.clone());
        self.change(nodes.patch_status(&node.name, &PatchParams::default(), &body)).await
    }

    /// Writes a machine's status. Returns the machine's new resource version, or 0 if it is
    /// unknown.
    pub(crate) async fn write_status(
        &self,
        machine: &Machine,
        status: &MachineStatus,
    ) -> Result<u64, WriteError> {
        let body = Patch::Merge(json!({ "metadata": { "uid": machine.uid() }, "status": status }));
        let machines: Api<Machine> = Api::all(self.client.clone());
        let parameters = PatchParams::default();
        match self.answer(machines.patch_status(machine.name(), &parameters, &body)).await {
            Ok(machine) => Ok(machine.version_number()),
            Err(Error::SerdeError(_)) => Ok(0),
            Err(error) => Err(reason(error)),
        }
    }

    /// Publishes an event with the reason why a Job is waiting. `at` is the time according to the
    /// API server's clock. Does not use kube's recorder, which would use the local clock and repeat
    /// an earlier reason.
    pub(crate) async fn publish_event(&self, waiting: &Waiting, at: i64) -> Result<(), WriteError> {
        let job = &waiting.job;
        let (kind, reason) = if waiting.is_blocked() {
            ("Warning", "NeverPlaced")
        } else {
            ("Normal", "WaitsForPlace")
        };
        let at = Timestamp::from_second(at).ok().map(Time);
        let event = Event {
            metadata: ObjectMeta {
                generate_name: Some("pavior-".to_string()),
                namespace: Some(job.namespace.clone()),
                ..ObjectMeta::default()
            },
            involved_object: ObjectReference {
                api_version: Some("batch/v1".to_string()),
                kind: Some("Job".to_string()),
                namespace: Some(job.namespace.clone()),
                name: Some(job.name.clone()),
                uid: Some(job.uid.0.clone()),
                ..ObjectReference::default()
            },
            type_: Some(kind.to_string()),
            reason: Some(reason.to_string()),
            message: Some(waiting.why.chars().take(1024).collect()),
            source: Some(EventSource { component: Some("pavior".to_string()), host: None }),
            first_timestamp: at.clone(),
            last_timestamp: at,
            count: Some(1),
            ..Event::default()
        };
        self.create(&self.namespaced(job)?, &event).await.map(drop)
    }

    /// Removes our gate from a pod that has no box.
    pub(crate) async fn remove_gate(&self, pod: &Pod) -> Result<(), WriteError> {
        let patch = remove_gate(pod, &[]).ok_or(WriteError::Conflict)?;
        self.open(&ObjectRef::of(pod), patch).await
    }

    async fn open(&self, pod: &ObjectRef, patch: Value) -> Result<(), WriteError> {
        let pods: Api<Pod> = self.namespaced(pod)?;
        self.change(pods.patch(&pod.name, &PatchParams::default(), &steps(patch)?)).await
    }

    /// Returns the API for objects in the same namespace as an object. Names from the API server
    /// are safe in a path, but names in a placement may not be.
    fn namespaced<K>(&self, object: &ObjectRef) -> Result<Api<K>, WriteError>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        let is_allowed =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':');
        let is_plain = |name: &String| {
            !name.is_empty() && name != "." && name != ".." && name.bytes().all(is_allowed)
        };
        if ![&object.namespace, &object.name].into_iter().all(is_plain) {
            return Err(WriteError::Rejected("invalid name".to_string()));
        }
        Ok(Api::namespaced(self.client.clone(), &object.namespace))
    }

    async fn create<K>(&self, api: &Api<K>, object: &K) -> Result<K, WriteError>
    where
        K: Clone + Debug + DeserializeOwned + Serialize,
    {
        let created = self.answer(api.create(&PostParams::default(), object)).await;
        created.map_err(|error| match error {
            // The namespace does not exist.
            Error::Api(status) if status.code == 404 => {
                WriteError::Rejected(shown(&status.message).to_string())
            }
            error => reason(error),
        })
    }

    /// Sends a change. The response is ignored, because the watch delivers the result.
    async fn change<T>(
        &self,
        request: impl Future<Output = kube::Result<T>>,
    ) -> Result<(), WriteError> {
        match self.answer(request).await {
            Ok(_) | Err(Error::SerdeError(_)) => Ok(()),
            Err(error) => Err(reason(error)),
        }
    }

    /// Awaits the response to a request, within the time limit.
    async fn answer<T>(&self, request: impl Future<Output = kube::Result<T>>) -> kube::Result<T> {
        let answer = tokio::time::timeout(self.timeout, request).await;
        answer.unwrap_or_else(|late| Err(Error::Service(late.into())))
    }
}

/// Classifies a failed request.
fn reason(error: Error) -> WriteError {
    let Error::Api(status) = error else { return WriteError::Unavailable };
    match status.code {
        // A test in a JSON patch failed.
        422 if status.message.starts_with("the server rejected our request") => {
            WriteError::Conflict
        }
        404 | 409 | 410 => WriteError::Conflict,
        429 | 500..=599 => WriteError::Unavailable,
        _ => WriteError::Rejected(shown(&status.message).to_string()),
    }
}

/// Returns the local time in the format that conditions use.
fn now_for_condition() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the metadata that an object must still have.
fn precondition(object: &ObjectRef) -> Value {
    json!({ "uid": object.uid, "resourceVersion": object.version })
}

/// Returns parameters for deleting an object or, if a version is given, only that version of it.
fn deletion(object: &ObjectRef, resource_version: Option<String>) -> DeleteParams {
    let uid = Some(object.uid.0.clone());
    let preconditions = Some(Preconditions { resource_version, uid });
    DeleteParams { preconditions, ..DeleteParams::default() }
}

/// Parses the steps of a JSON patch.
fn steps(patch: Value) -> Result<Patch<()>, WriteError> {
    let steps = serde_json::from_value(patch).map(Patch::Json);
    steps.map_err(|error| WriteError::Rejected(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::stub_server::{Reply, StubServer};

    #[tokio::test]
    async fn unanswered_requests_time_out() {
        let server = StubServer::start(|_| Reply::Silence).await;
        let writer = Writer { timeout: Duration::from_millis(50), ..server.writer() };
        let read = writer.lease().await;
        assert!(matches!(read, Err(WriteError::Unavailable)), "{read:?}");
    }
}
