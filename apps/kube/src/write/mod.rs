//! Writes to the API server, which rejects a change if the object has changed since it was read.

mod kueue;
mod verify;

use std::time::Duration;

use kube::Client;
use kube::core::Resource;
use pavior::text::shown;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::objects::{
    GATE, GROUP, LEASE_NAME, LEASE_TIME, Lease, Machine, MachineStatus, NAMESPACE, Node,
    Object as _, ObjectRef, Placement, Pod, VERSION,
};
use crate::plan::{Action, Waiting};

/// Reasons for a failed change.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// The object has changed or been deleted, which the next plan will take into account.
    #[error("the object has changed")]
    Conflict,
    /// The API server is overloaded or does not respond.
    #[error("the API server is overloaded or unavailable")]
    Unavailable,
    /// The API server rejected the change.
    #[error("{0}")]
    Rejected(String),
}

/// A writer to the API server.
#[derive(Clone)]
pub(crate) struct Writer {
    client: Client,
    /// The time limit for a request.
    limit: Duration,
}

impl Writer {
    pub(crate) fn new(client: Client) -> Writer {
        Writer { client, limit: LIMIT }
    }

    /// Writes an action.
    pub(crate) async fn write(&self, action: &Action) -> Result<(), WriteError> {
        match action {
            Action::Propose { job, placement } => {
                let owner = json!({
                    "apiVersion": "batch/v1", "kind": "Job", "name": job.name, "uid": job.uid,
                    "controller": true,
                });
                let metadata = json!({ "name": job.uid, "ownerReferences": [owner] });
                let body = json!({
                    "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "Placement",
                    "metadata": metadata, "spec": placement,
                });
                let path = Placement::url_path(&(), Some(plain(&job.namespace)?));
                self.send("POST", &path, "application/json", &body).await
            }
            Action::Confirm { placement } => {
                let body = json!({
                    "metadata": precondition(placement), "status": { "confirmed": true },
                });
                let path = path::<Placement>(placement)? + "/status";
                self.send("PATCH", &path, MERGE, &body).await
            }
            Action::Withdraw { placement, absent, .. } => {
                self.verify_absence(absent.as_ref()).await?;
                let body = json!({ "preconditions": precondition(placement) });
                let path = path::<Placement>(placement)?;
                self.send("DELETE", &path, "application/json", &body).await
            }
            Action::Open { pod, patch } => {
                let path = path::<Pod>(pod)?;
                self.send("PATCH", &path, "application/json-patch+json", patch).await
            }
            Action::Remove { pod, absent, .. } => {
                self.verify_absence(absent.as_ref()).await?;
                let body = json!({ "preconditions": { "uid": pod.uid } });
                self.send("DELETE", &path::<Pod>(pod)?, "application/json", &body).await
            }
            Action::Check { workload, at, check, state, message, again_s, record } => {
                self.verify_record(record.as_ref()).await?;
                let own = [
                    ("state", json!(state)),
                    ("message", json!(message)),
                    ("lastTransitionTime", json!(second())),
                    ("requeueAfterSeconds", json!(again_s)),
                ];
                self.check(workload, *at, check, &own).await
            }
            Action::Activate { check } => self.activate(check).await,
            Action::Offer { node, resource } => {
                let amount = json!({ resource: "1" });
                let status = json!({ "capacity": amount, "allocatable": amount });
                let body = json!({ "metadata": { "uid": node.uid }, "status": status });
                let path = path::<Node>(node)? + "/status";
                self.send("PATCH", &path, MERGE, &body).await
            }
        }
    }

    /// Writes the status of a machine.
    pub(crate) async fn status(
        &self,
        machine: &ObjectRef,
        status: &MachineStatus,
    ) -> Result<(), WriteError> {
        let mut status = serde_json::to_value(status).unwrap_or_default();
        // A merge patch leaves missing members unchanged.
        status["fault"] = status.get("fault").cloned().unwrap_or(Value::Null);
        let body = json!({ "metadata": { "uid": machine.uid }, "status": status });
        let path = path::<Machine>(machine)? + "/status";
        self.send("PATCH", &path, MERGE, &body).await
    }

    /// Publishes an event with the reason for a Job's wait.
    pub(crate) async fn publish_event(
        &self,
        waiting: &Waiting,
        at: &str,
    ) -> Result<(), WriteError> {
        let job = &waiting.job;
        let involved = json!({
            "apiVersion": "batch/v1", "kind": "Job", "namespace": job.namespace, "name": job.name,
            "uid": job.uid,
        });
        let (kind, reason) = if waiting.is_stuck() {
            ("Warning", "NeverPlaced")
        } else {
            ("Normal", "WaitsForPlace")
        };
        let message: String = waiting.why.chars().take(1024).collect();
        let body = json!({
            "apiVersion": "v1", "kind": "Event", "type": kind, "reason": reason,
            "metadata": { "generateName": "pavior-", "namespace": job.namespace },
            "involvedObject": involved, "message": message, "source": { "component": "pavior" },
            "firstTimestamp": at, "lastTimestamp": at, "count": 1,
        });
        let path = format!("/api/v1/namespaces/{}/events", plain(&job.namespace)?);
        self.send("POST", &path, "application/json", &body).await
    }

    /// Takes or renews the Lease unless it has changed since it was read.
    pub(crate) async fn hold(
        &self,
        seen: Option<&Lease>,
        own: &str,
        taken: bool,
    ) -> Result<(), WriteError> {
        let transitions = seen.and_then(|lease| lease.spec.lease_transitions).unwrap_or(0);
        let version = seen.and_then(|lease| lease.meta().resource_version.clone());
        let body = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {
                "name": LEASE_NAME, "namespace": NAMESPACE, "resourceVersion": version,
            },
            "spec": {
                "holderIdentity": own, "leaseDurationSeconds": LEASE_TIME.as_secs(),
                "leaseTransitions": transitions.saturating_add(u32::from(taken)),
                "renewTime": micro_time(),
            },
        });
        let path = Lease::url_path(&(), Some(NAMESPACE));
        if seen.is_none() {
            return self.send("POST", &path, "application/json", &body).await;
        }
        let path = format!("{path}/{LEASE_NAME}");
        self.send("PUT", &path, "application/json", &body).await
    }

    /// Removes our gate from a pod without a box.
    pub(crate) async fn free(&self, pod: &Pod) -> Result<(), WriteError> {
        let Some(gate) = pod.gate() else { return Err(WriteError::Conflict) };
        let gate = format!("/spec/schedulingGates/{gate}");
        let patch = json!([
            { "op": "test", "path": "/metadata/uid", "value": pod.uid() },
            { "op": "test", "path": format!("{gate}/name"), "value": GATE },
            { "op": "remove", "path": gate },
        ]);
        let path = path::<Pod>(&ObjectRef::of(pod))?;
        self.send("PATCH", &path, "application/json-patch+json", &patch).await
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        kind: &str,
        body: &impl Serialize,
    ) -> Result<(), WriteError> {
        let refused = |error: &dyn std::fmt::Display| WriteError::Rejected(error.to_string());
        let body = serde_json::to_vec(body).map_err(|error| refused(&error))?;
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header("content-type", kind).body(body);
        let request = request.map_err(|error| refused(&error))?;
        let sent = self.client.request::<IgnoredAny>(request);
        let Ok(sent) = tokio::time::timeout(self.limit, sent).await else {
            return Err(WriteError::Unavailable);
        };
        match sent {
            // The response does not matter: the watch delivers the result.
            Ok(_) | Err(kube::Error::SerdeError(_)) => Ok(()),
            Err(kube::Error::Api(status)) => Err(match (status.code, method) {
                // A JSON patch's test failed.
                (422, "PATCH") if status.message.starts_with("the server rejected our request") => {
                    WriteError::Conflict
                }
                (404, "POST") => WriteError::Rejected(shown(&status.message).to_string()),
                (404 | 409 | 410, _) => WriteError::Conflict,
                (429 | 500..=599, _) => WriteError::Unavailable,
                _ => WriteError::Rejected(shown(&status.message).to_string()),
            }),
            Err(_) => Err(WriteError::Unavailable),
        }
    }
}

/// Returns the time in the format used in conditions.
fn second() -> String {
    k8s_openapi::jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the time in the format used in Leases.
fn micro_time() -> String {
    k8s_openapi::jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// The time limit for a request; after a timeout, the watch shows whether it was carried out.
const LIMIT: Duration = Duration::from_secs(10);

const MERGE: &str = "application/merge-patch+json";

fn precondition(seen: &ObjectRef) -> Value {
    json!({ "uid": seen.uid, "resourceVersion": seen.version })
}

/// Checks that a name can be used in a path. Names from the API server contain no other characters.
fn plain(name: &str) -> Result<&str, WriteError> {
    let right = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':');
    let is = !name.is_empty() && name != "." && name != ".." && name.bytes().all(right);
    is.then_some(name).ok_or_else(|| WriteError::Rejected("an invalid name".to_string()))
}

fn path<K: Resource<DynamicType = ()>>(seen: &ObjectRef) -> Result<String, WriteError> {
    let namespace = match seen.namespace.as_str() {
        "" => None,
        namespace => Some(plain(namespace)?),
    };
    Ok(format!("{}/{}", K::url_path(&(), namespace), plain(&seen.name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_that_is_never_answered_ends() {
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", server.local_addr().unwrap());
        let config = kube::Config::new(address.parse().unwrap());
        let client = Client::try_from(config).unwrap();
        let writer = Writer { client, limit: Duration::from_millis(50) };
        let written = writer.hold(None, "a", true).await;
        assert!(matches!(written, Err(WriteError::Unavailable)), "{written:?}");
        drop(server);
    }
}
